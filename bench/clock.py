"""How time is taken: fresh strings, no garbage collection, and the floor in turn with what it is compared to.

The floor is what any parser with this interface costs: a call of a method for each chunk that makes one new
event. Both run block by block in turn, so that machine noise hits them alike, and each block counts with the fastest
of its runs; their ratio says more than microseconds do.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter_ns

from dragoman import Parser
from dragoman.events import ContentDelta

__all__ = ["Best", "Floor", "fresh", "quiet", "side_by_side", "timed"]

BLOCK = 256
"""Chunks that are timed together: few enough to be undisturbed now and then on a busy machine."""


class Floor:
    """Reads nothing, and makes an event of each chunk."""

    __slots__ = ()

    def feed(self, chunk: str) -> ContentDelta:
        """One new event."""
        return ContentDelta(chunk, 0, 1)


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection meanwhile."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def fresh(chunks: Sequence[str]) -> list[str]:
    """The chunks as new strings, as they would arrive: nothing remembers their hashes."""
    text, at, found = "".join(chunks), 0, []
    for chunk in chunks:
        found.append(text[at : at + len(chunk)])
        at += len(chunk)
    return found


class Best:
    """The fastest time of each block of an output, over all the times it was run: what is left is not noise."""

    def __init__(self) -> None:
        self._blocks: list[float] = []

    def take(self, times: Sequence[float]) -> None:
        """Take the times of one more run, block by block."""
        self._blocks = list(map(min, self._blocks, times)) if self._blocks else list(times)

    @property
    def total(self) -> float:
        """Nanoseconds of the whole output, if every block ran at its best."""
        return sum(self._blocks)


def timed(feed: Callable[[str], object], chunks: Sequence[str]) -> int:
    """Nanoseconds to feed these chunks."""
    began = perf_counter_ns()
    for chunk in chunks:
        feed(chunk)
    return perf_counter_ns() - began


def side_by_side(make: Callable[[], Parser], chunks: Sequence[str]) -> tuple[list[int], list[int]]:
    """Nanoseconds of each block of the chunks and of the end, and those of the floor for the same blocks.

    Another parser reads the first block before: what is measured is a process that serves, not one that wakes up.
    """
    floor, mine, floors = Floor().feed, list[int](), list[int]()
    ours, theirs, parser = fresh(chunks), fresh(chunks), make()
    with quiet():
        timed(make().feed, fresh(chunks[: BLOCK * 2]))
        for at in range(0, len(chunks), BLOCK):
            floors.append(timed(floor, theirs[at : at + BLOCK]))
            mine.append(timed(parser.feed, ours[at : at + BLOCK]))
        began = perf_counter_ns()
        parser.finish()
        mine.append(perf_counter_ns() - began)
    return mine, floors
