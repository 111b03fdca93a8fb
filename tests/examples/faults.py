#!/usr/bin/env python3
"""Faults while the built programs work: Ctrl-C, output that nobody reads, full disks, wrong arguments.

Usage: tests/examples/faults.py [FOLDER of the program queryport and of examples/, default target/debug]

No run may panic, hang, show an error in the form of Rust's `Debug`, or end with another status than the documented one. It needs
Linux (/dev/full) and takes about half a minute.
"""

import contextlib
import fcntl
import os
import pty
import re
import resource
import select
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
# Longest time to an end, and the timeout of queries that must not end by it.
HANG, LONG = 10, 60
# When an interrupt comes, in milliseconds after the start.
MOMENTS = (0, 50, 200, 500)
INTERRUPTED = -signal.SIGINT


class Run(NamedTuple):
    """A command line that does real work."""

    line: str
    # The exit status without a fault (none: 0 or 1, which others on this machine decide), and after
    # Ctrl-C; by default the signal itself ends it.
    status: int | None = 0
    interrupted: tuple = ()
    # The exit status with a full disk; as `status` if it prints nothing before its end.
    full: int = 1
    # Only a signal ends it.
    service: bool = False
    # Its standard input stays open.
    reads: bool = False
    # A short program for readers to copy: faults of its output are not tested.
    copied: bool = False


# LIVE answers, SILENT does not. WAIT is the timeout: long if an interrupt ends the program, short
# otherwise.
RUNS = [
    Run("query"),
    Run("query quake3 LIVE --json"),
    Run("query quake3 LIVE --record NEW"),
    Run("query openarena LIVE --record NEW --json --detailed"),
    Run("query quake3 SILENT --timeout WAIT", status=1),
    Run("query quake3 SILENT --timeout WAIT --json", status=1),
    Run("query 127.0.0.1 --timeout WAIT", status=None),
    Run("query --lan --network 127.255.255.255 --timeout WAIT", status=None),
    Run("scan LIST --timeout WAIT --retries 0", status=1, interrupted=(130,)),
    Run("scan LIST --json --timeout WAIT --retries 0", status=1, interrupted=(130,)),
    Run("scan - --json --timeout WAIT", service=True, reads=True, interrupted=(0, 1, 130)),
    Run("scan --master SILENT --timeout WAIT --list-timeout WAIT", status=1, interrupted=(130,)),
    Run("browser --timeout WAIT", interrupted=(0, 1, 130)),
    Run("browser --plain LIST --timeout WAIT --retries 0", status=1, interrupted=(0, 1, 130)),
    Run("monitor --listen 127.0.0.1:0 quake3 LIVE quake3 SILENT --interval 0.2", service=True, interrupted=(0,)),
    Run("monitor --once quake3 SILENT --timeout WAIT", status=2, full=3),
    Run("serve quake3 0 --who --crowd 8 --announce SILENT --metrics 127.0.0.1:0", service=True, interrupted=(0,)),
    Run("serve quake3 0 --replay TRANSCRIPT", service=True, interrupted=(0,)),
    Run("games"),
    Run("games --json openarena"),
    Run("master serve 127.0.0.1:0 --loopback", service=True, interrupted=(0,)),
    Run("master list SILENT Quake3Arena 68", status=1),
    Run("rcon LIVE --timeout WAIT status", status=1),
    Run("rcon SILENT --timeout WAIT", service=True, reads=True),
    Run("connect SILENT", status=1),
    # It is a server of another game than `connect` names.
    Run("connect LIVE", status=1),
    Run("decode TRANSCRIPT --normalised"),
    Run("decode -", service=True, reads=True),
    Run("bot quake3 LIVE quake3 SILENT", copied=True),
    Run("bot_blocking quake3 LIVE quake3 SILENT", copied=True),
    Run("mock quake3 LIVE quake3 SILENT", copied=True),
    Run("tracker NEW quake3 LIVE quake3 SILENT"),
    Run("tracker_blocking NEW quake3 LIVE quake3 SILENT"),
    Run("inspect ffffffff676574737461747573"),
    Run("inspect", service=True, reads=True),
    Run("sans_io_std LIVE", copied=True),
    Run("sans_io_std SILENT", status=1, copied=True),
    Run("game_server 0", service=True, reads=True),
    Run("game_server"),
    Run("fifth_protocol"),
]

