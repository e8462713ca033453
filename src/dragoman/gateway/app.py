"""The endpoints: which path is answered by what.

`create_app` makes the ASGI app of some settings. Its lifespan finds the workers (`assembly`), asks them from time to
time whether they are well, and lets go of everything at the end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ..errors import Refused
from .assembly import Assembly, assembled
from .chats import ChatWork
from .config import Settings
from .door import Door, Work
from .fleet.health import HealthCheck
from .pages import DetokenizeWork, HealthWork, MetricsWork, ModelsWork, ModelWork, ReadyWork, TokenizeWork
from .plain import CompletionWork, GenerateWork
from .protocol.refusals import error_body
from .seats import AddWorker, DropWorker, ListWorkers, ShowWorker

__all__ = ["create_app"]


def create_app(settings: Settings) -> Starlette:
    """The gateway of these settings; raises `InvalidConfig` for models that can't be served."""
    parts = assembled(settings, clock=time.monotonic, now=time.time)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(parts.close)
            health = settings.health
            check = HealthCheck(
                parts.fleet,
                every=health.every_seconds,
                fails=health.fails,
                passes=health.passes,
                timeout=health.timeout_seconds,
            )
            await parts.open()
            going_on = (check.run(), parts.hall.heart.run(), parts.keep_shown())
            tasks = [asyncio.ensure_future(work) for work in going_on]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    handlers = {HTTPException: _http_error}
    app = Starlette(routes=_routes(parts, settings), lifespan=lifespan, exception_handlers=handlers)  # type: ignore[arg-type]
    app.state.parts = parts
    return app


def _routes(parts: Assembly, settings: Settings) -> list[Route]:
    def route(method: str, path: str, work: Work, *, guarded: bool = False, waits: bool = False) -> Route:
        name = path.split("{", maxsplit=1)[0].rstrip("/").rsplit("/", 1)[-1] or "/"
        endpoint = "chat" if path == "/v1/chat/completions" else name
        return Route(path, Door(parts.hall, endpoint, work, guarded=guarded, waits=waits), methods=[method])

    tokenize, detokenize = TokenizeWork(parts.catalog), DetokenizeWork(parts.catalog)
    routes = [
        route("POST", "/v1/chat/completions", ChatWork(parts), waits=True),
        route("POST", "/v1/completions", CompletionWork(parts), waits=True),
        route("POST", "/generate", GenerateWork(parts), waits=True),
        route("GET", "/v1/models", ModelsWork(parts.catalog, int(time.time()))),
        route("GET", "/v1/models/{model:path}", ModelWork(parts.catalog, int(time.time()))),
        route("POST", "/tokenize", tokenize),
        route("POST", "/detokenize", detokenize),
        route("POST", "/v1/tokenize", tokenize),
        route("POST", "/v1/detokenize", detokenize),
        route("GET", "/workers", ListWorkers(parts), guarded=True),
        route("POST", "/workers", AddWorker(parts), guarded=True),
        route("GET", "/workers/{name:path}", ShowWorker(parts), guarded=True),
        route("DELETE", "/workers/{name:path}", DropWorker(parts), guarded=True),
        Route("/health", HealthWork(), methods=["GET"]),
        Route("/ready", ReadyWork(parts.fleet), methods=["GET"]),
    ]
    if settings.metrics.enabled:
        routes.append(Route("/metrics", MetricsWork(parts), methods=["GET"]))
    return routes


async def _http_error(request: Request, error: HTTPException) -> Response:
    """What no endpoint takes, in OpenAI's shape."""
    code = {404: "unknown_url", 405: "method_not_allowed"}.get(error.status_code, "http_error")
    message = f"{request.method} {request.url.path}: {error.detail}"
    body = error_body(Refused(error.status_code, code, message))
    return Response(body, error.status_code, dict(error.headers or {}), "application/json")
