"""OpenJK, iortcw, ET: Legacy, OpenMoHAA, JK2MV and Lilium Voyager without the data of their games. The
last two run with `game.c`, the others with their own game modules. A level and the few other files that they need
are made by hand."""

import json
import os
import subprocess
from pathlib import Path

from level import level, medal_of_honor
from ours import ours

# Userinfo that the game modules demand in addition to that of a Quake 3 client.
USERINFO = {
    "OpenJK": ["forcepowers=7-1-032330000000001333", "color1=4", "color2=4", "cg_predictItems=1", "saber1=single_1",
               "saber2=none", "char_color_red=255", "char_color_green=255", "char_color_blue=255"],
    "iortcw": [],
    "ET: Legacy": ["cl_guid=0123456789ABCDEF0123456789ABCDEF"],
    "JK2MV": [],
    "Lilium Voyager": [],
    "OpenMoHAA": [],
}
# The games that they run, by the name that our programs take.
GAMES = {"OpenJK": "swjkja", "iortcw": "rtcw", "ET: Legacy": "etlegacy", "JK2MV": "swjk2jo", "Lilium Voyager": "stvef",
         "OpenMoHAA": "mohaa"}
# The names by which the servers themselves know their game; iortcw's is that of the others too.
GAME_NAMES = {"Lilium Voyager": "EliteForce"}
# Those whose packets have a byte for the direction in front.
DIRECTION = ["OpenMoHAA"]
# Those that send heartbeats with the name of their game.
ANNOUNCING = ["OpenJK", "iortcw", "ET: Legacy"]
LEVEL, PASSWORD, RCON, SLOTS, PRIVATE = "room", "open sesame", "secret", 16, 2


def command(engine, port, base, folder, settings, files, module=None):
    """The command line of an engine, with these files and the game module in folders below `base`."""
    program = Path(os.environ[ENGINES[engine][0]]).resolve()
    for name, content in files.items():
        file = Path(base) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    (Path(base) / folder).mkdir(exist_ok=True)
    if module:
        library = next(program.parent.rglob(module))
        (Path(base) / folder / library.name).symlink_to(library)
    settings = {
        "dedicated": "1", "net_ip": "127.0.0.1", "net_port": str(port), "fs_basepath": str(base),
        "fs_homepath": str(Path(base) / "home"), "sv_pure": "0", "sv_hostname": f"^1Red^7 {engine}", "sv_maxclients": str(SLOTS),
        "sv_privateClients": str(PRIVATE), "g_needpass": "1", "g_password": PASSWORD, "rconPassword": RCON,
        **{f"sv_master{number}": "" for number in range(1, 6)}, **settings,
    }
    return [program, *(word for key, value in settings.items() for word in ("+set", key, value)), "+map", LEVEL]


def openjk(port, base):
    files = {"base/mpdefault.cfg": b"// none\n", f"base/maps/{LEVEL}.bsp": level(b"RBSP", 1, 18, 3)}
    return command("OpenJK", port, base, "base", {}, files, "jampgame*.so")


def iortcw(port, base):
    # Under another name than `main`, the folder needs no packages with the checksums of the game's.
    model = "room/models/players/multi_axis/wolfanim"
    files = {"room/default.cfg": b"// none\n", f"room/maps/{LEVEL}.bsp": level(b"IBSP", 47), f"{model}.script": b"// none\n",
             f"{model}.cfg": b"version 2\nSTARTANIMS\nENDANIMS\n"}
    return command("iortcw", port, base, "room", {"com_basegame": "room"}, files, "qagame*.so")


def et_legacy(port, base):
    # A package of this name must be there, but not be read.
    files = {"etmain/pak0.pk3": b"", f"etmain/maps/{LEVEL}.bsp": level(b"IBSP", 47), "etmain/none.script": b"// none\n"}
    for team in ["axis", "allied"]:
        for role in ["soldier", "medic", "engineer", "fieldops", "cvops"]:
            character = f"etmain/characters/temperate/{team}/{role}.char"
            files[character] = b'characterDef { animationScript "none.script" }\n'
    return command("ET: Legacy", port, base, "legacy", {"sv_onlyVisibleClients": "1"}, files, "qagame*.so")


def game_module(base, file):
    """Compiles the game module without a game."""
    file = Path(base) / file
    file.parent.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).with_name("game.c")
    subprocess.run(["cc", "-shared", "-fPIC", f'-DPASSWORD="{PASSWORD}"', "-o", file, source], check=True)


