"""The answer to a request, while it comes: what has arrived and was not read yet, and how it ended."""

from __future__ import annotations

import asyncio
from typing import Protocol

from ...errors import WorkerFailed

__all__ = ["Response", "Source"]


class Source(Protocol):
    """Where an answer comes from."""

    def resume(self) -> None:
        """Go on reading, if that was paused."""
        ...

    def abort(self) -> None:
        """Close the socket at once."""
        ...


class Response:
    """An answer: its status and headers, then its body as it comes.

    Header names are in lower case. `unread` counts the bytes that have arrived and were not read.
    """

    __slots__ = ("_chunks", "_error", "_loop", "_source", "_waiter", "ended", "headers", "status", "unread")

    def __init__(self, loop: asyncio.AbstractEventLoop, source: Source) -> None:
        self._loop = loop
        self._source: Source | None = source
        self._chunks: list[bytes] = []
        self._error: WorkerFailed | None = None
        self._waiter: asyncio.Future[None] | None = None
        self.status = 0
        self.headers: dict[str, str] = {}
        self.unread = 0
        self.ended = False

    async def head(self) -> None:
        """Waits for status and headers; raises `WorkerFailed`."""
        while not self.status and self._error is None:
            await self._wait()
        if not self.status and self._error is not None:
            raise self._error

    async def read(self) -> bytes:
        """All bytes that have arrived since the last read, at least one; ``b""`` at the end.

        Raises `WorkerFailed` if the body breaks off, after all that came before. One reader at a time.
        """
        while not self._chunks:
            if self._error is not None:
                raise self._error
            if self.ended:
                return b""
            await self._wait()
        chunks = self._chunks
        self._chunks = []
        self.unread = 0
        if self._source is not None:
            self._source.resume()
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    async def collect(self, limit: int) -> bytes:
        """The rest of the body, cut off behind `limit` bytes; the answer is then closed."""
        parts: list[bytes] = []
        size = 0
        while size <= limit and (data := await self.read()):
            parts.append(data)
            size += len(data)
        self.close()
        return b"".join(parts)[:limit]

    def close(self) -> None:
        """Ends the answer at once: unless the body has ended, the connection is cut, which tells the worker to stop."""
        source, self._source = self._source, None
        self._chunks.clear()
        if source is not None and not self.ended:
            self.ended = True
            source.abort()

    # What the connection does.

    def begin(self, status: int, headers: dict[str, str]) -> None:
        """Status and headers are there."""
        self.status, self.headers = status, headers
        self.wake()

    def add(self, chunk: bytes) -> None:
        """A piece of the body; `wake` follows when all that one read from the socket holds is in."""
        self._chunks.append(chunk)
        self.unread += len(chunk)

    def end(self) -> None:
        """The body is complete; the connection has other work now."""
        self.ended = True
        self._source = None
        self.wake()

    def fail(self, error: WorkerFailed) -> None:
        """Nothing more will come."""
        if not self.ended and self._error is None:
            self._error = error
            self._source = None
            self.wake()

    def wake(self) -> None:
        """Lets the reader look."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
