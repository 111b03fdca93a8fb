#!/usr/bin/env python3
"""Runs every command of README.md, the guide and the examples' docs as a new user does: in a fresh clone, with an empty home.

Usage: tests/examples/new_user.py [--only WORDS]... [--except WORDS]... [--list]

The commands are taken from the files themselves: lines of fenced blocks and indented ones that begin as PROGRAMS says, and
`cargo …` in a line of text. A new command is run by itself. Placeholders are replaced as SUBSTITUTIONS says; one that is left is a
failure. Each command runs on a terminal of its own; one that goes on until Ctrl-C must say something first. The table at the end
has seconds to the first line of the program, seconds in all, status and first line. Everything is on loopback; packages come from
the registry or from CARGO_HOME. It takes about 20 minutes on two processors, most of them `cargo test`.
"""

import argparse
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = r"(cargo (run|test|install)|query|scan|browser|monitor|games|master|rcon|mkdir) "

# Values for the placeholders of the docs, in this order. The servers are ours, on loopback (class
# Servers).
SUBSTITUTIONS = [
    # A server of each protocol.
    (r"\bgamespy1 (HOST(\[:PORT\])?|example\.net:7778)", "gamespy1 {gamespy1}"),
    (r"\bgamespy4 HOST:25565", "gamespy4 {minecraft}"),
    (r"\but2004 (HOST(\[:PORT\])?|example\.net|\[::1\]:27961)", "ut2004 {ut2004}"),
    (r"\bquake3 127\.0\.0\.1:27960", "quake3 {quake3}"),
    # Master servers: of Quake 3, and of GameSpy v1, over TCP.
    (r"\blist HOST\[:PORT\] ut --key", "list {gamespy_list} ut --key"),
    (r"\blist (HOST(\[:PORT\])?|master\.example\.org)", "list {master}"),
    (r"--master HOST", "--master {master} --scope any"),
    # The local network: the broadcast address of loopback. A server answers there at the game's
    # port.
    (r"--lan( openarena| \[GAME\])?", r"--lan openarena --network 127.255.255.255"),
    # A server with a console, and one that players connect to.
    (r"\b(rcon|connect( --)?) HOST(\[:PORT\])?", r"\1 {console}"),
    # Any other server speaks Quake 3.
    (r"\bHOST(\[:PORT\])?|\bexample\.org(:27960)?|\b192\.0\.2\.1:27960|\[HOST:PORT\]", "{quake3}"),
    # Files, which are written before (`files`).
    (r"\bdecode (--normalised )?FILE(\.\.\.)?", r"decode \1transcript.txt"),
    (r"--record FILE", "--record recorded.txt"),
    (r"\bFILE\b", "servers.txt"),
    # The list is shorter than that.
    (r"--skip 5000", "--skip 1"),
    # List servers of the Internet are not asked: a file replaces the game. (`scan` finds their last
    # answer in the cache.)
    (r"\bbrowser openarena", "browser servers.txt"),
    (r"\bmonitor --game openarena", "monitor --file servers.txt"),
]
# Left-over placeholders, addresses of the Internet, and missing files.
LEFT = re.compile(r"[\[\]…]|\b(HOST|PORT|FILE|GAME|SERVER|PROTOCOL)\b|example\.(org|net)|\b192\.0\.2\.\d+(?!/24)")

# Commands that go on until Ctrl-C.
SERVICES = re.compile(r"--example game_server\b|-- (serve\b(?!.*--list)|browser\b(?!.*\|)|monitor\b(?!.*--once)|master serve)")
# Text to type after the words on the left were shown.
TYPED = [(r"-- rcon \S+$", [("password: ", "secret\n"), ("> ", "status\n"), ("> ", "quit\n")]),
         (r"-- rcon \S+ status", [("password: ", "secret\n")]),
         (r"-- browser\b(?!.*\|)", [("quit", "q")])]
# Longest seconds of a command, by the first that fits.
BOUNDS = [(r"cargo test", 3000), (r"cargo install", 900), (r"--release", 900), (r"", 600)]
AIM = 60


def commands():
    """Every command of the docs, once, with the file that has it first."""
    found = {}
    files = [ROOT / "README.md", *sorted((ROOT / "src/guide").glob("*.md")), *sorted((ROOT / "examples").rglob("*.rs"))]
    for file in files:
        inside = False
        for line in file.read_text().splitlines():
            if file.suffix == ".rs":
                if not line.startswith("//!"):
                    break
                line = line[3:].removeprefix(" ")
            if line.startswith("```"):
                inside = not inside
                continue
            candidates = [line] if inside or line.startswith("    ") else re.findall(r"`(cargo [^`]+)`", line)
            for text in candidates:
                # A remark follows after two spaces or more.
                text = re.split(r"\s{2,}|\s#\s", text.strip())[0]
                if re.match(PROGRAMS, text + " ") or re.search(r"\| cargo run ", text):
                    found.setdefault(text, file.relative_to(ROOT))
    return found