# Services that go on when nobody reads their output.
SERVERS = ("monitor", "serve", "master")
# Command lines with an error, and their statuses. BYTES is not UTF-8, FOLDER is a folder, NOTHING
# does not exist.
WRONG = [(f"{program} --no-such-option", 2) for program in (
    "query scan browser monitor serve games master rcon connect decode bot bot_blocking mock tracker tracker_blocking inspect "
    "sans_io_std game_server fifth_protocol").split()] + [
    ("query --timeout", 2), ("query --timeout soon", 2), ("query quake3", 2), ("query quake9 LIVE", 2), ("query BYTES", 2),
    ("query quake3 BYTES", 2), ("query quake3 LIVE --record FOLDER", 1), ("query quake3 LIVE --record NOTHING/file", 1),
    ("query quake3 127.0.0.1:70000", 2), ("rcon 127.0.0.1:70000 status", 2), ("connect 127.0.0.1:0", 2), ("query quake3 LIVE --retries -1", 2),
    ("scan", 2), ("scan NOTHING", 1), ("scan FOLDER", 1), ("scan BYTES", 1), ("scan LIST --timeout", 2), ("scan LIST --timeout x", 2),
    ("scan LIST --shard 5/4", 2), ("scan LIST --exclude 192.0.2.0/99", 2), ("scan nothing --master SILENT", 2),
    ("scan openarena --master form=SILENT", 2),
    ("browser NOTHING", 1), ("browser FOLDER", 1), ("browser BYTES", 1), ("browser --refresh", 2), ("browser --refresh x", 2),
    ("monitor --file NOTHING", 1), ("monitor --file FOLDER", 1), ("monitor --listen x", 2), ("monitor --interval", 2),
    ("monitor BYTES BYTES", 2), ("monitor --listen LIVE --file TRANSCRIPT", 1), ("monitor --once BYTES", 3),
    ("serve", 2), ("serve quake3 70000", 2), ("serve quake9 0", 2), ("serve quake3 0 --status NOTHING", 1),
    ("serve quake3 0 --status FOLDER", 1), ("serve quake3 0 --status TRANSCRIPT", 1), ("serve quake3 0 --set x", 2),
    ("serve quake3 0 --set x=1", 2), ("serve quake3 0 --address 192.0.2.1", 1),
    ("serve quake3 LIVEPORT", 1), ("serve quake3 0 --set BYTES", 2), ("serve ut2004 0 --announce SILENT", 2),
    ("games opnarena", 2), ("games --protocol", 2), ("games --protocol quake9", 2), ("games BYTES", 2),
    ("master", 2), ("master serve", 2), ("master serve x", 2), ("master serve 127.0.0.1:0 --tag a=Foo", 2), ("master serve LIVE", 1), ("master list", 2), ("master list SILENT", 2),
    ("master list SILENT x y", 2), ("master list BYTES x 1", 2),
    ("rcon", 2), ("rcon LIVE --mode", 2), ("rcon --mode x LIVE", 2), ("rcon BYTES status", 2),
    ("connect", 2), ("connect LIVE --protocol x", 2), ("connect LIVE --set x", 2), ("connect LIVE --name 'a\"b'", 2),
    ("connect BYTES", 2),
    ("decode", 2), ("decode NOTHING", 1), ("decode FOLDER", 1), ("decode BYTES", 1), ("decode BINARY", 1),
    ("bot", 2), ("bot quake3", 2), ("bot quake3 BYTES", 0), ("mock quake3", 2),
    *((f"{program} quake9 LIVE", 2, b'unknown game "quake9"') for program in ("bot", "bot_blocking")),
    ("mock quake9 LIVE", 2, b'unknown protocol "quake9"'),
    ("tracker", 2), ("tracker NEW quake3", 2), ("tracker NEW quake9 LIVE", 2), ("tracker FOLDER", 1), ("tracker /dev/full", 1),
    ("tracker TRANSCRIPT", 1), ("tracker NOTHING/file quake3 LIVE", 1), ("tracker BINARY", 1),
    ("inspect x", 1), ("inspect BYTES", 1), ("sans_io_std x", 1), ("sans_io_std a b", 2), ("sans_io_std BYTES", 1),
    ("game_server x", 2), ("fifth_protocol x", 2),
]

# A full server of Quake 3, by the first word of a request.
FULL = {b"getinfo": b"infoResponse\n\\protocol\\68\\gamename\\Quake3Arena", b"getchallenge": b"challengeResponse 5",
        b"connect": b"print\nServer is full.\n"}
