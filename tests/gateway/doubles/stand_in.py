"""An app in the place of the gateway's own, for tests of what runs it: answers, streams, dies when asked to.

As a program it is served as ``dragoman serve`` serves: ``python -m tests.gateway.doubles.stand_in PROCESSES DRAIN``.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from dragoman.errors import InvalidConfig
from dragoman.gateway.config import Server, Settings


def create(settings: Settings) -> Starlette:
    """The app; its own endpoint for each thing that can happen."""
    from dragoman.gateway.observe.metrics import Metrics

    metrics = Metrics("test")

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        if settings.server.host == "localhost":
            raise InvalidConfig("server.host", "another", "'localhost'")
        yield

    async def whoami(request: Request) -> Response:
        bound = metrics.bound("m", "chat")
        bound.begun()
        bound.finished(200, 0.1)
        return JSONResponse({"pid": os.getpid()})

    async def stream(request: Request) -> Response:
        count, pause = int(request.query_params["n"]), float(request.query_params["pause"])

        async def events() -> AsyncIterator[bytes]:
            for index in range(count):
                yield b"data: %d\n\n" % index
                await asyncio.sleep(pause)
            yield b"data: [DONE]\n\n"

        return StreamingResponse(events(), media_type="text/event-stream")

    async def slow(request: Request) -> Response:
        await asyncio.sleep(60)
        return JSONResponse({})

    async def die(request: Request) -> Response:
        os._exit(7)

    async def numbers(request: Request) -> Response:
        body, kind = metrics.exposition()
        return Response(body, media_type=kind)

    async def ready(request: Request) -> Response:
        return JSONResponse({"status": "ready"})

    routes = [
        Route("/whoami", whoami),
        Route("/v1/chat/completions", stream, methods=["POST"]),
        Route("/v1/responses", stream, methods=["POST"]),
        Route("/slow", slow),
        Route("/die", die),
        Route("/metrics", numbers),
        Route("/ready", ready),
    ]
    return Starlette(routes=routes, lifespan=lifespan)


def main(processes: int, drain: float, host: str = "127.0.0.1") -> int:
    """Serve on a free port, and write the URL."""
    from dragoman.gateway.observe.logs import open_log
    from dragoman.gateway.processes import serve_many
    from dragoman.gateway.server import listen, serve, url_of

    settings = Settings(server=Server(host=host, port=0, processes=processes, drain_seconds=drain))
    open_log("info", "text", sys.stderr)

    def started(listener: socket.socket) -> None:
        sys.stdout.write(msgspec.json.encode({"url": url_of(listener), "pid": os.getpid()}).decode() + "\n")
        sys.stdout.flush()

    if processes > 1:
        return serve_many(create, settings, started)
    with listen(settings.server) as listener:
        return serve(create, settings, listener, lambda: started(listener))


if __name__ == "__main__":
    # a child imports this module by its name, and so must find `create` there
    from tests.gateway.doubles import stand_in

    sys.exit(stand_in.main(int(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:]))
