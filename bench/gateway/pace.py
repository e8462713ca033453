"""When the fake worker says its next token: at once, or one each period, as an engine does that keeps its pace.

Streams are dealt to phases within the period, as if they ran on several engines whose steps fall on different moments.
A step that comes late is made up for by those behind it, so the pace does not depend on who listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from itertools import cycle

__all__ = ["Pace"]

PHASES = 8


class Pace:
    """Calls each stream once a period until it says that it has ended."""

    def __init__(self, loop: asyncio.AbstractEventLoop, period: float) -> None:
        self._loop, self._period = loop, period
        self._phases: list[set[Callable[[], bool]]] = [set() for _ in range(PHASES)]
        self._next_phase: Iterator[int] = cycle(range(PHASES))
        self._ticks, self._began = 0, 0.0

    def add(self, step: Callable[[], bool]) -> None:
        """Call it once a period, beginning within one; it says whether it goes on."""
        if not any(self._phases):
            self._began, self._ticks = self._loop.time(), 0
            self._loop.call_soon(self._tick)
        self._phases[next(self._next_phase)].add(step)

    def _tick(self) -> None:
        streams = self._phases[self._ticks % PHASES]
        for step in tuple(streams):
            if not step():
                streams.discard(step)
        self._ticks += 1
        if any(self._phases):
            self._loop.call_at(self._began + self._ticks * self._period / PHASES, self._tick)
