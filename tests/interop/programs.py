"""The clients: where to look for each one, how to call it, and how to install it."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent / "clients"
# Where `--install` puts things.
PLACE = ROOT / "target/interop"
NODE_MODULES = PLACE / "node_modules"
PYTHON = PLACE / "python/bin/python"
RUST = PLACE / "gamedig"
# Checkouts that no registry has, each by the variable with its path.
CHECKOUTS = {
    "GAMEQ": "Austinb/GameQ", "GAMESPY_QUERY": "sickboy/gamespy_query", "LGSL": "tltneon/lgsl",
    "PHP_MINECRAFT_QUERY": "xPaw/PHP-Minecraft-Query",
}
CHECK_GAME = Path("/usr/lib/nagios/plugins/check_game")
# Longest time of one step of `--install`.
INSTALL_SECONDS = 300


class Client(NamedTuple):
    """A client: the files that it needs, how to call it, how to get it, and its word for each of our servers.

    `word:1` for a client that takes the port of the game and asks the next one.
    """

    needs: list
    call: list
    how: str
    servers: dict


def node(package, script, servers):
    return Client([shutil.which("node"), NODE_MODULES / package], ["node", HERE / script], f"npm {package}: --install", servers)


def python(package, script, servers):
    library = next(PYTHON.parents[1].glob(f"lib/*/site-packages/{package}"), None)
    return Client([PYTHON, library], [PYTHON, HERE / script], f"PyPI {package}: --install", servers)


def checkout(variable):
    """Where a checkout is: where its variable says, or in target/interop."""
    return Path(os.environ.get(variable, PLACE / Path(CHECKOUTS[variable]).name))


def from_checkout(variable, file, package, needs, script, servers):
    """A client of a checkout, known by one of its files, with the Debian package of its language."""
    repository = CHECKOUTS[variable]
    how = f"Debian package {package}, and a checkout of github.com/{repository} in target/interop/{Path(repository).name} " \
          f"or where {variable} says"
    return Client([*needs, checkout(variable) / file], [needs[0], HERE / script], how, servers)


def php_module(name):
    return next(Path("/usr/lib/php").glob(f"*/{name}.so"), None)


def qstat():
    """Debian calls it quakestat."""
    return shutil.which("quakestat") or shutil.which("qstat")


def clients():
    """Every client by its name."""
    return {
        "qstat": Client([qstat()], [sys.executable, HERE / "qstat.py"], "Debian package qstat", {
            "quake3": "q3s", "gamespy1 unreal": "uns:1", "gamespy4 ut3": "ut3s",
            "gamespy4 minecraft": "gs4", "gamespy4 halo": "gs2", "gamespy2 ascii": "gs2", "quake2": "q2s", "quakeworld": "qws",
            "ut2004": "ut2004s:1", "ut2004 long names": "ut2004s:1",
        }),
        # Asks for six keys by their ids.
        "qstat, short": Client([qstat()], [sys.executable, HERE / "qstat.py", "--short"], "Debian package qstat", {
            "gamespy4 ut3": "gs4",
        }),
        "node gamedig": node("gamedig", "gamedig.mjs", {
            "quake3": "q3a", "gamespy1 unreal": "unrealtournament", "gamespy4 battlefield": "battlefield2",
            "gamespy4 ut3": "unrealtournament3", "gamespy4 minecraft": "minecraft", "gamespy4 halo": "protocol-gamespy2",
            "gamespy2 ascii": "halo", "quake2": "quake2", "quakeworld": "quake",
            "own quake3": "protocol-quake3", "own gamespy1": "protocol-gamespy1", "own gamespy4": "protocol-gamespy3",
            "own ut2004": "protocol-unreal2", "ut2004": "unrealtournament2004",
            "ut2004 long names": "unrealtournament2004",
        }),
        "node gamedig, gamespy3": node("gamedig", "gamedig.mjs", {"gamespy4 minecraft": "protocol-gamespy3"}),
        "rust gamedig": Client([RUST / "target/debug/interop-gamedig"], [RUST / "target/debug/interop-gamedig"],
                               "crates.io gamedig: --install", {
            "own quake3": "quake3", "own gamespy1": "gamespy1", "own gamespy4": "gamespy3", "own ut2004": "unreal2",
            "quake3": "quake3", "gamespy1 unreal": "gamespy1", "gamespy4 battlefield": "gamespy3", "gamespy4 ut3": "gamespy3",
            "gamespy1 ascii": "gamespy1", "gamespy4 ascii": "gamespy3", "gamespy4 halo": "gamespy2",
            "gamespy2 ascii": "gamespy2", "quake2": "quake2", "quakeworld": "quake1", "ut2004": "unreal2",
            "ut2004 long names": "unreal2",
        }),
        "opengsq": python("opengsq", "opengsq_query.py", {
            "quake3": "Quake3", "gamespy1 unreal": "GameSpy1", "gamespy4 ut3": "GameSpy4",
            "gamespy4 minecraft": "GameSpy4", "gamespy4 halo": "GameSpy2", "quake2": "Quake2", "quakeworld": "Quake1", "ut2004": "Unreal2",
            "ut2004 long names": "Unreal2",
        }),
        "GameQ": from_checkout("GAMEQ", "src/GameQ/Autoloader.php", "php-cli", [shutil.which("php")], "gameq.php", {
            "quake3": "quake3", "gamespy1 unreal": "ut", "gamespy4 battlefield": "bf2", "gamespy4 ut3": "ut3",
            "gamespy4 minecraft": "minecraft", "gamespy4 halo": "halo", "quake2": "quake2", "ut2004": "ut2004",
            "ut2004 long names": "ut2004",
        }),
        "LGSL": from_checkout("LGSL", "lgsl_files/lgsl_protocol.php", "php-cli", [shutil.which("php")], "lgsl.php", {
            "quake3": "quake3", "gamespy1 unreal": "ut", "gamespy4 battlefield": "gamespy3", "gamespy4 ut3": "ut3",
            "gamespy4 minecraft": "minecraft", "quake2": "quake2", "quakeworld": "quakeworld", "ut2004": "ut2004",
            "ut2004 long names": "ut2004",
        }),
        "gamespy_query": from_checkout("GAMESPY_QUERY", "lib/gamespy_query.rb", "ruby", [shutil.which("ruby")], "gamespy_query.rb", {
            "gamespy4 battlefield": "full", "gamespy4 ut3": "full", "gamespy4 minecraft": "full", "gamespy4 ascii": "full",
        }),
        "PHP-Minecraft-Query": from_checkout("PHP_MINECRAFT_QUERY", "src/MinecraftQuery.php", "php-mbstring",
                                             [shutil.which("php"), php_module("mbstring")], "minecraft_query.php", {
            "gamespy4 minecraft": "full",
        }),
        "pyq3serverlist": python("pyq3serverlist", "pyq3serverlist_query.py", {"quake3": "quake3"}),
        "check_game": Client([CHECK_GAME, qstat()], [sys.executable, HERE / "check_game.py"],
                             "Debian packages monitoring-plugins-standard qstat", {
            "quake3": "q3s", "gamespy1 unreal": "uns:1", "gamespy4 ut3": "ut3s", "ut2004": "ut2004s:1",
        }),
        "mcstatus": python("mcstatus", "mcstatus_query.py", {"gamespy4 minecraft": "full"}),
        "mcipc": python("mcipc", "mcipc_query.py", {"gamespy4 minecraft": "full"}),
        "minecraft-server-util": node("minecraft-server-util", "minecraft-server-util.cjs", {"gamespy4 minecraft": "full"}),
        "mcquery": node("mcquery", "mcquery.cjs", {"gamespy4 minecraft": "full"}),
    }


def is_here(client):
    return all(need and Path(need).exists() for need in client.needs)


def command(client, server, port):
    """The command line and environment that ask one of our servers."""
    environment = os.environ | {"NODE_PATH": str(NODE_MODULES), "QSTAT": qstat() or "", "CHECK_GAME": str(CHECK_GAME)}
    environment |= {variable: str(checkout(variable)) for variable in CHECKOUTS}
    kind, _, distance = client.servers[server].partition(":")
    return [*client.call, kind, "127.0.0.1", str(port - int(distance or 0))], environment


def programs():
    """Each client: whether it is here, and how to get it."""
    return {name: (is_here(client), client.how) for name, client in clients().items()}


def install(debian):
    """Installs clients from registries into target/interop. One that fails or takes too long counts as missing."""
    (RUST / "src").mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "gamedig.rs", RUST / "src/main.rs")
    (RUST / "Cargo.toml").write_text(
        '[package]\nname = "interop-gamedig"\nversion = "0.0.0"\nedition = "2024"\n\n[workspace]\n\n[dependencies]\n'
        'gamedig = { version = "=0.9.0", default-features = false }\nserde_json = "1"\n')
    packages = ["gamedig@5.3.3", "minecraft-server-util@5.4.4", "mcquery@1.0.3"]
    npm = ["npm", "install", "--prefix", PLACE, "--no-fund", "--no-audit", *packages]
    packages = ["opengsq==3.7.0", "mcstatus==14.2.0", "mcipc==2.4.2", "pyq3serverlist==0.4.0"]
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    venv = [sys.executable, "-m", "venv", PYTHON.parents[1]]
    cargo = ["cargo", "build", "--quiet", "--manifest-path", RUST / "Cargo.toml", "--target-dir", RUST / "target"]
    rows = [[npm], [pip] if PYTHON.exists() else [venv, pip], [cargo]]
    if debian and os.geteuid() == 0:
        packages = ["qstat", "php-cli", "php-mbstring", "ruby", "monitoring-plugins-standard"]
        rows.append([["apt-get", "install", "--yes", "--no-install-recommends", *packages]])
    elif debian:
        print("Debian packages are installed as root only: passed over")
    with ThreadPoolExecutor(len(rows)) as pool:
        for problem in pool.map(run_steps, rows):
            if problem:
                print(problem)


def run_steps(steps):
    """Runs commands until one fails. Returns the failure, or nothing."""
    for step in steps:
        what = " ".join(map(str, step[:3]))
        try:
            done = subprocess.run(step, timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        except subprocess.TimeoutExpired:
            return f"{what} …: not done within {INSTALL_SECONDS} s"
        except OSError as error:
            return f"{what} …: {error.strerror}"
        if done.returncode:
            return f"{what} …: {(done.stderr.strip().splitlines() or ['failed'])[-1]}"
    return None
