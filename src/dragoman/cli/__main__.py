"""The console script: says plainly what is missing when the package was installed without its extra ``cli``."""

from __future__ import annotations

import os
import sys

__all__ = ["run"]

try:
    from .main import LEFT, main
except ModuleNotFoundError as missing:
    if (missing.name or "").partition(".")[0] != "rich":
        raise
    sys.stderr.write("dragoman: the command needs the package rich; install it with: pip install 'dragoman[cli]'\n")
    raise SystemExit(2) from None


def run() -> int:
    """Run the command with the process's own arguments; gives its exit code."""
    with open(os.devnull, "w") as nowhere:  # for a process that was started without the one or the other
        sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere
        code = main()
    if code == LEFT:  # the interpreter flushes once more at exit, and must find somebody who reads
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


if __name__ == "__main__":
    sys.exit(run())