def substituted(command, words):
    for pattern, replacement in SUBSTITUTIONS:
        command = re.sub(pattern, replacement, command)
    return re.sub(r"\{(\w+)\}", lambda match: words[match[1]], command)


class Servers:
    """The servers that the commands ask: `queryport serve`, a master, and two small servers in Python."""

    def __init__(self, queryport):
        self.processes, self.words = [], {}
        # A free port may be taken in between; the master must have a known one.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            self.words["master"] = "127.0.0.1:%d" % free.getsockname()[1]
        self.start(queryport, "master", "serve", self.words["master"], "--loopback", "--lists-in-a-row", "999", "--seconds", "90000")
        serve = lambda *arguments: self.start(queryport, "serve", *arguments, "--no-guard", "--seconds", "90000")
        for name, *arguments in [("quake3", "quake3", "0"), ("gamespy1", "gamespy1", "0"), ("ut2004", "ut2004", "0"),
                                 ("minecraft", "gamespy4", "0", "--game", "minecraft")]:
            self.words[name] = re.search(r"127\.0\.0\.1:\d+", serve(*arguments))[0]
        # The games of the docs' commands, listed by the master.
        for game, number in [("Quake3Arena", 71), ("Quake3Arena", 68), ("Nexuiz", 3)]:
            serve("quake3", "0", "--set", f'game="{game}"', "--set", f"protocol_version={number}", "--announce", self.words["master"])
        # A server of OpenArena on the local network.
        serve("quake3", "27963", "--address", "0.0.0.0", "--set", 'game="baseoa"')
        self.words["console"] = self.thread(socket.SOCK_DGRAM, console)
        self.words["gamespy_list"] = self.thread(socket.SOCK_STREAM, gamespy_list)

    def start(self, queryport, *arguments):
        """Starts a command of `queryport`, and returns its first line."""
        process = subprocess.Popen([queryport, *arguments], stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        line = process.stdout.readline()
        if not line:
            sys.exit(f"queryport {' '.join(arguments)} does not start")
        threading.Thread(target=process.stdout.read, daemon=True).start()
        return line

    def thread(self, kind, answer):
        server = socket.socket(socket.AF_INET, kind)
        server.bind(("127.0.0.1", 0))
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        return "127.0.0.1:%d" % server.getsockname()[1]

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


def console(server):
    """A Quake 3 server that takes `rcon` with any password, and every player."""
    while True:
        datagram, client = server.recvfrom(2048)
        word = datagram[4:].split()[:1]
        reply = {
            b"rcon": b"print\nmap: q3dm17\n",
            b"connect": b"connectResponse 4711",
            b"getinfo": b"infoResponse\n\\protocol\\71",
        }.get(word[0] if word else b"")
        if word == [b"getchallenge"]:
            # ioquake3 repeats the client's number and adds its protocol.
            reply = b" ".join([b"challengeResponse 4711", *datagram[4:].split()[1:2], b"71"])
        if reply:
            server.sendto(b"\xff\xff\xff\xff" + reply, client)


def gamespy_list(server):
    """A GameSpy v1 list server that checks nothing."""
    server.listen()
    while True:
        client, _ = server.accept()
        with client:
            client.sendall(b"\\basic\\\\secure\\ABCDEF")
            received = b""
            while b"\\list\\" not in received and (part := client.recv(2048)):
                received += part
            client.sendall(b"\\ip\\127.0.0.1:7778\\final\\")


def files(home, words):
    """The files that the commands name."""
    servers = f"quake3 {words['quake3']}\nut2004 {words['ut2004']}\ngamespy1 {words['gamespy1']}\n"
    (home / "queryport/servers.txt").write_text(servers)
    (home / "queryport/status.json").write_text('{"map": "q3dm6"}\n')
    (home / "queryport/datagrams.txt").write_text("ffffffff676574737461747573\n")
    shutil.copy(ROOT / "tests/vectors/transcripts/own-quake3.txt", home / "queryport/transcript.txt")
    # The last answer of OpenArena's list servers, which `scan` takes while it is young.
    (home / ".cache/queryport").mkdir(parents=True, exist_ok=True)
    (home / ".cache/queryport/openarena-lan.list").write_text(words["quake3"] + "\n")
    (home / ".config/queryport").mkdir(parents=True, exist_ok=True)
    (home / ".config/queryport/favourites").write_text(f"quake3 {words['quake3']}\n")


class Row:
    """A command that was run."""

    def __init__(self, command, file):
        self.command, self.file, self.problem = command, file, None
        self.first, self.seconds, self.status, self.line = None, 0.0, None, ""


def plain(shown):
    """The text on a terminal, without colours and movements. Of a line that is drawn again, the last form."""
    text = re.sub(r"\x1b(\[[0-9;?<>=]*[A-Za-z]|[()][A-Z0-9]|[=>78]|\].*?(\x07|\x1b\\))", "", shown.decode(errors="replace"))
    return [line.rstrip().split("\r")[-1] for line in text.replace("\r\n", "\n").split("\n")]


def said(shown):
    """The lines of the program, or of cargo after the build: cargo's earlier lines end with one of these."""
    lines = plain(shown)
    starts = [number for number, line in enumerate(lines) if re.match(r"\s*Running `|\s*Finished ", line)]
    return [line for line in (lines[starts[-1] + 1:] if starts else lines) if line.strip()]


def run(row, command, folder, environment):
    """Runs a command on a terminal of its own, types its input, and ends it if it is a service."""
    bound = next(seconds for pattern, seconds in BOUNDS if re.search(pattern, command))
    is_service = re.search(SERVICES, command)
    typed = next((list(typed) for pattern, typed in TYPED if re.search(pattern, command)), [])
    terminal, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))
    started = time.monotonic()
    process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=other, stdout=other, stderr=other,
                               start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(other)
    shown, read, interrupts = b"", 0, 0
    while True:
        now = time.monotonic() - started
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:
                break
            shown += part
            if row.first is None and said(shown) and (b"Running `" in shown or "cargo run" not in command):
                row.first = time.monotonic() - started
        elif process.poll() is not None:
            break
        if typed and (at := shown.find(typed[0][0].encode(), read)) >= 0:
            read = at + len(typed[0][0])
            time.sleep(0.3)
            os.write(terminal, typed.pop(0)[1].encode())
        due = row.first + 2 + 5 * interrupts if row.first is not None and is_service else bound
        if now > due and interrupts < 2:
            os.write(terminal, b"\x03")
            interrupts += 1
        elif now > max(bound, due) + 10:
            os.killpg(process.pid, signal.SIGKILL)
            break
    os.close(terminal)
    row.status = process.wait()
    row.seconds = time.monotonic() - started
    lines = said(shown)
    row.line = next(iter(lines), "").strip()
    is_ended = is_service and row.status in (130, -signal.SIGINT) and interrupts
    if row.status != 0 and not is_ended:
        row.problem = f"status {row.status}: " + "\n    ".join(lines[-12:] or plain(shown)[-12:])
    elif not lines and ">" not in command and "--record" not in command and "mkdir" not in command:
        row.problem = "says nothing"
    elif interrupts > (1 if is_service else 0):
        row.problem = f"still running after {bound} s" if not is_service else "does not end by one Ctrl-C"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", default=[], help="only commands with these words")
    parser.add_argument("--except", action="append", default=[], dest="left_out", help="not the commands with these words")
    parser.add_argument("--list", action="store_true", help="print the commands, and what they become")
    parser.add_argument("--queryport", type=Path, default=ROOT / "target/debug/queryport", help="the program whose servers are asked")
    arguments = parser.parse_args()
    # A shell that runs this in the background has interrupts ignored, and programs inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rows = [Row(command, file) for command, file in commands().items()
            if not any(words in command for words in arguments.left_out)
            and (not arguments.only or any(words in command for words in arguments.only))]
    names = {name: "127.0.0.1:0" for name in ("quake3", "gamespy1", "ut2004", "minecraft", "master", "console", "gamespy_list")}
    for row in rows:
        if LEFT.search(substituted(row.command, names)):
            row.problem = f"no substitution: {substituted(row.command, names)}"
        if arguments.list or row.problem:
            print(f"{row.file}: {row.command}\n    {row.problem or substituted(row.command, names)}")
    if arguments.list or not rows or any(row.problem for row in rows):
        return any(row.problem for row in rows) or not rows
    # The servers are of this checkout, the commands of the clone.
    subprocess.run(["cargo", "build", "--quiet", "-p", "queryport-cli"], cwd=ROOT, check=True)
    servers = Servers(arguments.queryport)
    try:
        with tempfile.TemporaryDirectory() as temporary:
            home = Path(temporary)
            subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, home / "queryport"], check=True)
            user = Path.home()
            environment = {
                "HOME": str(home), "PATH": f"{home}/.cargo/bin:{os.environ['PATH']}", "TERM": "xterm-256color", "LANG": "C.UTF-8",
                "CARGO_HOME": os.environ.get("CARGO_HOME", f"{user}/.cargo"), "CARGO_INSTALL_ROOT": f"{home}/.cargo",
                "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", f"{user}/.rustup"), "CARGO_TERM_COLOR": "never",
            }
            for row in rows:
                files(home, servers.words)
                command = substituted(row.command, servers.words)
                run(row, command, home / "queryport", environment)
                print(f"{row.seconds:7.1f} s  {command}" + (f"\n    {row.problem}" if row.problem else ""), flush=True)
    finally:
        servers.end()
    print("\n| command | first line after | seconds | status | first line |\n|---|---|---|---|---|")
    for row in rows:
        first = f"{row.first:.1f}" if row.first is not None else ""
        cell = lambda text: text[:60].replace("|", "\\|")
        print(f"| `{row.command.replace('|', chr(92) + '|')}` | {first} | {row.seconds:.1f} | {row.status} | {cell(row.line)} |")
    first = rows[0].first
    print(f"\nThe first answer was on the screen {first or float('nan'):.0f} s after the clone (aim: {AIM} s on two processors).")
    failed = [row for row in rows if row.problem]
    print(f"{len(rows)} commands, {len(failed)} failed")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
