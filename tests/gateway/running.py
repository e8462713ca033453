"""The gateway, running: real HTTP on loopback in the test's own event loop, and clients for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import msgspec
import uvicorn

from dragoman.gateway.app import create_app
from dragoman.gateway.assembly import Assembly
from dragoman.gateway.config import ModelEntry, Server, Settings, WorkerEntry
from dragoman.gateway.drain import App, Draining
from dragoman.gateway.server import listen, url_of
from dragoman.gateway.transport.client import Client
from dragoman.stream.sse import SseDecoder

__all__ = ["Gateway", "gateway", "in_front_of", "settled"]

Body = Mapping[str, Any]


class Gateway:
    """A gateway that runs, and a bare client of it."""

    def __init__(self, url: str, parts: Assembly, client: Client, draining: Draining) -> None:
        self.url, self.parts, self.client, self.draining = url, parts, client, draining

    async def post(self, path: str, body: Body | bytes, **headers: str) -> tuple[int, Any, dict[str, str]]:
        """Status, decoded body, and headers."""
        sent = body if isinstance(body, bytes) else msgspec.json.encode(body)
        given = [("content-type", "application/json"), *((k.replace("_", "-"), v) for k, v in headers.items())]
        got = await self.client.fetch("POST", self.url + path, given, sent)
        return got.status, msgspec.json.decode(got.body), got.headers

    async def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        given = [(key.replace("_", "-"), value) for key, value in headers.items()]
        got = await self.client.fetch("GET", self.url + path, given)
        return got.status, got.body

    async def stream(self, path: str, body: Body) -> list[Any]:
        """The data of all events, decoded but for ``[DONE]``, which must be the last."""
        return [event async for event in self.events(path, body)]

    async def events(self, path: str, body: Body) -> AsyncIterator[Any]:
        """The same as they come."""
        decoder = SseDecoder()
        sent = msgspec.json.encode({**body, "stream": True})
        response = await self.client.open("POST", self.url + path, [("content-type", "application/json")], sent)
        try:
            done = False
            if response.status != 200:
                yield msgspec.json.decode(await response.collect(1 << 20))
                return
            while data := await response.read():
                for event in decoder.feed(data):
                    assert not done, "nothing comes behind the end"
                    done = event.data == b"[DONE]"
                    if not done:
                        yield msgspec.json.decode(event.data)
            assert done, "a stream says where it ends"
        finally:
            response.close()


@asynccontextmanager
async def gateway(settings: Settings) -> AsyncIterator[Gateway]:
    """The gateway of these settings, as it is served, but in this event loop."""
    app = create_app(settings)
    listener = listen(settings.server)
    draining = Draining(cast("App", app))
    config = uvicorn.Config(
        cast("Any", draining), http="httptools", log_config=None, access_log=False, lifespan="on", ws="none"
    )
    server = uvicorn.Server(config)
    server.capture_signals = _nothing  # type: ignore[method-assign]
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    client = Client()
    try:
        while not server.started:
            await asyncio.sleep(0.001)
            if serving.done():
                serving.result()
                raise AssertionError("the gateway has not started")
        yield Gateway(url_of(listener), app.state.parts, client, draining)
    finally:
        await client.close()
        server.should_exit = True
        await serving


class _Nothing:
    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...


def _nothing() -> _Nothing:
    return _Nothing()


def in_front_of(*urls: str, model: str = "gpt-oss-20b", kind: str | None = None, **fields: Any) -> Settings:
    """Settings of one model and the workers at these places, on a free port."""
    models = fields.pop("models", (ModelEntry(name=model),))
    names = tuple(one.name for one in models)
    workers = tuple(WorkerEntry(url=url, kind=kind, models=names) for url in urls)
    server = Server(port=0, **fields.pop("server", {}))
    return Settings(server=server, models=models, workers=workers, **fields)


async def settled(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Waits until something is true; fails if it never is."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)
