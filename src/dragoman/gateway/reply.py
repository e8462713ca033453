"""Answers as ASGI messages: a lean stream of server-sent events, whole bodies, and the client's going away.

A stream is written block by block, each with one `send`, whose backpressure is the server's. While one waits for its
worker, `Heart` sends a comment now and then, so that proxies don't take it for dead; it also ends streams whose client
has stopped reading.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, MutableMapping
from typing import Any, TypeAlias

from ..errors import Refused
from ..stream.sse import comment
from .protocol.refusals import error_body

__all__ = ["Heart", "Receive", "Scope", "Send", "Watch", "read_body", "send_body", "send_refusal", "send_stream"]

Scope: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers: TypeAlias = Iterable[tuple[bytes, bytes]]

_STREAM = (
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
    (b"x-accel-buffering", b"no"),
)

_BEAT = comment("")


class Gone(Exception):
    """The client has left: there is nobody to answer."""


async def read_body(receive: Receive, limit: int, scope: Scope) -> bytes:
    """The body of a request; raises `Refused` beyond the limit, and `Gone`."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise _too_large(limit)
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Gone
        piece: bytes = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)


def _too_large(limit: int) -> Refused:
    return Refused(413, "request_too_large", f"the body is larger than {limit} bytes, the most that is taken here")


class Watch:
    """Ends the current task as soon as the client leaves; used as a context manager around all work for it."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self.is_gone = False

    async def __aenter__(self) -> Watch:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._watching = asyncio.ensure_future(self._wait())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> bool:
        self._watching.cancel()
        if self.is_gone and kind is asyncio.CancelledError:
            self._task.uncancel()
            return True
        return False

    def end(self) -> None:
        """The same as if the client had left."""
        if not self.is_gone:
            self.is_gone = True
            self._task.cancel()

    async def _wait(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self.end()


class _Line:
    """A stream that is being written; `busy` since when it waits for the client, `quiet` since when it does not."""

    __slots__ = ("_comment", "_send", "busy", "quiet", "watch")

    def __init__(self, send: Send, watch: Watch, now: float) -> None:
        self._send, self.watch = send, watch
        self.busy: float | None = now
        self.quiet = now
        self._comment: asyncio.Future[None] | None = None

    def comment(self, now: float) -> None:
        """Begin to send a comment; it waits for the client like everything else."""
        self.busy = now
        self._comment = asyncio.ensure_future(self._beat(now))

    def close(self) -> None:
        """No more comments."""
        if self._comment is not None:
            self._comment.cancel()

    async def _beat(self, now: float) -> None:
        await self._send({"type": "http.response.body", "body": _BEAT, "more_body": True})
        if self.busy == now:
            self.quiet, self.busy = now, None


class Heart:
    """One task for all streams: comments for the quiet ones, the end for those that nobody reads."""

    def __init__(self, every: float, patience: float, clock: Callable[[], float]) -> None:
        self._every, self._patience, self.clock = every, patience, clock
        self.lines: set[_Line] = set()

    def beat(self) -> None:
        """Go round once."""
        now = self.clock()
        for line in list(self.lines):
            if line.busy is not None:
                if now - line.busy > self._patience:
                    line.watch.end()
            elif now - line.quiet >= self._every:
                line.comment(now)

    async def run(self) -> None:
        """Go round for ever."""
        while True:
            await asyncio.sleep(min(self._every, self._patience) / 4)
            self.beat()


async def send_stream(send: Send, blocks: AsyncGenerator[bytes], watch: Watch, heart: Heart, headers: Headers) -> None:
    """Write a stream to its end; one `send` a block."""
    clock = heart.clock
    line = _Line(send, watch, clock())
    heart.lines.add(line)
    try:
        await send({"type": "http.response.start", "status": 200, "headers": [*_STREAM, *headers]})
        line.busy = None
        async for block in blocks:
            line.busy = clock()
            await send({"type": "http.response.body", "body": block, "more_body": True})
            line.quiet, line.busy = line.busy, None
        line.close()
        line.busy = clock()
        await send({"type": "http.response.body", "body": b"", "more_body": False})
    finally:
        heart.lines.discard(line)
        line.close()
        await blocks.aclose()


async def send_body(
    send: Send, body: bytes, headers: Headers = (), *, status: int = 200, kind: bytes = b"application/json"
) -> None:
    """Write a whole answer."""
    own = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": status, "headers": own})
    await send({"type": "http.response.body", "body": body})


async def send_refusal(send: Send, refused: Refused, headers: Headers = ()) -> None:
    """Write an error in OpenAI's shape."""
    more = [(b"retry-after", str(refused.retry_after).encode())] if refused.retry_after is not None else []
    if refused.status == 401:
        more.append((b"www-authenticate", b"Bearer"))
    await send_body(send, error_body(refused), (*headers, *more), status=refused.status)
