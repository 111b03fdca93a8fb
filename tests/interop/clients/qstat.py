"""qstat (quakestat in Debian): [--short] TYPE HOST PORT -> one JSON object."""

import json
import os
import subprocess
import sys

*short, kind, host, port = sys.argv[1:]
lists = [] if short else ["-P", "-R"]
command = [os.environ["QSTAT"], "-nh", "-json", "-utf8", *lists, "-retry", "2", "-interval", "1", f"-{kind}", f"{host}:{port}"]
out = subprocess.run(command, stdout=subprocess.PIPE, timeout=15, check=True).stdout
try:
    out = out.decode()
except UnicodeDecodeError:
    out = out.decode("latin-1")
status = json.loads(out, strict=False)[0]
if status.get("status") != "online":
    raise SystemExit(f"qstat: {status.get('status')}")
print(json.dumps({
    "name": status["name"],
    "map": status["map"],
    "player_count": status["numplayers"],
    "max_players": status["maxplayers"],
    "players": [{"name": player["name"], "score": player.get("score")} for player in status.get("players", [])],
    "rules": status.get("rules", {}),
}))
