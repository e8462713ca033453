"""How the command is run in tests: as a real process, plainly or in a terminal of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "dragoman.cli"]
SOURCE = str(Path(__file__).parents[2] / "src")

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(**changes: str) -> dict[str, str]:
    """The test's own environment without what would colour or widen the output."""
    kept = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return kept | {"PYTHONPATH": SOURCE, "TERM": "xterm-256color"} | changes


@pytest.fixture
def dragoman() -> Run:
    """Run the command to its end with everything piped."""

    def run(*args: str, stdin: str | bytes = "", **changes: str) -> subprocess.CompletedProcess[str]:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        done = subprocess.run(
            [*COMMAND, *args], input=given, capture_output=True, env=environment(**changes), timeout=60, check=False
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def terminal() -> Callable[..., str]:
    """Run the command with its output on a terminal, and give what the terminal got."""
    pty = pytest.importorskip("pty")

    def run(*args: str, **changes: str) -> str:
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*COMMAND, *args], stdin=theirs, stdout=theirs, stderr=theirs, env=environment(**changes)
        ) as process:
            os.close(theirs)
            got = b""
            while True:
                try:
                    piece = os.read(ours, 1 << 16)
                except OSError:  # Linux says EIO when the other side has closed
                    break
                if not piece:
                    break
                got += piece
            process.wait(60)
        os.close(ours)
        return got.decode().replace("\r\n", "\n")

    return run
