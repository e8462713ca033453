"""A worker's place in the fleet, and the lease by which a request holds on to it.

A `Seat` knows how much its worker has to do and whether it can be given more; a `Lease` is counted there for as long
as the request lives, the answer's last byte included. Who gets which seat is decided by `policies`, in `fleet`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType, TracebackType

from ...errors import WorkerFailed
from ..workers.worker import Worker
from .breaker import Breaker, Verdict

__all__ = ["Lease", "Seat"]


class Seat:
    """A registered worker and its state.

    `models` maps the gateway's names of models to the worker's own. `requests` and `tokens` are what its leases hold.
    `is_well` is set by the health check, `is_draining` once it shall get nothing more.
    """

    __slots__ = ("_vacated", "breaker", "is_draining", "is_well", "models", "requests", "tokens", "worker")

    def __init__(
        self,
        worker: Worker,
        models: Mapping[str, str],
        breaker: Breaker,
        vacated: Callable[[Seat], None] | None = None,
    ) -> None:
        self.worker, self.models, self.breaker = worker, MappingProxyType(dict(models)), breaker
        self.requests = self.tokens = 0
        self.is_well, self.is_draining = True, False
        self._vacated = vacated

    @property
    def name(self) -> str:
        """The worker's."""
        return self.worker.name

    @property
    def is_usable(self) -> bool:
        """Whether it may be given a request now."""
        return self.is_well and not self.is_draining and self.breaker.lets_through

    @property
    def load(self) -> tuple[int, int]:
        """What it has to do, to be compared: requests, and among equals tokens."""
        return self.requests, self.tokens

    def lease(self, model: str, tokens: int = 0) -> Lease:
        """Take it for one request to a model, by the gateway's name of it."""
        return Lease(self, self.models[model], tokens)

    def _taken(self, tokens: int) -> None:
        self.requests += 1
        self.tokens += tokens

    def _released(self, tokens: int) -> None:
        self.requests -= 1
        self.tokens -= tokens
        if not self.requests and self._vacated is not None:
            self._vacated(self)

    def __repr__(self) -> str:
        return f"<Seat {self.name}: {self.requests} requests, {self.breaker.state}>"


class Lease:
    """A seat that is taken for one request, until `release`; the answer's stream holds it to its end.

    As a context manager it is released at the end of the block, and a `WorkerFailed` that passes through is reported.
    """

    __slots__ = ("_is_held", "_is_settled", "_ticket", "_tokens", "model", "seat")

    def __init__(self, seat: Seat, model: str, tokens: int) -> None:
        self.seat, self.model = seat, model
        self._tokens = tokens
        self._is_held, self._is_settled = True, False
        self._ticket = seat.breaker.begin()
        seat._taken(tokens)

    @property
    def worker(self) -> Worker:
        """Who is to do the work; `model` is its own name of the model."""
        return self.seat.worker

    def succeeded(self) -> None:
        """The worker did its work. Of several reports the first counts."""
        self._settle(Verdict.SUCCESS)

    def failed(self, error: WorkerFailed) -> None:
        """The worker did not do its work; whether that counts against it is told by the error."""
        self._settle(Verdict.FAULT if error.is_fault else Verdict.NOTHING)

    def release(self) -> None:
        """Give the seat back, once; again does nothing. Without a report, nothing is held against the worker."""
        self._settle(Verdict.NOTHING)
        if self._is_held:
            self._is_held = False
            self.seat._released(self._tokens)

    def _settle(self, verdict: Verdict) -> None:
        if not self._is_settled:
            self._is_settled = True
            self.seat.breaker.settle(self._ticket, verdict)

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, WorkerFailed):
            self.failed(error)
        self.release()
