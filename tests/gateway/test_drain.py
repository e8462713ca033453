"""An app that drains: no new requests, `/ready` says so, and what is cut gets a last word."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec
import pytest

from dragoman.errors import InvalidConfig
from dragoman.gateway.drain import Draining, Message, Receive, Send


class Client:
    """One request to an app, and the messages that came back."""

    def __init__(self, app: Draining, path: str = "/v1/chat/completions", kind: str = "http") -> None:
        self.messages: list[Message] = []
        self._app, self._scope = app, {"type": kind, "path": path}

    async def ask(self) -> None:
        async def receive() -> Message:
            return {"type": "http.request"}

        async def send(message: Message) -> None:
            self.messages.append(message)

        await self._app(dict(self._scope), receive, send)

    @property
    def status(self) -> object:
        return self.messages[0]["status"]

    @property
    def body(self) -> bytes:
        return b"".join(bytes(message.get("body", b"")) for message in self.messages)  # type: ignore[call-overload]


def streaming(kind: bytes = b"text/event-stream", *, first: bool = True) -> Draining:
    """An app that sends one event and then nothing for ever."""

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if first:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", kind)]})
            await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        await asyncio.Event().wait()

    return Draining(app)


def cut(app: Draining, client: Client) -> Client:
    """What a client has that was cut while it waited."""

    async def scene() -> None:
        task = asyncio.create_task(client.ask())
        await asyncio.sleep(0)
        assert app.running == 1
        app.cut()
        await task
        assert app.running == 0

    asyncio.run(scene())
    return client


async def ok(scope: Message, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"ok"})


def test_until_it_drains_everything_goes_through() -> None:
    client = Client(Draining(ok))
    asyncio.run(client.ask())
    assert (client.status, client.body) == (200, b"ok")


@pytest.mark.parametrize(
    ("path", "status", "word"),
    [("/ready", 503, b"draining"), ("/v1/models", 503, b"shutting_down"), ("/metrics", 200, b"ok")],
)
def test_while_it_drains_only_operators_are_answered(path: str, status: int, word: bytes) -> None:
    app = Draining(ok)
    app.begin()
    client = Client(app, path)
    asyncio.run(client.ask())
    assert client.status == status
    assert word in client.body


def test_who_is_refused_is_told_to_go_elsewhere() -> None:
    app = Draining(ok)
    app.begin()
    client = Client(app)
    asyncio.run(client.ask())
    headers = client.messages[0]["headers"]
    assert (b"connection", b"close") in headers  # type: ignore[operator]
    assert (b"retry-after", b"1") in headers  # type: ignore[operator]


def test_the_lifespan_is_not_a_request() -> None:
    app = Draining(ok)
    app.begin()
    client = Client(app, kind="lifespan")
    asyncio.run(client.ask())
    assert client.body == b"ok"


@pytest.mark.parametrize(
    ("path", "lead", "end"),
    [
        ("/v1/chat/completions", b"data: 1\n\ndata: ", b"\n\ndata: [DONE]\n\n"),
        ("/v1/responses", b"data: 1\n\nevent: error\ndata: ", b"\n\n"),
        ("/v1/messages", b"data: 1\n\nevent: error\ndata: ", b"\n\n"),
    ],
)
def test_a_stream_that_is_cut_ends_with_an_error(path: str, lead: bytes, end: bytes) -> None:
    app = streaming()
    client = cut(app, Client(app, path))
    assert client.body.startswith(lead)
    assert client.body.endswith(end)
    assert "shutting down" in str(msgspec.json.decode(client.body[len(lead) : -len(end)]))
    assert client.messages[-1]["more_body"] is False


def test_what_has_not_begun_is_refused() -> None:
    app = streaming(first=False)
    assert cut(app, Client(app)).status == 503


def test_a_body_that_is_no_stream_is_just_broken_off() -> None:
    app = streaming(b"application/json")
    assert cut(app, Client(app)).body == b"data: 1\n\n"


def test_an_app_that_says_its_own_last_word_keeps_it() -> None:
    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        try:
            await asyncio.Event().wait()
        finally:
            await send({"type": "http.response.body", "body": b"bye"})

    draining = Draining(app)
    assert cut(draining, Client(draining)).body == b"bye"


def test_a_cancellation_from_elsewhere_is_passed_on() -> None:
    async def scene() -> bool:
        task = asyncio.create_task(Client(streaming()).ask())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return task.cancelled()

    assert asyncio.run(scene())


def test_an_app_that_fails_is_forgotten() -> None:
    async def broken(scope: Message, receive: Receive, send: Send) -> None:
        raise RuntimeError("broken")

    app = Draining(broken)
    ask: Callable[[], Awaitable[None]] = Client(app).ask
    with pytest.raises(RuntimeError, match="broken"):
        asyncio.run(ask())  # type: ignore[arg-type]
    assert app.running == 0


@pytest.mark.parametrize(
    ("error", "said"),
    [(InvalidConfig("here", "this", "that"), "here should be this, found that"), (KeyError(), "trace")],
)
def test_a_mistake_in_the_settings_is_said_without_a_traceback(error: Exception, said: str) -> None:
    async def app(scope: Message, receive: Receive, send: Send) -> None:
        await send({"type": "lifespan.startup.failed", "message": "trace"})
        raise error

    client = Client(Draining(app), kind="lifespan")
    with suppress(KeyError):
        asyncio.run(client.ask())
    assert client.messages == [{"type": "lifespan.startup.failed", "message": said}]
