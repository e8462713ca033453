"""``/workers``: which workers there are, one more, one less; for administrators."""

from __future__ import annotations

import msgspec

from ..errors import InvalidConfig, Refused
from ..types import JSON
from .assembly import Assembly
from .config import WorkerEntry
from .door import Visit
from .fleet.seat import Seat
from .protocol.refusals import decoded, invalid
from .reply import send_body
from .secret import Secret
from .workers.register import KINDS

__all__ = ["AddWorker", "DropWorker", "ListWorkers", "ShowWorker"]


def _shown(seat: Seat) -> dict[str, JSON]:
    can = seat.worker.capabilities
    return {
        "name": seat.name,
        "kind": can.kind,
        "version": can.version,
        "speech": [speech.value for speech in can.speech],
        "models": dict(seat.models),
        "requests": seat.requests,
        "tokens": seat.tokens,
        "healthy": seat.is_well,
        "draining": seat.is_draining,
        "breaker": str(seat.breaker.state),
    }


class ListWorkers:
    """``GET /workers``"""

    def __init__(self, parts: Assembly) -> None:
        self._parts = parts

    async def __call__(self, visit: Visit) -> None:
        shown = [_shown(seat) for seat in self._parts.fleet.seats()]
        await send_body(visit.send, msgspec.json.encode({"workers": shown}), visit.headers)


class ShowWorker:
    """``GET /workers/{name}``"""

    def __init__(self, parts: Assembly) -> None:
        self._parts = parts

    async def __call__(self, visit: Visit) -> None:
        name = visit.path_params["name"]
        for seat in self._parts.fleet.seats():
            if seat.name == name:
                await send_body(visit.send, msgspec.json.encode(_shown(seat)), visit.headers)
                return
        raise Refused(404, "worker_not_found", f"there is no worker {name!r}", param="name")


class _Entry(msgspec.Struct, frozen=True):
    url: str
    kind: str | None = None
    models: tuple[str, ...] = ()
    key: str | None = None


class AddWorker:
    """``POST /workers``: ``{"url", "kind"?, "models"?, "key"?}``"""

    def __init__(self, parts: Assembly) -> None:
        self._parts = parts

    async def __call__(self, visit: Visit) -> None:
        given = decoded(visit.body, _Entry)
        if not given.url.startswith(("http://", "https://")):
            raise invalid("url", "'url' must be http://HOST:PORT or https://HOST:PORT")
        if given.kind is not None and given.kind not in KINDS:
            raise invalid("kind", f"'kind' must be one of {', '.join(KINDS)}, found {given.kind[:60]!r}")
        key = Secret(given.key) if given.key else None
        entry = WorkerEntry(url=given.url, kind=given.kind, models=given.models, key=key)
        try:
            seat = await self._parts.add(entry)
        except InvalidConfig as error:
            raise invalid("url", str(error)) from None
        await send_body(visit.send, msgspec.json.encode(_shown(seat)), visit.headers, status=201)


class DropWorker:
    """``DELETE /workers/{name}``: it gets nothing more, and leaves when it has done what it has."""

    def __init__(self, parts: Assembly) -> None:
        self._parts = parts

    async def __call__(self, visit: Visit) -> None:
        name = visit.path_params["name"]
        self._parts.fleet.drain(name)
        body = msgspec.json.encode({"name": name, "status": "draining"})
        await send_body(visit.send, body, visit.headers, status=202)
