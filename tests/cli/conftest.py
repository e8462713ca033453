"""How the command is run in tests: within the test, as a process of its own, or in a terminal."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

import pytest
from msgspec import Struct

from dragoman.cli.main import main

COMMAND = [sys.executable, "-m", "dragoman.cli"]
SOURCE = str(Path(__file__).parents[2] / "src")


class Done(Struct, frozen=True):
    """What a run of the command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]

CHANGES = ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "PYTHONDONTWRITEBYTECODE")


def environment(**changes: str) -> dict[str, str]:
    """The test's own environment without what would colour or widen the output, or compile the source every time."""
    kept = {key: value for key, value in os.environ.items() if key not in CHANGES}
    return kept | {"PYTHONPATH": SOURCE, "PYTHONPYCACHEPREFIX": compiled(), "TERM": "xterm-256color"} | changes


@cache
def compiled() -> str:
    """A folder for the bytecode of all processes."""
    folder = mkdtemp()
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@pytest.fixture
def dragoman(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path) -> Run:
    """Run the command within the test, with a file as its standard input."""

    def run(*args: str, stdin: str | bytes = "") -> Done:
        file = tmp_path / "stdin"
        file.write_bytes(stdin.encode() if isinstance(stdin, str) else stdin)
        with file.open("rb") as stream:
            monkeypatch.setattr(sys, "stdin", stream)
            try:
                code = main(args)
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else 1
        captured = capsysbinary.readouterr()
        return Done(code, captured.out.decode(), captured.err.decode())

    return run


@pytest.fixture
def process() -> Run:
    """Run the command as a process, everything piped."""

    def run(*args: str, stdin: str = "", **changes: str) -> Done:
        done = subprocess.run(
            [*COMMAND, *args],
            input=stdin.encode(),
            capture_output=True,
            env=environment(**changes),
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def terminal() -> Callable[..., str]:
    """Run the command as a process with its output on a terminal, and give what the terminal got."""
    pty = pytest.importorskip("pty")

    def run(*args: str, **changes: str) -> str:
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [*COMMAND, *args], stdin=theirs, stdout=theirs, stderr=theirs, env=environment(**changes)
        ) as process:
            os.close(theirs)
            got = b"".join(_received(ours))
            process.wait(60)
        os.close(ours)
        return got.decode().replace("\r\n", "\n")

    return run


def _received(descriptor: int) -> list[bytes]:
    pieces = []
    while True:
        try:
            piece = os.read(descriptor, 1 << 16)
        except OSError:  # Linux says EIO when the other side has closed
            return pieces
        if not piece:
            return pieces
        pieces.append(piece)
