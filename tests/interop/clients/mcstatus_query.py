"""PyPI mcstatus: full HOST PORT -> one JSON object."""

import json
import sys

from mcstatus import JavaServer

status = JavaServer(sys.argv[2], int(sys.argv[3]), query_port=int(sys.argv[3])).query()
print(json.dumps({
    "name": status.motd.raw if isinstance(status.motd.raw, str) else status.motd.to_minecraft(),
    "map": status.map_name,
    "player_count": status.players.online,
    "max_players": status.players.max,
    "players": [{"name": name} for name in status.players.list],
}))
