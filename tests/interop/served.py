"""The statuses of our servers, and the processes that serve them (`queryport serve`)."""

import json
import re
import subprocess

from ours import ours


def text(raw, colours="none", charset="latin1"):
    """A text of exactly these bytes, as the JSON of a status has it."""
    return {"raw": raw.hex(), "charset": charset, "colours": colours}


def players(names, fields=("score", "ping", "team")):
    """36 players with the given names and usual ones. Scores differ, and some are negative."""
    names = names + [f"player {number:02}" for number in range(len(names), 36)]
    player = {"bot": None, "extra": []}
    numbers = lambda number: {"score": 7 * number - 10, "ping": 20 + number, "team": number % 2}
    return [player | {"name": name} | {field: value if field in fields else None for field, value in numbers(number).items()}
            for number, name in enumerate(names)]


# Keys that no client interprets, and values that shift the fields of a careless reader.
RULES = [[f"rule_of_{word}", value] for word, value in [
    ("number", "15"), ("words", "some words with blanks"), ("nothing", ""), ("sign", "a=b, c"), ("slash", "a/b"),
    ("angle", "<b>&amp"), ("letter", "x"), ("percent", "100%s%d"), ("length", "0123456789 abcde" * 3 + "fghijklmnopq"), ("last", "the last"),
]]
COMMON = {"max_players": 40, "password": False, "rules": RULES, "teams": []}
LATIN = text(b"D\xe6mia")
# The second colour of Quake's character set.
SECOND_COLOUR = text(b"D\xe6mia", charset="quake")
ODD = [" blank ", "with 'quotes'", "a,b=c", "<b>&amp", "player_3", "0"]

# A game of one's own, which imitates no other: all protocols at one port, with one status.
OWN = (["quake3,gamespy1,gamespy4,ut2004"], {
    # Without a version, rust gamedig rejects an answer in GameSpy v1 and v4.
    "name": "A game of our own", "game": "OurGame", "version": "1.0", "map": "arena", "player_count": 12,
    "rules": [rule for rule in RULES if rule[1]], "players": players(ODD)[2:14],
})

# For each server: the arguments of `serve`, and the fields of its status.
SERVERS = {
    "own quake3": OWN, "own gamespy1": OWN, "own gamespy4": OWN, "own ut2004": OWN,
    "quake3": (["quake3"], {
        "name": text(b"^1Red ^7server of ^2names", "caret"), "map": "q3dm17", "player_count": 36,
        # A value of Quake 3 is never empty.
        "rules": [rule for rule in RULES if rule[1]],
        "players": players(ODD + [text(b"^1Co^4lour", "caret"), LATIN], ("score", "ping")),
    }),
    "gamespy1 unreal": (["ut99"], {
        "name": "A server of names", "map": "CTF-Coret", "player_count": 36, "players": players(ODD + [LATIN]),
    }),
    "gamespy4 battlefield": (["battlefield2"], {
        "name": "A server of names", "map": "Strike At Karkand", "player_count": 36, "players": players(ODD + [LATIN]),
    }),
    "gamespy4 ut3": (["ut3"], {
        "name": "A server of names", "map": "VCTF-Suspense", "player_count": 36, "bot_count": 0,
        "players": players(ODD + [LATIN]),
    }),
    "gamespy4 minecraft": (["minecraft"], {
        "name": text("§6A server §rof names".encode(), "section_sign", "utf8_or_latin1"), "map": "world",
        # The last version whose title is in ISO 8859-1.
        "version": "1.21.10", "player_count": 36, "password": None, "rules": [],
        "players": players(["Bob_the_Builder", "__", ".bedrock name", "player_3", "0"], ()),
    }),
    # One datagram of at most 1400 bytes.
    "gamespy4 halo": (["halo"], {
        "name": "A server of names", "map": "bloodgulch", "player_count": 36, "players": players(ODD + [LATIN]),
    }),
    # One datagram of at most 1384 bytes of text.
    "quake2": (["quake2"], {
        "name": "A server of names", "map": "q2dm1", "player_count": 36, "rules": [rule for rule in RULES if rule[1]],
        "players": players(ODD + [SECOND_COLOUR], ("score", "ping")),
    }),
    # Two datagrams without numbers, each of at most 1340 bytes of text.
    "quakeworld": (["quake"], {
        "name": "A server of names", "map": "dm3", "player_count": 36, "rules": [rule for rule in RULES if rule[1]],
        "players": players(ODD + [SECOND_COLOUR], ("score", "ping")),
    }),
    "ut2004": (["ut2004"], {
        "name": "A server of names", "map": "CTF-FaceClassic", "player_count": 36,
        "players": players(ODD + [text(b"\x1b\xff\x01\x01Co\x1b\x40\xff\x40lour", "unreal_escape"), LATIN]),
    }),
    "ut2004 long names": (["ut2004"], {
        "name": text(b"\x1b\xff\x01\x01Red " + b"\x1b\x40\x40\xffand blue " * 10 + b"\x1b\x40\x0a\x0aend", "unreal_escape"),
        "map": "CTF-FaceClassic", "player_count": 36, "players": players(ODD + ["Жx", "n" * 70]),
        "rules": RULES + [["rule_of_more", "0123456789 abcde" * 9]],
    }),
    # For clients that reject a reply with other bytes.
    "gamespy1 ascii": (["ut99"], {
        "name": "A server of names", "map": "CTF-Coret", "player_count": 36, "players": players(ODD),
    }),
    # For a client that reads 1024 bytes, and no scores below 0.
    "gamespy2 ascii": (["halo"], {
        "name": "A server of names", "map": "bloodgulch", "player_count": 14, "players": players(ODD)[2:16],
    }),
    "gamespy4 ascii": (["battlefield2"], {
        "name": "A server of names", "map": "Strike At Karkand", "player_count": 36, "players": players(ODD),
    }),
}


def status(server):
    return COMMON | SERVERS[server][1]


def start(server, folder):
    """Starts a server on a free loopback port: the process and the port."""
    file = folder / (server.replace(" ", "-") + ".json")
    file.write_text(json.dumps(status(server)))
    command = ours("serve", *SERVERS[server][0], "0", "--status", file, "--no-guard", "--seconds", "900")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    port = re.search(r" on 127\.0\.0\.1:(\d+)", line)
    if not port:
        process.kill()
        raise SystemExit(f"serve {server}: {line}{process.stderr.read()}")
    return process, int(port[1])
