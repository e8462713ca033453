"""Runs the gateway in this process: a socket, uvicorn, and a way out that cuts nobody off without a word.

On SIGTERM or SIGINT the gateway drains: running requests have `drain_seconds`, then they are cut; a second SIGINT cuts
at once. Several processes are the business of `dragoman.gateway.processes`.
"""

from __future__ import annotations

import gc
import signal
import socket
import time
from collections.abc import Callable
from importlib.util import find_spec
from types import FrameType
from typing import Any, TypeAlias, cast

import uvicorn

from ..errors import InvalidConfig
from .config import Server, Settings
from .drain import App, Draining

__all__ = ["CUT_SECONDS", "UNREAD_SECONDS", "Create", "Started", "listen", "serve", "url_of"]

Create: TypeAlias = Callable[[Settings], App]
"""Makes the app of some settings."""

Started: TypeAlias = Callable[[], None]
"""Is called once, when connections are taken."""

CUT_SECONDS = 5
"""How long clients have to read the last word of streams that were cut."""

UNREAD_SECONDS = 300
"""How long the system keeps what a client does not take, once the gateway has given it up, or has said all."""

_GENERATION = 20_000
"""New objects between two looks of the garbage collector; streams make many that live for a moment only."""


def serve(create: Create, settings: Settings, listener: socket.socket, started: Started) -> int:
    """Serve on a socket until a signal has come and the gateway has drained; must be called in the main thread.

    Gives the exit code: 1 if the app could not begin, which the log tells of.
    """
    app = Draining(create(settings))
    try:
        _Server(app, settings.server, started).run(sockets=[listener])
    except SystemExit:  # so uvicorn says that it has failed
        return 1
    return 0


def listen(server: Server, *, shared: bool = False) -> socket.socket:
    """A bound socket; `shared` ones may be bound to one port by several processes. Raises `InvalidConfig`."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            server.host, server.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError):
        raise InvalidConfig("server.host", "an address of this machine", repr(server.host)) from None
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # connections have it from whom they come to
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_SECONDS * 1000)
        listener.bind(address)
    except OSError as error:
        listener.close()
        place = f"{server.host}:{server.port}, {error.strerror or error}"
        raise InvalidConfig("server.port", "a port that can be listened at", place) from None
    listener.set_inheritable(False)
    return listener


def url_of(listener: socket.socket) -> str:
    """Where clients find a socket of this machine."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Uvicorn's server, which drains before it stops."""

    def __init__(self, app: Draining, server: Server, started: Started) -> None:
        super().__init__(
            uvicorn.Config(
                cast("Any", app),
                loop="uvloop" if find_spec("uvloop") else "asyncio",
                http="httptools",
                ws="none",
                lifespan="on",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                backlog=server.backlog,
                timeout_keep_alive=max(1, round(server.idle_seconds)),
                timeout_graceful_shutdown=CUT_SECONDS,
            )
        )
        self._draining = app
        self._drain_seconds = server.drain_seconds
        self._deadline: float | None = None
        self._tell = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen, and take what exists by now out of the garbage collector's sight."""
        await super().startup(sockets)
        gc.collect()
        gc.freeze()
        gc.set_threshold(_GENERATION, 10, 10)
        self._tell()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; interrupted once more, end at once."""
        if sig == signal.SIGINT and self._draining.begun:
            self._deadline = 0.0
        self._draining.begin()

    async def on_tick(self, counter: int) -> bool:
        """Whether it is time to stop; asked ten times a second."""
        await super().on_tick(counter)
        if not self._draining.begun:
            return False
        if self._deadline is None:
            self._deadline = time.monotonic() + self._drain_seconds
        if self._draining.running and time.monotonic() < self._deadline:
            return False
        self._draining.cut()
        return True
