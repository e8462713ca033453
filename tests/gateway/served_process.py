"""A server as a process of its own, until it is told to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]

LIVENESS = 30.0
"""Seconds within which whatever is waited for must have come, on the slowest machine."""

STAND_IN = ("-m", "tests.gateway.doubles.stand_in")


class Running:
    """The process: its URL, what it answers, and how it ended."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url

    def get(self, path: str) -> tuple[int, str]:
        """The status and body of one page, on a connection of its own."""
        return self._open(urllib.request.Request(self.url + path))

    def post(self, path: str, body: object = None) -> tuple[int, str]:
        """The same with a body."""
        return self._open(urllib.request.Request(self.url + path, msgspec.json.encode(body), method="POST"))

    def _open(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(request, timeout=LIVENESS) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, and give the exit code."""
        self.process.send_signal(number)
        return self.process.wait(LIVENESS)


class Asking(threading.Thread):
    """A request in the background, whose answer is fetched when it has come."""

    def __init__(self, running: Running, path: str) -> None:
        super().__init__(daemon=True)
        self._running, self._path = running, path
        self._answer = (0, "")
        self.start()

    def run(self) -> None:
        self._answer = self._running.post(self._path)

    def answer(self) -> tuple[int, str]:
        self.join(LIVENESS)
        return self._answer


@contextmanager
def running(*arguments: str, log: Path | None = None, **changes: str) -> Iterator[Running]:
    """Run Python with these arguments until it has told its URL; it is killed if it is still there at the end."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DRAGOMAN_", "PROMETHEUS_"))}
    with open(log or os.devnull, "w") as errors:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment | {"PYTHONPATH": paths} | changes,
        )
        with process:
            try:
                assert process.stdout is not None
                told = msgspec.json.decode(process.stdout.readline() or "{}")
                assert told, "it ended before it listened"
                yield Running(process, told["url"])
            finally:
                process.kill()


def run_to_end(arguments: Sequence[str], **changes: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments to its end."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": paths} | changes,
        timeout=LIVENESS,
        check=False,
    )
