"""Asks all workers from time to time whether they are well: a few silences in a row and one gets no more requests.

One task, no state but the streaks. What requests tell of a worker is counted by `breaker`; the two are independent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType

from .fleet import Fleet
from .seat import Seat

__all__ = ["HealthCheck"]


class HealthCheck:
    """Keeps `Seat.is_well` true to the workers; runs for the length of an ``async with`` block, or as `run`.

    `every` so many seconds all are asked at once, each for at most `timeout` seconds. After `fails` bad answers in a
    row a worker is unwell, after `passes` good ones well again: one that is restarted comes back by itself.
    """

    def __init__(
        self,
        fleet: Fleet,
        *,
        every: float = 10.0,
        fails: int = 3,
        passes: int = 2,
        timeout: float = 5.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._fleet, self._every, self._timeout, self._sleep = fleet, every, timeout, sleep
        self._needed = {True: passes, False: fails}
        self._streaks: dict[Seat, int] = {}
        self._task: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Round after round, until cancelled."""
        while True:
            await self.check()
            await self._sleep(self._every)

    async def check(self) -> None:
        """One round: ask all that are there, and wait for all answers."""
        async with asyncio.TaskGroup() as group:
            asked = [(seat, group.create_task(self._ask(seat))) for seat in self._fleet.seats()]
        # Streaks of seats that are gone are not taken along.
        self._streaks = {seat: self._streak(seat, task.result()) for seat, task in asked}

    async def _ask(self, seat: Seat) -> bool:
        try:
            async with asyncio.timeout(self._timeout):
                return await seat.worker.is_well()
        except Exception:  # a worker that breaks its promise not to raise must not end the check of the others
            return False

    def _streak(self, seat: Seat, answer: bool) -> int:
        """How many answers in a row have now contradicted what is believed; enough of them are believed."""
        streak = 0 if answer == seat.is_well else self._streaks.get(seat, 0) + 1
        if streak < self._needed[answer]:
            return streak
        seat.is_well = answer
        return 0

    async def __aenter__(self) -> HealthCheck:
        self._task = asyncio.create_task(self.run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.result()
