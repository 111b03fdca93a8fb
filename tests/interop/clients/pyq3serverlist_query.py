"""PyPI pyq3serverlist: TYPE HOST PORT -> one JSON object."""

import json
import sys

from pyq3serverlist import Server

status = Server(sys.argv[2], int(sys.argv[3])).get_status(timeout=3.0)
players = status.pop("players")
print(json.dumps({
    "name": status.get("sv_hostname"),
    "map": status.get("mapname"),
    "player_count": len(players),
    "max_players": status.get("sv_maxclients"),
    "players": [{"name": player["name"], "score": player["frags"]} for player in players],
    "rules": status,
}))
