"""A beat that all connections share: who has just read waits for the next one, and then all read together.

What costs is not the token but the waking up, for the process and for its caches: streams that each wake it on their
own cost several times what they do side by side (docs/gateway/performance.md).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from math import floor

__all__ = ["Tick"]


class Tick:
    """Calls back at the next multiple of `seconds`; costs nothing while nobody waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float) -> None:
        self._loop, self._seconds = loop, seconds
        self._waiting: list[Callable[[], None]] = []

    def wait(self, callback: Callable[[], None]) -> None:
        """Call this at the next beat."""
        if not self._waiting:
            beat = (floor(self._loop.time() / self._seconds) + 1) * self._seconds
            self._loop.call_at(beat, self._beat)
        self._waiting.append(callback)

    def _beat(self) -> None:
        waiting, self._waiting = self._waiting, []
        for callback in waiting:
            callback()