# Servers, the exit status of `connect`, and what it prints.
CONNECTIONS = [
    (FULL | {b"connect": b"connectResponse"}, 0, b" accepted Ann: challenge 5, qport "),
    (FULL, 1, b": the server refused: "),
]

LOOKUPS = ["scan NAMES", "scan --master some.example", "browser --plain NAMES", "monitor --listen 127.0.0.1:0 quake3 some.example",
           "monitor --once quake3 some.example", "query quake3 some.example", "master list some.example q 1"]


# Commands of the program `queryport`; the others are examples.
COMMANDS = "query scan browser monitor serve games master rcon decode".split()


def program_of(built, name):
    return [built / "queryport", name] if name in COMMANDS else [built / "examples" / name]


def serve(server, replies):
    """Answers requests until the socket is closed, by their first words."""
    with contextlib.suppress(OSError):
        while True:
            request, client = server.recvfrom(2048)
            word = re.match(rb"\xff{4}([a-z]*)", request)
            if word and word[1] in replies:
                server.sendto(b"\xff\xff\xff\xff" + replies[word[1]], client)


def in_namespaces(built, folder):
    """Interrupts programs that look a name up, in a network of our own, whose name server never answers."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    (folder / "resolv.conf").write_text("nameserver 127.0.0.9\noptions timeout:30 attempts:2\n")
    subprocess.run(["mount", "--bind", folder / "resolv.conf", "/etc/resolv.conf"], check=True)
    (folder / "names").write_text("some.example:27960\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.9", 53))
        for line in LOOKUPS:
            program, *arguments = line.replace("NAMES", str(folder / "names")).split()
            process = subprocess.Popen([*program_of(built, program), *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # Its first request for the address.
            if not select.select([silent], [], [], HANG)[0]:
                return f"{line}: no name is looked up"
            while select.select([silent], [], [], 0.2)[0]:
                silent.recv(512)
            process.send_signal(signal.SIGINT)
            try:
                process.wait(HANG)
            except subprocess.TimeoutExpired:
                process.kill()
                return f"{line}: still running {HANG} s after the interrupt"
            if process.returncode not in (INTERRUPTED, 0, 1, 130):
                return f"{line}: status {process.returncode}"
    return None


class Check:
    def __init__(self, built, folder):
        self.built, self.folder = built, folder
        self.failures, self.runs, self.words = [], 0, {}
        self.lock, self.fixed_ports = threading.Lock(), threading.Lock()
        self.endless = os.pipe()
        self.silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.silent.bind(("127.0.0.1", 0))
        self.live = self.start("serve quake3 0 --no-guard --seconds 600")
        address = re.search(r" on (\S+)", self.live.stdout.readline().decode())[1]
        (folder / "folder").mkdir()
        (folder / "binary").write_bytes(bytes(range(256)))
        self.words = {
            "LIVE": address, "LIVEPORT": address.split(":")[1], "SILENT": "127.0.0.1:%d" % self.silent.getsockname()[1],
            "TRANSCRIPT": ROOT / "tests/vectors/transcripts/own-quake3.txt", "LIST": folder / "list", "BINARY": folder / "binary",
            "FOLDER": folder / "folder", "NOTHING": folder / "nothing", "BYTES": b"\xff\xfe",
        }
        (folder / "list").write_text("{LIVE}\nquake3 {SILENT}\n\nnonsense here too\n".format(**self.words))

    def start(self, line, wait=1, **how):
        """Starts a program, with the words of its command line in place."""
        words = self.words | {"WAIT": str(wait), "NEW": tempfile.mktemp(dir=self.folder)}
        word = lambda match: os.fsencode(words.get(match[0].decode(), match[0]))
        parts = [re.sub(rb"\b[A-Z]{3,}\b", word, part.encode()) for part in shlex.split(line)]
        environment = os.environ | {"QUERYPORT_RCON_PASSWORD": "secret", "HOME": str(self.folder)}
        program = program_of(self.built, parts[0].decode())
        how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": environment,
               "cwd": self.folder} | how
        return subprocess.Popen([*program, *parts[1:]], **how)

    def end(self, process, what, allowed, words=b""):
        """Waits for the end, and judges it."""
        try:
            out, err = process.communicate(timeout=HANG)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            err = b"still running after %d s\n" % HANG + (err or b"")
        said = (out or b"") + (err or b"")
        wrong = [word for word in (b"panicked", b"Os {", b"(os error", b"still running after") if word in said]
        if process.returncode not in allowed or wrong or words not in said:
            expected = ", ".join(map(str, sorted(allowed))) + (f" with {words.decode()!r}" if words else "")
            self.fail(f"{what}: status {process.returncode}, not {expected}: {said[-500:].decode(errors='replace')}")
        with self.lock:
            self.runs += 1
        return said

    def fail(self, why):
        with self.lock:
            self.failures.append(why)

    def work(self, run, wait=1, **streams):
        """Starts a run. Standard input is never written to, where it is read."""
        return self.start(run.line, wait, stdin=self.endless[0] if run.reads else subprocess.DEVNULL, **streams)

    def other(self, run):
        """Exit statuses that depend on the machine: ports in use, servers that answer or refuse."""
        return {0, 1} if run.status is None else {1} if run.line.startswith("game_server") else set()

    def serve_on(self, run, process):
        """Ends a service that has gone on without its output. Returns the statuses of that."""
        if not run.service:
            return set()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        return {INTERRUPTED, *run.interrupted}

    def interrupt(self, run, moment, by):
        """Ctrl-C, or the signal of service managers, which has the same effect."""
        with self.work(run, LONG) as process:
            time.sleep(moment / 1000)
            process.send_signal(by)
            # A program that does not wait may have ended before.
            ended = set() if run.service or "WAIT" in run.line else {run.status}
            allowed = {-by, *run.interrupted} | ended | self.other(run)
            self.end(process, f"{run.line}, {by.name} after {moment} ms", allowed)

    def closed(self, run, lines, streams):
        """`| head -n LINES`: nobody reads the rest of the output."""
        with self.work(run) as process:
            for _ in range(lines if not run.reads and "LIVE" in run.line else 0):
                process.stdout.readline()
            for stream in streams:
                getattr(process, stream).close()
                setattr(process, stream, None)
            if run.service and run.line.startswith(SERVERS):
                time.sleep(0.3)
                if process.poll() is not None:
                    self.fail(f"{run.line}: it has ended, because nobody reads its output")
            # The closed pipe may end other programs, as an interrupt may.
            allowed = {0, run.status, *run.interrupted} | self.other(run) | self.serve_on(run, process)
            self.end(process, f"{run.line}, {' and '.join(streams)} closed after {lines} lines", allowed)

    def full(self, run, streams):
        """Output onto a full disk."""
        with open("/dev/full", "wb") as full, self.work(run, **dict.fromkeys(streams, full)) as process:
            is_output = "stdout" in streams
            allowed = {run.status} | ({run.full} if is_output else set()) | self.other(run) | self.serve_on(run, process)
            what = f"{run.line} with a full disk as {' and '.join(streams)}"
            said = self.end(process, what, allowed)
        if not is_output or run.service or run.status is None:
            return
        # If it has something to write, it must not end with success.
        if process.returncode == 0:
            self.fail(f"{what}: nobody notices that nothing was written")
        if "stderr" not in streams and process.returncode == run.full != run.status and b"no space left" not in said:
            self.fail(f"{what}: {said.decode(errors='replace')} does not say so")

    def wrong(self, line, status, words=b""):
        with self.start(line) as process:
            said = self.end(process, line, {status}, words)
            if not said.strip():
                self.fail(f"{line}: nothing is said")

    def connect(self, replies, status, words):
        """`connect` to a server that sends these replies."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.bind(("127.0.0.1", 0))
            threading.Thread(target=serve, args=(server, replies), daemon=True).start()
            line = f"connect 127.0.0.1:{server.getsockname()[1]} --name Ann --timeout 2"
            with self.start(line) as process:
                self.end(process, f"connect to a server that answers {replies}", {status}, words)

    def file_on_a_full_disk(self):
        """Files that cannot grow: the record of a query, and the state of the tracker, which loses nothing."""
        def no_space():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        with self.start("query quake3 LIVE --record NEW", preexec_fn=no_space) as process:
            said = self.end(process, "query --record on a full disk", {1}, b"file too large")
            if b"map" not in said:
                self.fail(f"query --record on a full disk shows no answer: {said.decode()}")
        state = self.folder / "state"
        line = f"tracker {state} quake3 LIVE"
        self.end(self.start(line), line, {0})
        before = state.read_bytes()
        self.end(self.start(line, preexec_fn=no_space), f"{line} on a full disk", {1}, b"file too large")
        if not before or state.read_bytes() != before or list(self.folder.glob("state.*")):
            self.fail("tracker on a full disk loses its state")
        for millis in range(0, 60, 3):
            process = self.start(line)
            time.sleep(millis / 1000)
            process.send_signal(signal.SIGINT)
            self.end(process, f"{line}, interrupted after {millis} ms", {0, INTERRUPTED})
            if state.read_bytes().count(b"\n") != 1:
                self.fail(f"tracker, interrupted after {millis} ms, loses its state")

    def password(self, end):
        """A signal at the prompt for a password: the terminal shows again what is typed."""
        terminal, other = pty.openpty()
        process = self.start("rcon LIVE status", stdin=other, stdout=other, stderr=other, start_new_session=True,
                             env={"HOME": str(self.folder)}, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        shown = b""
        while b"password: " not in shown and select.select([terminal], [], [], HANG)[0]:
            shown += os.read(terminal, 1000)
        echoes = lambda: bool(termios.tcgetattr(other)[3] & termios.ECHO)
        deadline = time.monotonic() + HANG
        while echoes() and time.monotonic() < deadline:
            time.sleep(0.01)
        if end == signal.SIGINT:
            os.write(terminal, b"\x03")
        else:
            process.send_signal(end)
        self.end(process, f"rcon, {end.name} at its prompt", {130})
        if not echoes() or b"password: " not in shown:
            self.fail(f"rcon leaves a terminal without echo, or does not ask: {shown}")
        os.close(terminal)
        os.close(other)

    def lookup(self):
        """Ctrl-C while the name server does not answer: nothing waits for it."""
        namespaces = ["unshare", "--map-root-user", "--net", "--mount"]
        if subprocess.run([*namespaces, "true"], capture_output=True, check=False).returncode:
            not_checked("programs while a name server does not answer: no namespaces")
            return
        inside = subprocess.run([*namespaces, sys.executable, __file__, "--lookup", self.built, self.folder],
                                capture_output=True, text=True, check=False)
        if inside.returncode:
            self.fail(f"while a name is looked up: {inside.stdout}{inside.stderr}")
        self.runs += len(LOOKUPS)

    def all(self):
        jobs = [self.lookup, self.file_on_a_full_disk]
        jobs += [lambda end=end: self.password(end) for end in (signal.SIGINT, signal.SIGTERM)]
        for run in RUNS:
            each = [(self.interrupt, run, moment, by) for moment in MOMENTS for by in (signal.SIGINT, signal.SIGTERM)]
            if not run.copied:
                each += [(self.closed, run, lines, streams) for lines, streams in (
                    (0, ["stdout"]), (1, ["stdout"]), (0, ["stdout", "stderr"]))]
                each += [(self.full, run, streams) for streams in (["stdout"], ["stderr"], ["stdout", "stderr"])]
            # It has fixed ports: one at a time.
            guard = self.fixed_ports if run.line.startswith("game_server") else None
            jobs += [lambda job=job, guard=guard: self.guarded(guard, *job) for job in each]
        jobs += [lambda wrong=wrong: self.wrong(*wrong) for wrong in WRONG]
        jobs += [lambda connection=connection: self.connect(*connection) for connection in CONNECTIONS]
        with ThreadPoolExecutor(16) as pool:
            for job in [pool.submit(job) for job in jobs]:
                job.result()
        self.live.send_signal(signal.SIGINT)
        self.end(self.live, "serve, interrupted", {0})

    def guarded(self, guard, job, *arguments):
        if guard:
            with guard:
                return job(*arguments)
        return job(*arguments)


def not_checked(what):
    """Reports a check that is skipped; `.ci/run` lists it at its end."""
    print("not checked:", what)
    if path := os.environ.get("QUERYPORT_NOT_CHECKED"):
        with open(path, "a") as file:
            file.write(what + "\n")


def main():
    # A shell that runs this in the background has interrupts ignored, and programs inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.argv[1:2] == ["--lookup"]:
        return in_namespaces(*map(Path, sys.argv[2:4]))
    built = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug").resolve()
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(built, Path(folder))
        check.all()
    for why in check.failures:
        print(why, file=sys.stderr)
    print(f"{check.runs} runs with faults in {time.monotonic() - started:.0f} s, {len(check.failures)} wrong")
    return bool(check.failures)


if __name__ == "__main__":
    sys.exit(main())
