"""Our own programs, built: the commands of `queryport`, and the example `connect`."""

from pathlib import Path

BUILT = Path(__file__).resolve().parents[2] / "target/debug"


def ours(name, *arguments):
    """The command line of one of our programs."""
    program = [BUILT / "examples/connect"] if name == "connect" else [BUILT / "queryport", name]
    return [*program, *arguments]
