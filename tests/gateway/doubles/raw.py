"""A server that writes what it is told, byte for byte: for what no honest server would answer."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from types import TracebackType

__all__ = ["Asked", "RawServer", "reset"]

Answer = Callable[["Asked"], Awaitable[None]]


class Asked:
    """A request that has come in, and the way back: `write` bytes, then return to wait for the next request."""

    def __init__(self, head: str, headers: dict[str, str], body: bytes, writer: asyncio.StreamWriter) -> None:
        self.head, self.headers, self.body, self.writer = head, headers, body, writer

    async def write(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self.writer.write(data)
        await self.writer.drain()


def reset(writer: asyncio.StreamWriter) -> None:
    """Breaks the connection as a process that is killed does: with RST."""
    sock: socket.socket = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class RawServer:
    """``async with RawServer(answer) as server``: each request is given to `answer`; `connections` counts them."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.connections = 0
        self.open = 0
        """Connections that the other side has not closed."""
        self.asked: list[Asked] = []

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> RawServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: type[BaseException] | TracebackType | BaseException | None) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def closed(self) -> None:
        """Waits until no connection is open."""
        async with asyncio.timeout(5):
            while self.open:
                await asyncio.sleep(0.002)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.open += 1
        try:
            while not writer.is_closing():
                asked = await _request(reader, writer)
                self.asked.append(asked)
                watch = asyncio.ensure_future(self._answer(asked))
                # Whoever asked may hang up while the answer is being written.
                hung_up = asyncio.ensure_future(_hung_up(reader))
                try:
                    await asyncio.wait({watch, hung_up}, return_when=asyncio.FIRST_COMPLETED)
                    if hung_up.done():
                        break
                    await watch
                finally:
                    for each in (watch, hung_up):
                        each.cancel()
                    await asyncio.gather(watch, hung_up, return_exceptions=True)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self.open -= 1
            self._tasks.discard(task)
            writer.transport.abort()


async def _hung_up(reader: asyncio.StreamReader) -> None:
    """Waits until the other side closes, reading nothing of a next request."""
    while not reader.at_eof() and reader.exception() is None:
        await asyncio.sleep(0.002)


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Asked(first, headers, body, writer)
