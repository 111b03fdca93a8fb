"""Our client and our announcer against other people's servers and masters. The raw bytes are read a second time."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import compare
import engines
import siblings
from ours import ours

NEXUIZ = Path("/usr/share/games/nexuiz")
OPENARENA = Path("/usr/lib/openarena-server")
# Seconds for a server to start, and for its bots to join.
START = 30


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def quake3_engine(program, port, home, rest=()):
    """An engine of Quake 3 with OpenArena's data: capture the flag with bots, no master."""
    settings = {
        "dedicated": "1", "net_enabled": "1", "net_ip": "127.0.0.1", "net_port": str(port), "fs_homepath": str(home),
        "sv_maxclients": "16", "sv_pure": "0", "sv_hostname": "^1Red^7 engine of Quake 3", "bot_enable": "1", "g_gametype": "4",
        "vm_game": "0", **{f"sv_master{number}": "" for number in range(1, 6)},
    }
    sets = [word for key, value in settings.items() for word in ("+set", key, value)]
    return [program, *rest, *sets, "+map", "ctf_compromise", "+addbot", "sarge", "3", "red", "+addbot", "grism", "3", "blue"]


def openarena_data(name):
    return ["+set", "com_standalone", "1", "+set", "com_basegame", "baseoa", "+set", "fs_basegame", "baseoa",
            "+set", "fs_basepath", str(OPENARENA), "+set", "com_gamename", name]


def openarena(port, home):
    return quake3_engine(shutil.which("openarena-server", path=path()), port, home)


def ioquake3(port, home):
    return quake3_engine("/usr/lib/ioquake3/ioq3ded", port, home, openarena_data("Quake3Arena"))


def quake3e(port, home):
    return quake3_engine(os.environ["QUAKE3E"], port, home, openarena_data("Quake3Arena"))


def nexuiz(port, home):
    return [shutil.which("darkplaces-server", path=path()), "-nexuiz", "-basedir", NEXUIZ, "-userdir", home, "-ip", "127.0.0.1",
            "-port", str(port), "+sv_public", "0", "+sv_master1", "", "+sv_masterextra1", "",
            "+hostname", "^xF00Nexuiz ^7loopback", "+maxplayers", "16", "+bot_number", "3", "+map", "final_rage"]


def fteqw(port, home):
    """With Nexuiz's game and map, under a name of its own."""
    base = Path(home) / "base"
    shutil.copytree(NEXUIZ / "data", base / "data", copy_function=os.symlink)
    (base / "default.fmf").write_text("FTEMANIFESTVER 1\nGAME nexuiz\nNAME Nexuiz\nBASEGAME data\n")
    return [os.environ["FTEQW"], "-basedir", base, "-nohome", "-ip", "127.0.0.1", "-port", str(port), "+exec", "default.cfg",
            "+exec", "defaultNexuiz.cfg", "+set", "sv_public", "0", "+set", "hostname", "^xF00FTE ^7loopback", "+map", "final_rage"]


def path():
    return os.environ["PATH"] + ":/usr/games"


def is_file(*names):
    return all(name and Path(name).exists() for name in names)


# Each server: whether it is here, how to get it, its command line, and the players to wait for.
SERVERS = {
    "OpenArena": (lambda: is_file(shutil.which("openarena-server", path=path()), OPENARENA / "baseoa/pak0.pk3"),
                  "Debian packages openarena-server openarena-081-maps", openarena, 2),
    "ioquake3": (lambda: is_file("/usr/lib/ioquake3/ioq3ded", OPENARENA / "baseoa/pak0.pk3"),
                 "Debian packages ioquake3-server openarena-081-maps", ioquake3, 2),
    "Quake3e": (lambda: is_file(os.environ.get("QUAKE3E"), OPENARENA / "baseoa/pak0.pk3"),
                "QUAKE3E is the path of its dedicated server; Debian package openarena-081-maps", quake3e, 2),
    "Nexuiz": (lambda: is_file(shutil.which("darkplaces-server", path=path()), NEXUIZ / "data"),
               "Debian packages nexuiz-server darkplaces-server", nexuiz, 0),
    "FTEQW": (lambda: is_file(os.environ.get("FTEQW"), NEXUIZ / "data"),
              "FTEQW is the path of fteqw-sv without its commit ad5366ae5; Debian package nexuiz-data",
              fteqw, 0),
    **{engine: (lambda variable=variable: is_file(os.environ.get(variable)), f"{variable} is the path of {program}", command, 0)
       for engine, (variable, program, command) in engines.ENGINES.items()},
    **{server: (lambda variables=variables: is_file(*map(os.environ.get, variables)), how, command, 0)
       for server, (variables, how, command, _) in siblings.SERVERS.items()},
}


