"""Runs the gateway as its settings say: the log, the app, in one process or in several."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable

from .app import create_app
from .config import Settings
from .drain import App
from .observe.logs import open_log
from .processes import serve_many
from .server import listen, serve

__all__ = ["app_of", "run"]


def app_of(settings: Settings) -> App:
    """The app, as a server takes it."""
    return create_app(settings)


def run(settings: Settings, started: Callable[[socket.socket], None]) -> int:
    """Serve until told to stop; gives the exit code. `started` is told a socket with the address that clients ask."""
    open_log(settings.log.level, settings.log.format, sys.stderr)
    if settings.server.processes > 1:
        return serve_many(app_of, settings, started)
    with listen(settings.server) as listener:
        return serve(app_of, settings, listener, lambda: started(listener))
