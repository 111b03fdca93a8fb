"""PyPI mcipc: full|basic HOST PORT -> one JSON object."""

import json
import sys

from mcipc.query import Client

with Client(sys.argv[2], int(sys.argv[3]), timeout=3) as client:
    status = client.stats(full=sys.argv[1] == "full")
print(json.dumps({
    "name": getattr(status, "host_name", None) or status.motd,
    "map": status.map,
    "player_count": status.num_players,
    "max_players": status.max_players,
    "players": [{"name": name} for name in getattr(status, "players", [])],
}))