def decode(raw):
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def raw_status(port, asked=b"", answered=b""):
    """The reply to `getstatus`, read with splits only; None without an answer. The packets of some engines
    have a byte for the direction."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(1)
        one.connect(("127.0.0.1", port))
        try:
            one.send(b"\xff\xff\xff\xff" + asked + b"getstatus")
            reply = one.recv(65536)
        except OSError:
            return None
    head, infostring, *lines = reply.split(b"\n")
    if head != b"\xff\xff\xff\xff" + answered + b"statusResponse":
        return None
    # FTEQW ends it with a NUL.
    fields = decode(infostring.rstrip(b"\0")).split("\\")[1:]
    rules = list(zip(fields[::2], fields[1::2]))
    players = [{"name": decode(line).split('"')[1], "score": int(line.split(b" ")[0])} for line in lines if b'"' in line]
    keys = dict(rules)
    return {"name": keys["sv_hostname" if "sv_hostname" in keys else "hostname"], "map": keys["mapname"],
            "player_count": len(players), "max_players": int(keys["sv_maxclients"]), "players": players, "rules": rules}


def raw_status_of(server, port):
    """The reply of a server of Quake 3, Quake 2 or QuakeWorld, read with splits only."""
    if server in siblings.SERVERS:
        return siblings.raw_status(siblings.kind(server), port)
    if server in engines.DIRECTION:
        status = raw_status(port, asked=b"\x02", answered=b"\x01")
        # A line begins with the ping and has no score.
        for player in status["players"] if status else []:
            player["score"] = None
        return status
    return raw_status(port)


def our_status(server, port):
    """The output of our client, in the form of `clients/`."""
    game = siblings.SERVERS[server][3] if server in siblings.SERVERS else "quake3"
    if server in engines.DIRECTION:
        game = engines.GAMES[server]
    command = ours("query", game, f"127.0.0.1:{port}", "--json")
    answer = json.loads(subprocess.run(command, capture_output=True, timeout=20).stdout)
    status = answer.get("answer") or {}
    return status | {"rules": dict(status.get("rules", []))}


def against(server):
    """Starts a server and compares the output of our client with the bytes that the server sends."""
    _, _, command, players = SERVERS[server]
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        process = subprocess.Popen(command(port, home), cwd=home, env=os.environ | {"HOME": home},
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            end = time.monotonic() + START
            raw = None
            while time.monotonic() < end and process.poll() is None and not (raw and raw["player_count"] >= players):
                # DarkPlaces answers one request a second and address.
                time.sleep(1.1)
                raw = raw_status_of(server, port)
            if raw is None:
                return "nothing", f"{server} did not answer within {START} s"
            more, said = {}, ""
            if server in engines.GAMES:
                more, said = engines.answers(server, port)
            if server in siblings.SERVERS:
                players = siblings.join(siblings.kind(server), port, siblings.NAMES)
                more, said = siblings.answers(port)
            for _ in range(4):
                time.sleep(1.1)
                shown = our_status(server, port)
                time.sleep(1.1)
                # The state of a server in play changes: one match before or after is enough.
                raw = raw_status_of(server, port) or raw
                found = compare.sentence(compare.compare(shown, raw) | more)
                if found == "all":
                    break
            return found, f"{said}{raw}\n{shown}"
        finally:
            process.kill()
            process.wait()


def dpmaster(host, port):
    # As root, it needs a folder for chroot, but it uses no files.
    return [os.environ["DPMASTER"], "--allow-loopback", "--listen", host, "--port", str(port), "--jail-path", "/"]


def listed_by_dpmaster():
    """Our server sends heartbeats to dpmaster, and our client reads the list back."""
    port = free_port()
    processes = [subprocess.Popen(dpmaster("127.0.0.1", port), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    try:
        time.sleep(0.5)
        server = ours("serve", "quake3", "0", "--announce", f"127.0.0.1:{port}")
        processes.append(subprocess.Popen(server, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
        address = processes[1].stdout.readline().split(" on ")[1].split(",")[0]
        time.sleep(1.5)
        command = ours("master", "list", f"127.0.0.1:{port}", "Quake3Arena", "68")
        done = subprocess.run(command, capture_output=True, timeout=20, text=True)
        return ("all" if address in done.stdout.split() else "nothing"), done.stdout + done.stderr
    finally:
        for process in processes:
            process.kill()
            process.wait()


# The games that the real servers run, by the name that our programs take.
GAMES = {"OpenArena": "openarena", "ioquake3": "q3a", "Nexuiz": "nexuiz",
         **{engine: engines.GAMES[engine] for engine in engines.ANNOUNCING}}
# OpenJK sends heartbeats to this port only.
MASTER_PORT = 29060


def on_list(command, master):
    """The command line of a server that sends heartbeats to this master."""
    command = list(map(str, command))
    for key, value in {"dedicated": "2", "sv_master1": master, "+sv_public": "1", "+sv_master1": master}.items():
        if key in command:
            command[command.index(key) + 1] = value
    # The shortest interval of DarkPlaces. While it loads a level, it may miss the master's first
    # question.
    return command + ["+sv_heartbeatperiod", "30"] * ("+sv_public" in command)


def our_lines(*arguments):
    """The lines of JSON that a program of ours prints."""
    done = subprocess.run(ours(*arguments, "--json"), capture_output=True, timeout=60, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr


def games_behind(command, master):
    """Real servers announce themselves to a master. Our programs find and query them by game."""
    ports = {server: free_port() for server in GAMES if SERVERS[server][0]()}
    said, processes = "", [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)]
    # Engines send the first heartbeat as they start, and the next one minutes later.
    time.sleep(1)
    with tempfile.TemporaryDirectory() as folder:
        try:
            for server, at in ports.items():
                home = Path(folder) / server
                home.mkdir()
                processes.append(subprocess.Popen(
                    on_list(SERVERS[server][2](at, home), master), cwd=home, env=os.environ | {"HOME": str(home)},
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            end = time.monotonic() + 2 * START
            wanted = set(ports)
            while wanted and time.monotonic() < end:
                time.sleep(3)
                for server in sorted(wanted):
                    address, game = f"127.0.0.1:{ports[server]}", GAMES[server]
                    scanned, errors = our_lines("scan", game, "--master", master, "--scope", "any")
                    # DarkPlaces answers one request per second and address: ours could take the
                    # place of the master's `getinfo`.
                    if all(line.get("peer") != address for line in scanned):
                        said = f"{server}: not listed\n{errors}"
                        continue
                    time.sleep(1.1)
                    queried, more = our_lines("query", game, address)
                    time.sleep(1.1)
                    raw = raw_status(ports[server])
                    names = [line["answer"]["name"] for line in scanned if line.get("peer") == address and "answer" in line]
                    names += [line["answer"]["name"] for line in queried if "answer" in line]
                    # The model's names are without colours.
                    if raw and len(names) == 2 and {compare.plain(name) for name in names} == {compare.plain(raw["name"])}:
                        wanted.remove(server)
                    said = f"{server}: {names}\n{errors}{more}"
        finally:
            for process in processes:
                process.kill()
                process.wait()
    return ("all" if ports and not wanted else "nothing"), said


def behind_dpmaster():
    host = "127.0.0.2"
    return games_behind(dpmaster(host, MASTER_PORT), f"{host}:{MASTER_PORT}")


def behind_our_master():
    master = f"127.0.0.3:{MASTER_PORT}"
    command = ours("master", "serve", master, "--loopback", "--lists-in-a-row", "999")
    return games_behind(command, master)


# The settings of the 333networks master: only loopback, and two of its games.
MASTER_SETTINGS = """[PublicDetails]
AdminName=nobody
Contact=nobody@example.org
Hostname=loopback
[Logging]
SuppressDisplay=udp tcp debug
[BeaconServer]
BeaconPort={udp}
DoUplink=false
[ListenServer]
ListenPort={tcp}
[Syncer]
DoSync=false
SyncGames=all
SyncInterval_s=1800
[Checker]
DoCheck=false
"""
MASTER_GAMES = [{"gamename": "ut", "cipher": "Z5Nfb0", "label": "Unreal Tournament", "port": 7778},
                {"gamename": "gspylite", "cipher": "mgNUaC", "label": "GameSpy Lite", "port": 0}]


def listed_by_333networks():
    """Our server sends heartbeats to 333networks' master and answers its `secure`. Our client reads the
    list back over TCP, with the key of the game and with that of GameSpy's own tool."""
    udp, tcp = free_port(), free_port()
    processes = []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for name in ["bin", "data", "log"]:
            (folder / name).mkdir()
        # It looks for its files next to its working folder.
        master = shutil.copy(os.environ["MASTER_333NETWORKS"], folder / "bin")
        (folder / "data/MasterServer-Settings.ini").write_text(MASTER_SETTINGS.format(udp=udp, tcp=tcp))
        (folder / "data/SupportedGames.json").write_text(json.dumps(MASTER_GAMES))
        output = folder / "output"
        with output.open("w") as file:
            processes.append(subprocess.Popen([master], stdin=subprocess.PIPE, stdout=file, stderr=file, text=True))
        try:
            # It asks whether to make its tables.
            processes[0].stdin.write("y\n")
            processes[0].stdin.flush()
            wait(lambda: "TCP beacons" in output.read_text())
            server = ours("serve", "ut99", "0", "--set", "game=ut", "--announce", f"127.0.0.1:{udp}",
                      "--key", "Z5Nfb0")
            processes.append(subprocess.Popen(server, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True))
            address = processes[1].stdout.readline().split(" on ")[1].split(",")[0]
            wait(lambda: f"validate from {address}" in output.read_text())
            found = ["" if f"successful validate from {address} for ut" in output.read_text() else "validate"]
            command = ours("master", "list", f"127.0.0.1:{tcp}", "ut", "--key")
            for arguments in [["Z5Nfb0"], ["mgNUaC", "--login", "gspylite"]]:
                done = subprocess.run(command + arguments, capture_output=True, timeout=20, text=True)
                found.append("" if done.returncode == 0 and done.stdout.split() == [address] else f"list with {arguments[0]}")
            return ", ".join(filter(None, found)) or "all", output.read_text()
        finally:
            for process in processes:
                process.kill()
                process.wait()


