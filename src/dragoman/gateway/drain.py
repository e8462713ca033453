"""The way out: no new requests, time for those that run, and a last word to streams that take too long.

`Draining` wraps the app and knows nothing of what it serves. While it drains, ``/ready`` is answered 503, so that
whoever balances the load looks elsewhere, and so is everything but the pages of operators. Who cuts and when is the
business of `dragoman.gateway.server`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import TypeAlias

import msgspec

from ..errors import DragomanError

__all__ = ["App", "Draining", "Message", "Receive", "Send"]

Message: TypeAlias = MutableMapping[str, object]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]
"""An application as ASGI has it; the values of its messages are whatever the standard says."""

ALWAYS = frozenset({"/", "/health", "/healthz", "/live", "/metrics"})
"""Pages that are answered to the end."""

READY = "/ready"

_SAID = "the gateway is shutting down"


class Draining:
    """An app that can be told to come to an end."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._running: dict[asyncio.Task[object], _Answer] = {}
        self.begun = False

    def begin(self) -> None:
        """Let no new requests in."""
        self.begun = True

    @property
    def running(self) -> int:
        """How many requests have not been answered to the end."""
        return len(self._running)

    def cut(self) -> None:
        """End all that runs: a stream with an error event, so that its client knows."""
        for task, answer in self._running.items():
            answer.cut = True
            task.cancel()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "lifespan":
            await _live(self._app, scope, receive, send)
        elif scope["path"] in ALWAYS:
            await self._app(scope, receive, send)
        elif self.begun:
            await _refuse(send, ready=scope["path"] == READY)
        else:
            await self._watched(scope, receive, send)

    async def _watched(self, scope: Message, receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None
        answer = self._running[task] = _Answer(send, str(scope["path"]))
        try:
            await self._app(scope, receive, answer.send)
        except asyncio.CancelledError:
            if not answer.cut:
                raise
            task.uncancel()
            await answer.end()
        finally:
            del self._running[task]


async def _live(app: App, scope: Message, receive: Receive, send: Send) -> None:
    """The app's beginning and end; a caller's mistake that keeps it from beginning is said without a traceback."""
    failed: list[Message] = []

    async def hold(message: Message) -> None:
        if message["type"] == "lifespan.startup.failed":
            failed.append(message)
        else:
            await send(message)

    try:
        await app(scope, receive, hold)
    except DragomanError as error:
        if failed:
            await send({"type": "lifespan.startup.failed", "message": str(error)})
            return
        raise
    except BaseException:
        for message in failed:
            await send(message)
        raise


class _Answer:
    """What has been sent of one answer."""

    def __init__(self, send: Send, path: str) -> None:
        self._send, self._path = send, path
        self._is_begun = self._is_stream = self._is_ended = False
        self.cut = False

    def send(self, message: Message) -> Awaitable[None]:
        if not message.get("more_body"):  # one look at each piece of a stream, and no coroutine of our own
            self._note(message)
        return self._send(message)

    def _note(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._is_begun, self._is_stream = True, _is_stream(message)
        else:
            self._is_ended = True

    async def end(self) -> None:
        """Say why there is no more; an answer of known length is broken off by the server."""
        if not self._is_begun:
            await _refuse(self._send, ready=False)
        elif self._is_stream and not self._is_ended:
            await self._send({"type": "http.response.body", "body": _event(self._path), "more_body": False})


def _is_stream(message: Message) -> bool:
    headers = message.get("headers")
    listed = headers if isinstance(headers, list | tuple) else ()
    return any(name.lower() == b"content-type" and b"event-stream" in value for name, value in listed)


def _error() -> dict[str, object]:
    return {"message": _SAID, "type": "server_error", "param": None, "code": "shutting_down"}


def _event(path: str) -> bytes:
    """The error as an event of the API that the stream belongs to."""
    if path.endswith("/responses"):
        return _sse(b"error", _error() | {"type": "error"})
    if path.endswith("/messages"):
        error = {"type": "overloaded_error", "message": _SAID}
        return _sse(b"error", {"type": "error", "error": error})
    return b"data: " + msgspec.json.encode({"error": _error()}) + b"\n\ndata: [DONE]\n\n"


def _sse(name: bytes, value: object) -> bytes:
    return b"event: " + name + b"\ndata: " + msgspec.json.encode(value) + b"\n\n"


async def _refuse(send: Send, *, ready: bool) -> None:
    """503, and that the connection is of no more use."""
    body = msgspec.json.encode({"status": "draining"} if ready else {"error": _error()})
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", b"1"),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
