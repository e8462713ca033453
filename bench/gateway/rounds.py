"""Rounds in turn: every system gets the same load, one after the other, again and again; noise hits all alike."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import msgspec
from msgspec import Struct

from .load import Load
from .script import script as script_of
from .systems import Site, System, start

__all__ = ["Measured", "Pattern", "Soak", "measure", "soak"]

PERIOD = 0.01
"""Seconds from token to token of a stream that is paced."""

SETTLE = 0.3
"""Seconds between two loads, so that what one leaves behind is not the next one's."""


class Pattern(Struct, frozen=True):
    """A kind of load: so many streams at once, each asked for so many times, paced or not."""

    streams: int
    times: int
    paced: bool

    @property
    def title(self) -> str:
        return f"{'paced' if self.paced else 'burst'}, {self.streams} streams"


class Measured(Struct):
    """What a system did under one pattern, all rounds: microseconds and tokens per second are one number a round."""

    system: str
    script: str
    pattern: str
    us_per_token: list[float] = []
    us_per_request: list[float] = []
    tokens_per_second: list[float] = []
    events_per_token: list[float] = []
    first_ms: list[float] = []
    gap_ms: list[float] = []
    lost: int = 0
    wrong: int = 0
    why: list[str] = []
    resident_idle: int = 0
    resident: int = 0

    @property
    def us(self) -> float:
        """The median over the rounds."""
        return median(self.us_per_token) if self.us_per_token else float("nan")

    def take(self, load: Load, seconds: float) -> None:
        """Add a round that took so many processor seconds."""
        self.lost, self.wrong = self.lost + load.lost, self.wrong + load.wrong
        self.why = (self.why + load.why)[:3]
        if not load.streams:
            return
        self.us_per_token.append(seconds / load.tokens * 1e6)
        self.us_per_request.append(seconds / load.streams * 1e6)
        self.tokens_per_second.append(load.tokens / load.seconds)
        self.events_per_token.append(load.events / load.tokens)
        self.first_ms += [each * 1000 for each in load.first]
        self.gap_ms += [each * 1000 for each in load.gaps]


def measure(
    script: str,
    tokens: int,
    systems: Sequence[str],
    patterns: Sequence[Pattern],
    rounds: int,
    site: Site,
    said: Callable[[str], None],
) -> list[Measured]:
    """Every system under every pattern, round by round."""  # fmt: skip
    found: list[Measured] = []
    for paced in sorted({pattern.paced for pattern in patterns}):
        with ExitStack() as stack:
            running = [start(name, script, tokens, PERIOD if paced else 0, site, stack) for name in systems]
            time.sleep(1)
            idle = {each.name: each.tree.cost().resident for each in running}
            for pattern in (each for each in patterns if each.paced == paced):
                rows = {name: Measured(name, script, pattern.title, resident_idle=idle[name]) for name in systems}
                for number in range(rounds):
                    said(f"{script}, {pattern.title}: round {number + 1} of {rounds}")
                    for each in running:
                        _round(each, rows[each.name], _said(script, tokens, site), pattern)
                found += rows.values()
    return found


def _said(name: str, tokens: int, site: Site) -> Path:
    """The script in a file, since making it takes longer than many a load."""
    file = site.folder / f"{name}-{tokens}.json"
    if not file.exists():
        file.write_bytes(msgspec.json.encode(script_of(name, tokens)))
    return file


def _round(system: System, row: Measured, said: Path, pattern: Pattern) -> None:
    before = system.tree.cost()
    load = _load(system, said, pattern)
    time.sleep(SETTLE)
    after = system.tree.cost()
    row.take(load, after.seconds - before.seconds)
    row.resident = max(row.resident, after.resident)


def _load(system: System, said: Path, pattern: Pattern) -> Load:
    sizes = ("--streams", str(pattern.streams), "--times", str(pattern.times))
    command = [sys.executable, "-m", "bench.gateway.load", system.url, str(said), *sizes]
    output = subprocess.run(command + ["--paced"] * pattern.paced, stdout=subprocess.PIPE, check=True).stdout
    return msgspec.json.decode(output, type=Load)


class Soak(Struct):
    """Resident bytes as tokens go by."""

    system: str
    script: str
    tokens: list[int] = []
    resident: list[int] = []
    lost: int = 0


def soak(script: str, tokens: int, name: str, total: int, site: Site, said: Callable[[str], None]) -> Soak:
    """Ask again and again until so many tokens have passed, and look at the memory meanwhile."""
    found, passed = Soak(name, script), 0
    with ExitStack() as stack:
        system = start(name, script, tokens, 0, site, stack)
        while passed < total:
            said(f"{script}, {name}: {passed:,} of {total:,} tokens")
            load = _load(system, _said(script, tokens, site), Pattern(64, 16, False))
            passed += load.tokens
            found.lost += load.lost + load.wrong
            found.tokens.append(passed)
            found.resident.append(system.tree.cost().resident)
            if not load.tokens:
                break
    return found
