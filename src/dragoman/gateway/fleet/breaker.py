"""A circuit breaker for one worker: after too many faults nothing is sent there for a while, then a trial at a time.

A state machine over a clock that is passed in: no I/O, no timers. What counts as a fault is said by whoever reports
(`WorkerFailed.is_fault`); `seat` reports what became of each request. Whether a worker answers at all is `health`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from ...errors import InvalidConfig

__all__ = ["RULES", "Breaker", "BreakerRules", "BreakerState", "Verdict"]


class BreakerState(StrEnum):
    """What a breaker lets through."""

    CLOSED = "closed"
    """Everything."""
    OPEN = "open"
    """Nothing, until the pause is over."""
    HALF_OPEN = "half_open"
    """A few trials at a time."""


class Verdict(StrEnum):
    """What became of a request, as far as it tells of the worker."""

    SUCCESS = "success"
    FAULT = "fault"
    NOTHING = "nothing"
    """The caller left, or the worker refused: neither speaks for it nor against it."""


class BreakerRules(Struct, frozen=True, kw_only=True):
    """When a breaker opens and closes; times are seconds.

    It opens with the last of so many `faults` within a `window`, if they are at least this `share` of what has ended
    since the first of them: a busy worker has its ten faults sooner or later. After a `pause` it lets so many `trials`
    through at a time, and closes with the last of so many `successes`; one more fault opens it again.
    """

    faults: int = 10
    window: float = 120.0
    share: float = 0.2
    pause: float = 60.0
    trials: int = 1
    successes: int = 3

    def __post_init__(self) -> None:
        for name in ("faults", "trials", "successes"):
            if getattr(self, name) < 1:
                raise InvalidConfig(f"breaker.{name}", "at least 1", str(getattr(self, name)))


RULES = BreakerRules()
"""Those of a breaker that nobody sets."""


class _Fault(Struct, frozen=True, gc=False):
    """When it was, and how many successes there had been by then."""

    time: float
    successes: int


class Breaker:
    """Counts the faults of one worker; holds as many as the rules speak of, and no more.

    Who sends a request takes a ticket with `begin` and brings it back with `settle`, once. A ticket from before the
    last opening or closing tells of a worker that is no more, and is ignored.
    """

    __slots__ = ("_epoch", "_faults", "_now", "_opened", "_passed", "_rules", "_successes", "_trials")

    def __init__(self, rules: BreakerRules, now: Callable[[], float]) -> None:
        self._rules, self._now = rules, now
        self._faults: deque[_Fault] = deque(maxlen=rules.faults)
        self._opened: float | None = None
        self._epoch = self._successes = self._trials = self._passed = 0

    @property
    def state(self) -> BreakerState:
        """Open turns into half-open as time goes by, without being told."""
        if self._opened is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self.wait > 0 else BreakerState.HALF_OPEN

    @property
    def wait(self) -> float:
        """The seconds until something may be let through again; 0 where no pause is on."""
        if self._opened is None:
            return 0.0
        return max(0.0, self._opened + self._rules.pause - self._now())

    @property
    def lets_through(self) -> bool:
        """Whether a request may be sent now."""
        state = self.state
        return state is BreakerState.CLOSED or (state is BreakerState.HALF_OPEN and self._trials < self._rules.trials)

    def begin(self) -> int:
        """The ticket of a request that is sent; where none is let through, one that counts for nothing."""
        if not self.lets_through:
            return -1
        if self._opened is not None:
            self._trials += 1
        return self._epoch

    def settle(self, ticket: int, verdict: Verdict) -> None:
        """What became of the request with this ticket."""
        if ticket != self._epoch:
            return
        if self._opened is None:
            self._count(verdict)
            return
        self._trials -= 1
        if verdict is Verdict.FAULT:
            self._turn(opened=self._now())
        elif verdict is Verdict.SUCCESS:
            self._passed += 1
            if self._passed >= self._rules.successes:
                self._turn(opened=None)

    def _count(self, verdict: Verdict) -> None:
        if verdict is Verdict.SUCCESS:
            self._successes += 1
        elif verdict is Verdict.FAULT:
            now = self._now()
            self._faults.append(_Fault(now, self._successes))
            if self._is_too_much(now):
                self._turn(opened=now)

    def _is_too_much(self, now: float) -> bool:
        first, count = self._faults[0], len(self._faults)
        if count < self._rules.faults or now - first.time > self._rules.window:
            return False
        return count >= self._rules.share * (count + self._successes - first.successes)

    def _turn(self, opened: float | None) -> None:
        self._opened = opened
        self._epoch += 1
        self._successes = self._trials = self._passed = 0
        self._faults.clear()
