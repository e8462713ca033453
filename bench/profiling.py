"""Where the time per chunk goes: from the bare loop up to the chunks that need a second look."""

from __future__ import annotations

import cProfile
from collections import Counter, defaultdict
from time import perf_counter_ns
from types import CodeType

from msgspec import Struct

from dragoman import Parser

from .clock import Floor, fresh, quiet
from .workloads import Workload

__all__ = ["Costs", "costs", "hot"]

CHUNKS = 8192
SLOW = 1.8
"""How much more than the median of its workload a chunk must take to be called slow."""


class Costs(Struct, frozen=True):
    """Nanoseconds per chunk, with the clock's own cost taken off."""

    loop: float
    call: float
    floor: float
    fast: float
    slow: float
    slow_share: float
    end: float
    worst: tuple[tuple[str, int, float], ...]
    """Slow chunks that took most in all: their text, how often, and the mean."""

    @property
    def mean(self) -> float:
        """Of all chunks."""
        return self.fast * (1 - self.slow_share) + self.slow * self.slow_share


class Nothing:
    """Does nothing when fed."""

    def feed(self, chunk: str) -> None:
        """Nothing."""


def costs(work: Workload, rounds: int) -> Costs:
    """Take each chunk's shortest time over all rounds, and sort them into fast and slow."""
    chunks = work.write(CHUNKS).chunks
    best, end = [1 << 60] * len(chunks), 1 << 60
    for _ in range(rounds):
        parser = Parser(work.dialect, work.tools or None)
        with quiet():
            best = list(map(min, best, _each(parser, fresh(chunks))))
            began = perf_counter_ns()
            parser.finish()
            end = min(end, perf_counter_ns() - began)
    clock = _clock()
    times = [max(0, time - clock) for time in best]
    limit = sorted(times)[len(times) // 2] * SLOW
    fast = [time for time in times if time <= limit]
    slow = [time for time in times if time > limit]
    return Costs(
        loop=_loop(chunks), call=_fed(Nothing().feed, chunks), floor=_fed(Floor().feed, chunks),
        fast=sum(fast) / max(1, len(fast)), slow=sum(slow) / max(1, len(slow)), slow_share=len(slow) / len(times),
        end=end - clock, worst=_worst(chunks, times, limit),
    )  # fmt: skip


def _each(parser: Parser, chunks: list[str]) -> list[int]:
    feed, times = parser.feed, list[int]()
    for chunk in chunks:
        began = perf_counter_ns()
        feed(chunk)
        times.append(perf_counter_ns() - began)
    return times


def _clock() -> int:
    """What it costs to ask the clock and to do nothing."""
    return min(-perf_counter_ns() + perf_counter_ns() for _ in range(1000))


def _loop(chunks: tuple[str, ...]) -> float:
    best = 1 << 60
    for _ in range(20):
        began = perf_counter_ns()
        for _chunk in chunks:
            pass
        best = min(best, perf_counter_ns() - began)
    return best / len(chunks)


def _fed(feed: object, chunks: tuple[str, ...]) -> float:
    assert callable(feed)
    best = 1 << 60
    for _ in range(20):
        began = perf_counter_ns()
        for chunk in chunks:
            feed(chunk)
        best = min(best, perf_counter_ns() - began)
    return best / len(chunks)


def _worst(chunks: tuple[str, ...], times: list[int], limit: float) -> tuple[tuple[str, int, float], ...]:
    spent, count = defaultdict[str, int](int), Counter[str]()
    for chunk, time in zip(chunks, times, strict=True):
        if time > limit:
            spent[chunk] += time
            count[chunk] += 1
    most = sorted(spent, key=lambda chunk: -spent[chunk])[:12]
    return tuple((chunk, count[chunk], spent[chunk] / count[chunk]) for chunk in most)


def hot(work: Workload) -> list[tuple[str, float, float]]:
    """The functions in which the time is spent: their name, calls per chunk, and share of the time."""
    chunks, parser = work.write(CHUNKS).chunks, Parser(work.dialect, work.tools or None)
    profile = cProfile.Profile()
    profile.enable()
    for chunk in chunks:
        parser.feed(chunk)
    profile.disable()
    entries = profile.getstats()
    total = sum(entry.inlinetime for entry in entries) or 1.0
    ranked = sorted(entries, key=lambda entry: -entry.inlinetime)[:12]
    return [(_named(entry.code), entry.callcount / len(chunks), entry.inlinetime / total) for entry in ranked]


def _named(code: object) -> str:
    return code.co_qualname if isinstance(code, CodeType) else str(code)
