"""The HTTP client: connections kept alive for each worker, opened when there is none, and one second try.

What fails raises `WorkerFailed` with the worker's origin; what the caller got wrong raises `InvalidConfig` or
`Refused`. `connection.py` has the sockets, `request.py` the bytes of requests.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable

from msgspec import Struct

from ...errors import WorkerFailed
from .connection import Connection
from .limits import Limits
from .request import Origin, head_of, target_of
from .response import Response
from .tick import Tick

__all__ = ["Client", "Fetched"]


class Fetched(Struct, frozen=True):
    """An answer that is complete."""

    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """Sends requests to workers; one for a process and event loop, closed by its owner."""

    def __init__(self, limits: Limits | None = None, tls: ssl.SSLContext | None = None) -> None:
        self.limits = limits or Limits()
        self._tls = tls
        self._spares: dict[Origin, list[Connection]] = {}
        self._open: set[Connection] = set()
        self._closed = False
        self._drained: asyncio.Event | None = None
        self._tick: Tick | None = None

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(
        self,
        method: str,
        url: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        *,
        stall: float | None = None,
    ) -> Response:
        """Sends a request and waits for the head of its answer, whose body is then read from the `Response`.

        A kept connection that the worker had closed already is found out only by using it: the request is then sent
        once more, on a new one, if not a byte of an answer came. A redirect raises `WorkerFailed`, too.
        """
        target = target_of(url)
        head = head_of(method, target, headers, len(body))
        seconds = self.limits.stall if stall is None else stall
        connection = self._spare(target.origin)
        if connection is not None:
            try:
                return await self._ask(connection, head, body, seconds)
            except WorkerFailed:
                if not connection.stale:
                    raise
        return await self._ask(await self._connect(target.origin), head, body, seconds)

    async def fetch(
        self,
        method: str,
        url: str,
        headers: Iterable[tuple[str, str]] = (),
        body: bytes = b"",
        *,
        seconds: float = 10.0,
    ) -> Fetched:
        """Sends a request and takes the whole answer, within `seconds` and `Limits.body` bytes."""
        try:
            async with asyncio.timeout(seconds):
                response = await self.open(method, url, headers, body)
                try:
                    content = await response.collect(self.limits.body + 1)
                finally:
                    response.close()
        except TimeoutError:
            problem = f"no whole answer within {seconds:g} seconds"
            raise WorkerFailed(str(target_of(url).origin), problem) from None
        if len(content) > self.limits.body:
            raise WorkerFailed(str(target_of(url).origin), f"its answer has more than {self.limits.body} bytes")
        return Fetched(response.status, response.headers, content)

    async def close(self) -> None:
        """Cuts all connections, and waits until they are gone."""
        self._closed = True
        self._spares.clear()
        if self._open:
            self._drained = asyncio.Event()
            for connection in list(self._open):
                connection.abort()
            await self._drained.wait()

    async def _ask(self, connection: Connection, head: bytes, body: bytes, stall: float) -> Response:
        response = connection.send(head, body, stall)
        try:
            await response.head()
        except BaseException:
            response.close()
            raise
        if 300 <= response.status < 400:
            where = response.headers.get("location", "elsewhere")[:200]
            response.close()
            raise WorkerFailed(str(connection.origin), f"it redirects to {where!r}", response.status)
        return response

    async def _connect(self, origin: Origin) -> Connection:
        self._require_open(origin)
        loop = asyncio.get_running_loop()
        if self._tick is None and self.limits.gather:
            self._tick = Tick(loop, self.limits.gather)
        connection = Connection(loop, origin, self.limits, self._keep, self._forget, self._tick)
        try:
            async with asyncio.timeout(self.limits.connect):
                if origin.scheme == "http+unix":
                    await loop.create_unix_connection(lambda: connection, origin.host)
                else:
                    tls = self._context() if origin.scheme == "https" else None
                    await loop.create_connection(lambda: connection, origin.host, origin.port, ssl=tls)
        except TimeoutError:
            raise WorkerFailed(str(origin), f"no connection within {self.limits.connect:g} seconds") from None
        except ssl.SSLError as error:
            raise WorkerFailed(str(origin), f"no TLS with it: {error.reason or error}") from None
        except (OSError, UnicodeError) as error:  # names that are no names are UnicodeErrors
            raise WorkerFailed(str(origin), f"no connection: {error}") from None
        self._open.add(connection)
        if self._closed:
            connection.abort()
        self._require_open(origin)
        return connection

    def _require_open(self, origin: Origin) -> None:
        if self._closed:
            raise WorkerFailed(str(origin), "the client is closed")

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls

    def _spare(self, origin: Origin) -> Connection | None:
        """The one that was used last, so that those not needed grow old and are closed."""
        spares = self._spares.get(origin)
        while spares:
            connection = spares.pop()
            if connection.usable:
                return connection
        return None

    def _keep(self, connection: Connection) -> None:
        spares = self._spares.setdefault(connection.origin, [])
        if self._closed or len(spares) >= self.limits.spare:
            connection.abort()
        else:
            spares.append(connection)

    def _forget(self, connection: Connection) -> None:
        self._open.discard(connection)
        spares = self._spares.get(connection.origin)
        if spares is not None:
            if connection in spares:
                spares.remove(connection)
            if not spares:
                del self._spares[connection.origin]
        if self._drained is not None and not self._open:
            self._drained.set()
