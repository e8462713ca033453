"""All workers that the gateway may send to, and the one question put to them: who takes this request?

No network and no tasks: workers are added when they are known, and whoever removes them closes them. Whether they are
well is found out by `health`, who is chosen by `policies`, how many requests there may be at all by `limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import ceil

from ...errors import InvalidConfig, Refused
from ..workers.worker import Worker
from .breaker import RULES, Breaker, BreakerRules
from .policies import Ask, Policy
from .seat import Lease, Seat

__all__ = ["RETRY_AFTER", "Fleet"]

RETRY_AFTER = 5
"""Seconds after which to ask again, where nobody knows when a worker will be back."""


class Fleet:
    """The registered workers.

    `now` is a clock that only goes forward. `removed` is told of each worker that has left, to close it.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        now: Callable[[], float],
        rules: BreakerRules = RULES,
        removed: Callable[[Worker], None] | None = None,
    ) -> None:
        self._policy, self._now, self._rules, self._removed = policy, now, rules, removed
        self._seats: dict[str, Seat] = {}

    def seats(self) -> tuple[Seat, ...]:
        """All of them, in the order in which they came."""
        return tuple(self._seats.values())

    def models(self) -> tuple[str, ...]:
        """The gateway's names of all that is served, sorted."""
        return tuple(sorted({model for seat in self._seats.values() for model in seat.models}))

    def add(self, worker: Worker, models: Mapping[str, str] | None = None) -> Seat:
        """A worker more, and the gateway's names of its models, each with the worker's own.

        Without `models` they are called what the worker calls them. Raises `InvalidConfig` for a name that is taken.
        """
        if worker.name in self._seats:
            raise InvalidConfig("workers", "names that differ", f"{worker.name!r} twice")
        if models is None:
            models = {model: model for model in worker.capabilities.models}
        seat = Seat(worker, models, Breaker(self._rules, self._now), self._vacated)
        self._seats[worker.name] = seat
        return seat

    def drain(self, name: str) -> None:
        """Let a worker do what it has and give it no more; then it is removed, at once if it has nothing.

        Raises `Refused` for a name that there is not.
        """
        seat = self._seat(name)
        seat.is_draining = True
        if not seat.requests:
            self._leave(seat)

    def remove(self, name: str) -> None:
        """A worker less, at once, whatever it has to do. Raises `Refused` for a name that there is not."""
        self._leave(self._seat(name))

    def lease(self, ask: Ask) -> Lease:
        """A worker for a request; raises `Refused` (503) where none can be given anything now.

        That includes a model that no worker serves: whether there is such a model is not the fleet's to say. Where
        all are unfit, it is one of them, who then says why.
        """
        serving = [seat for seat in self._seats.values() if ask.model in seat.models]
        serving = [seat for seat in serving if seat.name not in ask.unfit] or serving
        usable = [seat for seat in serving if seat.is_usable]
        if not usable:
            message = f"no worker is available for the model {ask.model!r}"
            raise Refused(503, "no_worker_available", message, retry_after=_retry_after(serving))
        untried = [seat for seat in usable if seat.name not in ask.without]
        return self._policy.choose(untried or usable, ask).lease(ask.model, ask.tokens)

    def _seat(self, name: str) -> Seat:
        if name not in self._seats:
            raise Refused(404, "worker_not_found", f"no worker has the name {name!r}")
        return self._seats[name]

    def _vacated(self, seat: Seat) -> None:
        # One that was removed before may have a successor of the same name.
        if seat.is_draining and self._seats.get(seat.name) is seat:
            self._leave(seat)

    def _leave(self, seat: Seat) -> None:
        del self._seats[seat.name]
        self._policy.forget(seat.name)
        if self._removed is not None:
            self._removed(seat.worker)


def _retry_after(seats: list[Seat]) -> int:
    """When the first breaker gives its worker another chance, if only that is in the way."""
    waits = [seat.breaker.wait for seat in seats if seat.is_well and not seat.is_draining]
    return max(1, ceil(min(waits))) if waits else RETRY_AFTER
