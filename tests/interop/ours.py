"""Our own programs, built: the commands of `queryport`, and the example `connect`."""

import os
from pathlib import Path

BUILT = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).resolve().parents[2] / "target")).resolve() / "debug"


def ours(name, *arguments):
    """The command line of one of our programs."""
    program = [BUILT / "examples/connect"] if name == "connect" else [BUILT / "queryport", name]
    return [*program, *arguments]
