"""A process and its children as Linux sees them: processor time, memory, and how they are started and ended."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

__all__ = ["Cost", "Tree", "spawn"]

TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 15.0
"""Seconds that a process has to end by itself."""


class Cost(Struct, frozen=True):
    """Processor seconds since the start, and resident bytes now."""

    seconds: float
    resident: int


class Tree:
    """A process that was started here, with all that it has started."""

    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self.process, self.log = process, log

    def cost(self) -> Cost:
        """What the processes that are there cost; ended children count with those that waited for them."""
        seconds, resident = 0.0, 0
        for pid in _family(self.process.pid):
            try:
                fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            except OSError:
                continue
            seconds += sum(map(int, fields[11:15])) / TICK
            resident += pages * os.sysconf("SC_PAGE_SIZE")
        return Cost(seconds, resident)

    def reset_peak(self) -> None:
        """Count the peak of resident memory from now on."""
        for pid in _family(self.process.pid):
            Path(f"/proc/{pid}/clear_refs").write_text("5")

    def end(self) -> None:
        """Ask it to end, and make it."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            for pid in _family(self.process.pid):
                os.kill(pid, signal.SIGKILL)
            self.process.wait()


def _family(pid: int) -> Iterator[int]:
    yield pid
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except OSError:
        return
    for task in tasks:
        try:
            children = (task / "children").read_text().split()
        except OSError:
            continue
        for child in children:
            yield from _family(int(child))


def spawn(command: Sequence[str], log: Path, environment: Mapping[str, str] = {}, *, piped: bool = False) -> Tree:
    """Start a process whose words go to the log; its standard output to us if `piped`."""
    with log.open("w") as words:
        output = subprocess.PIPE if piped else words
        process = subprocess.Popen(
            command, stdout=output, stderr=words, stdin=subprocess.DEVNULL, env={**os.environ, **environment}, text=True
        )
    return Tree(process, log)
