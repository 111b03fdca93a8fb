"""yquake2 and MVDSV without the data of their games. They run with free game modules, yquake2's own and
KTX, and levels made by hand; players who only reserve a slot fill them."""

import json
import os
import shutil
import socket
from pathlib import Path

import level
from engines import LEVEL, PASSWORD, RCON, run

MARK = b"\xff\xff\xff\xff"
SLOTS = 12
# The last name is in the second colour of Quake's character set.
NAMES = [b"Ann", b"'x' [y]", b"\xc2\xef\xe2 of Oz"]


def settings(name, port, **more):
    """Words of a command line. Both engines split a value at its spaces, unless it is quoted."""
    values = {"hostname": name, "maxclients": SLOTS, "password": PASSWORD, "rcon_password": RCON, "timelimit": 15, "fraglimit": 40, **more}
    return [word for key, value in values.items() for word in ("+set", key, f'"{value}"')]


def quake2(port, home):
    program = Path(os.environ["YQUAKE2"]).resolve()
    base, own = Path(home) / "baseq2", Path(home) / ".local/share/YamagiQ2"
    (base / "maps").mkdir(parents=True)
    own.mkdir(parents=True)
    (base / f"maps/{LEVEL}.bsp").write_bytes(level.quake2())
    shutil.copy(program.parent / "baseq2/game.so", base)
    prefix = []
    if os.geteuid() == 0:
        # It refuses to run as root.
        for path in [Path(home), *Path(home).rglob("*")]:
            path.chmod(0o755)
            os.chown(path, 65534, 65534)
        prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return [*prefix, program, "-datadir", home, "+set", "ip", "127.0.0.1", "+set", "port", str(port),
            *settings("Red yquake2", port, deathmatch=1), "+map", LEVEL]


def quakeworld(port, home):
    ktx = Path(home) / "ktx"
    (ktx / "maps").mkdir(parents=True)
    (ktx / f"maps/{LEVEL}.bsp").write_bytes(level.quakeworld())
    (ktx / "qwprogs.so").symlink_to(Path(os.environ["KTX"]).resolve())
    return [Path(os.environ["MVDSV"]).resolve(), "-basedir", home, "-game", "ktx", "-ip", "127.0.0.1", "-port", str(port),
            *settings("Red MVDSV", port, sv_progtype=1, sv_progsname="qwprogs", sv_crypt_rcon=0), "+map", LEVEL]


def ask(port, request, seconds=0.5):
    """The datagrams that come back."""
    replies = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(seconds)
        one.connect(("127.0.0.1", port))
        try:
            one.send(MARK + request)
            while True:
                replies.append(one.recv(65536))
        except OSError:
            return replies


def join(kind, port, names):
    """Reserves a slot for each name: the sockets, or none where the server does not answer."""
    sockets = []
    for _ in names:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sockets.append(one)
        one.settimeout(1)
        one.connect(("127.0.0.1", port))
    requests = []
    for number, (one, name) in enumerate(zip(sockets, names)):
        try:
            one.send(MARK + b"getchallenge\n")
            challenge = one.recv(1024)[4:]
        except OSError:
            return []
        if kind == "quake2":
            version, challenge = 34, challenge.split()[1]
        else:
            version, challenge = 28, challenge[1:].split(b"\0")[0]
        userinfo = b"\\name\\%s\\skin\\male/grunt\\topcolor\\13\\bottomcolor\\4\\team\\red\\rate\\5000\\password\\%s" % (name, PASSWORD.encode())
        if name.startswith(b"spec"):
            userinfo += b"\\spectator\\1"
        requests.append(MARK + b'connect %d %d %s "%s"\n' % (version, 1000 + number, challenge, userinfo))
    # All at once: a player who reads nothing loses the slot when many others join later.
    for one, request in zip(sockets, requests):
        one.send(request)
    return sockets


def raw_status(kind, port):
    """The reply to `status`, read with splits only; None without an answer."""
    replies = ask(port, b"status\n" if kind == "quake2" else b"status 255\n")
    head = MARK + (b"print\n" if kind == "quake2" else b"n")
    if not replies or not all(reply.startswith(head) for reply in replies):
        return None
    text = b"".join(reply[len(head):].rstrip(b"\0") for reply in replies)
    infostring, *lines = text.split(b"\n")
    fields = second_colour(infostring).split("\\")[1:]
    rules = list(zip(fields[::2], fields[1::2]))
    keys, players = dict(rules), []
    for line in filter(None, lines):
        words = line.split(b'"')[0].split()
        score = words[0 if kind == "quake2" else 1]
        players.append({"name": second_colour(line.split(b'"')[1]), "score": None if score == b"S" else int(score)})
    return {"name": keys["hostname"], "map": keys["mapname" if kind == "quake2" else "map"],
            "player_count": sum(player["score"] is not None for player in players),
            "max_players": int(keys["maxclients"]), "players": players, "rules": rules}


def second_colour(raw):
    """A text without the colour in bit 7. It has none of the glyphs below 32."""
    return bytes(byte & 0x7F for byte in raw).decode()


def answers(port):
    """Results of our programs other than the status: for each aspect, (right, total)."""
    address = f"127.0.0.1:{port}"
    said = {
        "rcon": run("rcon", address, "status", QUERYPORT_RCON_PASSWORD=RCON),
        "wrong password": run("rcon", address, "status", QUERYPORT_RCON_PASSWORD="wrong"),
        "detect": run("query", address, "--json"),
    }
    right = {
        "rcon": NAMES[0].decode() in said["rcon"],
        "wrong password": "does not accept this rcon password" in said["wrong password"],
        "detect": json.loads(said["detect"]).get("answer", {}).get("map") == LEVEL,
    }
    return {aspect: (int(is_right), 1) for aspect, is_right in right.items()}, "\n".join(said.values())


# The variables that name each server, what that is, its command line, and the word of its game for our
# programs.
SERVERS = {
    "yquake2": (["YQUAKE2"], "YQUAKE2 is the path of q2ded, with baseq2/game.so in its folder", quake2, "quake2"),
    "MVDSV": (["MVDSV", "KTX"], "MVDSV is the path of mvdsv, KTX that of KTX's qwprogs.so", quakeworld, "quake"),
}


def kind(server):
    """Which of the two replies a server sends."""
    return "quake2" if server == "yquake2" else "quakeworld"