def wait(condition):
    end = time.monotonic() + START
    while not condition() and time.monotonic() < end:
        time.sleep(0.1)


def programs():
    """Each server: whether it is here, and how to get it."""
    return {server: (is_here(), how) for server, (is_here, how, _, _) in SERVERS.items()} | {
        "dpmaster": (is_file(os.environ.get("DPMASTER")), "DPMASTER is its path"),
        "333networks": (is_file(os.environ.get("MASTER_333NETWORKS")), "MASTER_333NETWORKS is the path of MasterServer-Qt5"),
    }


def rows(only):
    """Rows of our programs against other people's servers that are here."""
    here = {server for server, (is_here, _) in programs().items() if is_here}
    jobs = {server: lambda server=server: against(server) for server in SERVERS if server in here}
    if "dpmaster" in here:
        jobs["dpmaster"] = listed_by_dpmaster
        jobs["games behind dpmaster"] = behind_dpmaster
    if here.intersection(GAMES):
        jobs["games behind our master"] = behind_our_master
    if "333networks" in here:
        jobs["333networks"] = listed_by_333networks
    jobs = {server: job for server, job in jobs.items() if only in f"queryport | {server}"}
    with ThreadPoolExecutor(5) as pool:
        return list(zip([("queryport", server) for server in jobs], pool.map(lambda job: job(), jobs.values())))
