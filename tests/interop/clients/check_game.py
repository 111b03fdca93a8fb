"""check_game of the Monitoring Plugins, which calls qstat: TYPE HOST PORT -> one JSON object."""

import json
import os
import re
import subprocess
import sys

kind, host, port = sys.argv[1:]
done = subprocess.run([os.environ["CHECK_GAME"], "-P", port, kind, host], stdout=subprocess.PIPE, timeout=15)
line = done.stdout.decode("latin-1").strip()
print(line, file=sys.stderr)
found = re.match(r"OK: (\d+)/(\d+) (.*) \((.*)\), Ping: ", line)
if not found:
    raise SystemExit(1)
players, most, name, level = found.groups()
print(json.dumps({"name": name, "map": level, "player_count": players, "max_players": most}))