def jk2mv(port, base):
    # A package of this name must be there, but not be read. So must files of texts, without any text.
    files = {"base/assets5.pk3": b"", "base/mpdefault.cfg": b"// none\n", f"base/maps/{LEVEL}.bsp": level(b"RBSP", 1, 18, 3)}
    for number, name in enumerate(["CON_TEXT", "MP_INGAME", "MP_SVGAME", "SP_INGAME", "STR_SERVER"]):
        files[f"base/strip/{name}.sp"] = f"VERSION 1\nCONFIG none\nID {number + 1}\n".encode()
    game_module(base, "base/jk2mpgame_amd64.so")
    return command("JK2MV", port, base, "base", {"vm_game": "0"}, files)


def openmohaa(port, base):
    # It loads the game module from the folder of the program.
    files = {"main/default.cfg": b"// none\n", f"main/maps/dm/{LEVEL}.bsp": medal_of_honor()}
    settings = {"net_gamespy_port": "0", "g_gametype": "1", "password": PASSWORD, "sv_privatePassword": "private"}
    words = command("OpenMoHAA", port, base, "main", settings, files)
    return [*words[:-1], f"dm/{LEVEL}"]


def lilium_voyager(port, base):
    # Under another name than `baseEF`, the folder needs no packages of the game's.
    files = {"room/default.cfg": b"// none\n", f"room/maps/{LEVEL}.bsp": level(b"IBSP", 46)}
    game_module(base, "room/qagamex86_64.so")
    return command("Lilium Voyager", port, base, "room", {"com_basegame": "room", "vm_game": "0"}, files)


# The variable that names each dedicated server, what that is, and its command line.
ENGINES = {
    "OpenJK": ("OPENJK", "openjkded, with jampgame below its folder", openjk),
    "iortcw": ("IORTCW", "iowolfded, with qagame below its folder", iortcw),
    "JK2MV": ("JK2MV", "jk2mvded", jk2mv),
    "OpenMoHAA": ("OPENMOHAA", "omohaaded, with game.so in its folder", openmohaa),
    "Lilium Voyager": ("LILIUM_VOYAGER", "liliumvoyded", lilium_voyager),
    "ET: Legacy": ("ETLEGACY", "etlded, built with FEATURE_SERVERMDX off, with qagame below its folder", et_legacy),
}


def run(*arguments, **secrets):
    """The output of a program of ours."""
    done = subprocess.run(ours(*arguments), env=os.environ | secrets, capture_output=True, timeout=60,
                          text=True)
    return done.stdout + done.stderr


def answers(engine, port):
    """Results of our programs other than the status: for each aspect, (right, total). A player stays on the server."""
    address, player = f"127.0.0.1:{port}", "Ann"
    game, map_name, mode, password = "quake3", LEVEL, [], True
    if engine in DIRECTION:
        # Its info does not say whether a password is needed.
        game, map_name, mode, password = GAMES[engine], f"dm/{LEVEL}", ["--mode", "medal-of-honor"], None
    rcon = ["rcon", *mode, address, "status"]
    connect = ["connect", address, "--name", player, "--game", GAME_NAMES.get(engine, "wolfmp")]
    connect += [word for pair in USERINFO[engine] for word in ("--set", pair)]
    said = {
        "refusal": run(*connect),
        "connect": run(*connect, "--password", QUERYPORT_PASSWORD=PASSWORD),
        "rcon": run(*rcon, QUERYPORT_RCON_PASSWORD=RCON),
        "wrong password": run(*rcon, QUERYPORT_RCON_PASSWORD="wrong"),
        "info": run("query", game, address, "--short", "--json"),
    }
    info = json.loads(said["info"])
    shown = {key: info.get("answer", {}).get(key) for key in ["map", "player_count", "max_players", "password"]}
    # Only ET: Legacy's info has the number of private slots; the others omit them.
    slots = SLOTS if engine == "ET: Legacy" else SLOTS - PRIVATE
    right = {
        "refusal": "the server refused: " in said["refusal"],
        "connect": f"accepted {player}" in said["connect"],
        "rcon": player in said["rcon"] and LEVEL in said["rcon"],
        "wrong password": "does not accept this rcon password" in said["wrong password"],
        "info": shown == {"map": map_name, "player_count": 1, "max_players": slots, "password": password},
        "game": info.get("game") == GAMES[engine],
    }
    return {aspect: (int(is_right), 1) for aspect, is_right in right.items()}, "\n".join(said.values())
