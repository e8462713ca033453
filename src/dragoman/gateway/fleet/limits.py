"""How many requests there may be at a time, how long one may wait for its turn, and when one is tried again.

`Gate` is the only thing in the fleet that waits. Which worker is tried is decided by `fleet`, and that nothing is tried
again once the caller has seen a byte is the business of whoever sends.
"""

from __future__ import annotations

import asyncio
from random import Random
from types import TracebackType

from msgspec import Struct

from ...errors import InvalidConfig, Refused, WorkerFailed

__all__ = ["RETRYABLE", "RETRY_AFTER", "Gate", "Outputs", "Retries", "is_retryable"]

RETRY_AFTER = 2
"""Seconds after which to come again where the queue was too long: nobody knows, but not at once."""

RETRYABLE = frozenset({408, 429, 500, 502, 503, 504})
"""Statuses with which another worker, or the same one later, may do better."""


class Gate:
    """Lets at most `concurrent` requests in at a time; at most `queue` more wait for at most `patience` seconds.

    Whoever came first goes in first. ``async with gate:`` raises `Refused` (429) where the queue is full, or the
    patience over. A waiter that is cancelled leaves nothing behind.
    """

    def __init__(self, concurrent: int, queue: int, patience: float) -> None:
        if concurrent < 1:
            raise InvalidConfig("concurrent", "at least 1", str(concurrent))
        self.concurrent, self.queue, self.patience = concurrent, queue, patience
        self._inside = 0
        self._turns: dict[asyncio.Future[bool], None] = {}

    @property
    def inside(self) -> int:
        """How many are in."""
        return self._inside

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._turns)

    async def __aenter__(self) -> Gate:
        if self._inside < self.concurrent:
            self._inside += 1
        elif len(self._turns) >= self.queue:
            message = f"too many requests: {self._inside} are served and {len(self._turns)} wait"
            raise Refused(429, "queue_full", message, retry_after=RETRY_AFTER)
        elif not await self._wait():
            message = f"too many requests: none ended within {self.patience:g} seconds of waiting"
            raise Refused(429, "queue_timeout", message, retry_after=RETRY_AFTER)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    async def _wait(self) -> bool:
        """Whether the turn came before the patience was over."""
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[bool] = loop.create_future()
        self._turns[turn] = None
        alarm = loop.call_later(self.patience, self._call, turn, False)
        try:
            return await turn
        except BaseException:
            self._turns.pop(turn, None)
            if turn.done() and not turn.cancelled() and turn.result():
                self._leave()  # the turn had come, but whose it was is gone
            raise
        finally:
            alarm.cancel()

    def _leave(self) -> None:
        """Give the place to who waits longest, where there are not too many in; it stays taken."""
        for turn in list(self._turns) if self._inside <= self.concurrent else ():
            if self._call(turn, True):
                return
        self._inside -= 1

    def _call(self, turn: asyncio.Future[bool], may_enter: bool) -> bool:
        """Tell a waiter how it ends, unless it was cancelled; returns whether it could be told."""
        self._turns.pop(turn, None)
        if turn.done():
            return False
        turn.set_result(may_enter)
        return True


class Outputs:
    """How many places one who is in takes: one for each output, beyond the limit if need be, since it is in already.

    Others then wait until so many have left. A context manager, within that of the gate.
    """

    __slots__ = ("_gate", "_more")

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._more = 0

    def count(self, outputs: int) -> None:
        """So many in all."""
        self._gate._inside += outputs - 1 - self._more
        self._more = outputs - 1

    def __enter__(self) -> Outputs:
        return self

    def __exit__(self, *error: object) -> None:
        for _ in range(self._more):
            self._gate._leave()


class Retries(Struct, frozen=True, kw_only=True):
    """How often a request is sent at most, and how long to wait before the next time; times are seconds.

    The pause grows by `factor` from `base` to `cap`, give or take a share of `jitter`.
    """

    attempts: int = 3
    base: float = 0.05
    factor: float = 1.5
    cap: float = 30.0
    jitter: float = 0.2

    def pause(self, attempt: int, random: Random) -> float:
        """How long to wait after this attempt, counted from 1."""
        grown = self.base
        for _ in range(attempt - 1):
            if grown >= self.cap:
                break
            grown *= self.factor
        return min(self.cap, grown) * (1 + self.jitter * random.uniform(-1, 1))


def is_retryable(error: WorkerFailed) -> bool:
    """Whether sending the request again may help; true as well where there was no answer at all."""
    return error.status is None or error.status in RETRYABLE
