"""What every request has in common: who asks, how large it is, its turn, its id and trace, its log line, metrics.

A `Door` is the ASGI app of one endpoint. Behind it, the endpoint's own `Work` gets a `Visit` and answers it; whatever
it raises is answered here, and everything ends at once when the client leaves.
"""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from ..errors import DragomanError, Refused
from .fleet.keys import Access
from .fleet.limits import Gate, Outputs
from .observe.logs import Access as Line
from .observe.logs import log_access
from .observe.metrics import Bound, Metrics, Tokens
from .observe.trace import request_id, trace_of
from .protocol.refusals import BROKEN, refusal_of
from .record import Record
from .reply import Gone, Heart, Receive, Scope, Send, Watch, read_body, send_refusal, send_stream

__all__ = ["Door", "Hall", "Visit", "Work"]

LEFT = 499
"""The status that the log has for a client that left, as nginx has it."""

_log = logging.getLogger("dragoman.gateway")


class Visit:
    """One request and the way back."""

    __slots__ = ("body", "headers", "outputs", "record", "scope", "send", "trace", "watch")

    def __init__(self, scope: Scope, send: Send, record: Record, trace: tuple[tuple[str, str], ...]) -> None:
        self.scope, self.send, self.record, self.trace = scope, send, record, trace
        self.headers = [(b"x-request-id", record.id.encode())]
        self.body = b""
        self.watch: Watch
        self.outputs: Outputs | None = None

    def weigh(self, outputs: int) -> None:
        """It is as much work as so many requests of one output each."""
        if self.outputs is not None:
            self.outputs.count(outputs)

    @property
    def path_params(self) -> dict[str, str]:
        """The variable parts of the path."""
        return dict(self.scope.get("path_params", {}))


class Work(Protocol):
    """What an endpoint does."""

    def __call__(self, visit: Visit) -> Awaitable[None]: ...


class Hall:
    """What all doors share."""

    def __init__(
        self, *, access: Access, gate: Gate, metrics: Metrics, heart: Heart, clock: Callable[[], float], body_bytes: int
    ) -> None:
        self.access, self.gate, self.metrics, self.heart = access, gate, metrics, heart
        self.clock, self.body_bytes = clock, body_bytes

    async def stream(self, visit: Visit, blocks: AsyncGenerator[bytes]) -> None:
        """Answer with a stream of these blocks."""
        self.metrics.stream_opened()
        try:
            await send_stream(visit.send, blocks, visit.watch, self.heart, visit.headers)
        finally:
            self.metrics.stream_closed()


class Door:
    """One endpoint: `waits` are those whose requests take their turn, `guarded` those for administrators."""

    def __init__(self, hall: Hall, endpoint: str, work: Work, *, guarded: bool = False, waits: bool = False) -> None:
        self._hall, self._endpoint, self._work = hall, endpoint, work
        self._guarded, self._waits = guarded, waits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        hall = self._hall
        given = {name: value.decode("latin-1") for name, value in scope["headers"]}
        trace = trace_of(given.get(b"traceparent"), given.get(b"tracestate"), os.urandom)
        record = Record(request_id(given.get(b"x-request-id"), os.urandom), self._endpoint, hall.clock())
        counted: list[Bound] = []

        def meet(model: str | None) -> None:
            counted.append(hall.metrics.bound(model, self._endpoint))
            counted[-1].begun()

        record.meet = meet
        visit = Visit(scope, _Noting(send, record), record, trace.headers())
        try:
            self._admit(given.get(b"authorization") or _bearer(given.get(b"x-api-key")))
            visit.body = await read_body(receive, hall.body_bytes, scope)
            async with Watch(receive) as visit.watch:
                await self._attend(visit)
            if visit.watch.is_gone:
                record.status = LEFT
        except Gone:
            record.status = LEFT
        except DragomanError as error:
            await self._refuse(visit, refusal_of(error))
        except Exception:
            _log.exception("request %s failed", record.id)
            await self._refuse(visit, BROKEN)
        finally:
            record.ended = hall.clock()
            if not counted:
                meet(None)
            self._tell(record, counted[0], trace.trace)

    async def _attend(self, visit: Visit) -> None:
        try:
            if not self._waits:
                await self._work(visit)
                return
            async with self._hall.gate:
                with Outputs(self._hall.gate) as visit.outputs:
                    visit.record.stages["queue"] = self._hall.clock() - visit.record.begun
                    await self._work(visit)
        except DragomanError as error:
            await self._refuse(visit, refusal_of(error))

    def _admit(self, key: str | None) -> None:
        access = self._hall.access
        if self._guarded:
            if not len(access.admins):
                message = "the gateway has no keys for administrators, so that nobody may do this"
                raise Refused(403, "administration_disabled", message)
            if not access.may_administer(key):
                raise Refused(401, "invalid_api_key", "this needs an administrator's key: Authorization: Bearer ...")
        elif not access.may_ask(key):
            raise Refused(401, "invalid_api_key", "this needs a key that the gateway knows: Authorization: Bearer ...")

    async def _refuse(self, visit: Visit, refused: Refused) -> None:
        record = visit.record
        record.code = refused.code
        if record.status == 0:
            await send_refusal(visit.send, refused, visit.headers)

    def _tell(self, record: Record, bound: Bound, trace: str) -> None:
        """To the metrics and the log."""
        assert record.ended is not None
        took = record.ended - record.begun
        for stage, seconds in record.stages.items():
            bound.stage(stage, seconds)
        first = record.first - record.begun if record.first is not None else None
        if first is not None:
            bound.first_token(first)
        for kind, count in record.problems.items():
            bound.problem(record.dialect, kind, count)
        if record.residue:
            bound.residue(record.dialect, record.residue)
        for worker in record.retries:
            self._hall.metrics.worker(worker).retried()
        used = Tokens(
            record.prompt_tokens, record.completion_tokens, record.cached_tokens, first, record.reasoning_tokens
        )
        bound.finished(record.status or LEFT, took, used if record.finish else None)
        log_access(
            Line(
                request=record.id,
                endpoint=record.endpoint,
                status=record.status or LEFT,
                seconds=took,
                model=record.model,
                worker=record.worker,
                stream=record.streamed,
                queued_seconds=record.stages.get("queue"),
                first_token_seconds=first,
                prompt_tokens=record.prompt_tokens or None,
                completion_tokens=record.completion_tokens or None,
                cached_tokens=record.cached_tokens or None,
                reasoning_tokens=record.reasoning_tokens or None,
                finish=tuple(record.finish),
                retries=len(record.retries),
                problems=dict(record.problems),
                error=record.code,
                trace=trace,
            )
        )


class _Noting:
    """Sends, and notes the status."""

    __slots__ = ("_record", "_send")

    def __init__(self, send: Send, record: Record) -> None:
        self._send, self._record = send, record

    def __call__(self, message: MutableMapping[str, Any]) -> Awaitable[None]:
        if message["type"] == "http.response.start":
            self._record.status = message["status"]
        return self._send(message)


def _bearer(key: str | None) -> str | None:
    return f"Bearer {key}" if key is not None else None
