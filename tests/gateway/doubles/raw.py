"""A server that writes what it is told, byte for byte: for what no honest server answers, and under the doubles."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable
from typing import Self, cast

from httptools import HttpRequestParser

__all__ = ["Asked", "RawServer", "reset"]


class RawServer:
    """``async with RawServer(answer) as server``: each request is given to `answer`.

    `answer` writes to the request's way back and returns; it is cancelled when whoever asked hangs up. `connections`
    counts those that were made, `open` those that the other side has not closed; `asked` are the requests.
    """

    def __init__(self, answer: Callable[[Asked], Awaitable[None]]) -> None:
        self._answer = answer
        self._server: asyncio.Server | None = None
        self._port = 0
        self._serving: set[_Serving] = set()
        self.connections = 0
        self.asked: list[Asked] = []
        self.cancelled = 0
        """Answers that were broken off by the other side."""

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._port}"

    @property
    def open(self) -> int:
        return len(self._serving)

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Serving(self), "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.kill()

    async def kill(self) -> None:
        """Ends as a process that is killed does: its connections break, and nobody listens. It may be entered again."""
        assert self._server is not None
        self._server.close()
        tasks = set()
        async with asyncio.timeout(5):
            while self._serving:  # some are only being accepted
                tasks |= {serving.task for serving in self._serving if serving.task is not None}
                for serving in list(self._serving):
                    reset(serving.transport)
                await asyncio.sleep(0.001)
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def closed(self) -> None:
        """Waits until no connection is open."""
        async with asyncio.timeout(5):
            while self._serving:
                await asyncio.sleep(0.001)


class Asked:
    """A request that has come in, and the way back."""

    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes, serving: _Serving) -> None:
        self.method, self.path, self.headers, self.body = method, path, headers, body
        self._serving = serving

    async def write(self, data: bytes) -> None:
        """Sends bytes as they are; waits while the other side does not read."""
        self._serving.transport.write(data)
        await self._serving.writable.wait()

    def close(self) -> None:
        """Ends the connection in good order."""
        self._serving.transport.close()

    def reset(self) -> None:
        """Breaks the connection as a process that is killed does: with RST."""
        reset(self._serving.transport)


def reset(transport: asyncio.Transport) -> None:
    """Breaks a connection with RST."""
    sock: socket.socket = transport.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class _Serving(asyncio.Protocol):
    """One connection: requests in, one at a time."""

    def __init__(self, server: RawServer) -> None:
        self._server = server
        self._parser = HttpRequestParser(self)
        self._path, self._headers, self._body = "", dict[str, str](), list[bytes]()
        self.task: asyncio.Future[None] | None = None
        self.writable = asyncio.Event()
        self.writable.set()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self._server.connections += 1
        self._server._serving.add(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._serving.discard(self)
        self.writable.set()
        if self.task is not None and not self.task.done():
            self._server.cancelled += 1
            self.task.cancel()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def on_url(self, url: bytes) -> None:
        self._path += url.decode()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode().lower()] = value.decode("latin-1")

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        method = self._parser.get_method().decode()
        asked = Asked(method, self._path, self._headers, b"".join(self._body), self)
        self._path, self._headers, self._body = "", {}, []
        self._server.asked.append(asked)
        self.task = asyncio.ensure_future(self._server._answer(asked))
