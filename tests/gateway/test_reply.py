"""Answers as ASGI messages: bodies read to a limit, streams written block by block, and what happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, MutableMapping
from typing import Any

import pytest

from dragoman.errors import Refused
from dragoman.gateway.reply import Gone, Heart, Watch, read_body, send_stream

Message = MutableMapping[str, Any]


class Client:
    """The server's side of a client: what it was sent, and whether it takes anything more."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.reads = asyncio.Event()
        self.reads.set()
        self.over = False

    async def receive(self) -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(self, message: Message) -> None:
        await self.reads.wait()
        assert not self.over, "nothing may be sent behind the end"
        if message["type"] == "http.response.body":
            self.sent.append(message["body"])
            self.over = not message["more_body"]


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def blocks_when(*gates: asyncio.Event) -> AsyncGenerator[bytes]:
    """A block, and another one for each event that happens."""
    yield b"data: 0\n\n"
    for number, gate in enumerate(gates, 1):
        await gate.wait()
        yield b"data: %d\n\n" % number


async def streamed(client: Client, heart: Heart, *gates: asyncio.Event) -> bool:
    """Whether the client was there to the end."""
    async with Watch(client.receive) as watch:
        await send_stream(client.send, blocks_when(*gates), watch, heart, ())
    return not watch.is_gone


async def steps() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_a_stream_is_its_blocks_and_an_end() -> None:
    async def run() -> list[bytes]:
        client = Client()
        assert await streamed(client, Heart(15, 300, Clock()))
        return client.sent

    assert asyncio.run(run()) == [b"data: 0\n\n", b""]


def test_a_quiet_stream_is_kept_alive_by_comments() -> None:
    async def run() -> list[bytes]:
        client, clock, more = Client(), Clock(), asyncio.Event()
        heart = Heart(15, 300, clock)
        stream = asyncio.ensure_future(streamed(client, heart, more))
        await steps()
        for now in (10, 20, 30, 40):
            clock.now = now
            await heart.beat()
            await steps()
        more.set()
        assert await stream
        return client.sent

    assert asyncio.run(run()) == [b"data: 0\n\n", b": \n\n", b": \n\n", b"data: 1\n\n", b""]


def test_a_client_that_takes_no_comment_holds_up_nobody_elses() -> None:
    async def run() -> None:
        clock = Clock()
        heart = Heart(15, 300, clock)
        stuck, well, more = Client(), Client(), asyncio.Event()
        streams = [asyncio.ensure_future(streamed(client, heart, more)) for client in (stuck, well)]
        await steps()
        stuck.reads.clear()
        clock.now = 20
        async with asyncio.timeout(5):
            await heart.beat()
        await steps()
        assert well.sent == [b"data: 0\n\n", b": \n\n"]
        clock.now = 400
        await heart.beat()
        assert not await streams[0], "it is given up"
        more.set()
        assert await streams[1]

    asyncio.run(run())


def test_a_comment_that_waits_is_dropped_where_the_stream_ends() -> None:
    async def run() -> list[bytes]:
        client, clock, more = Client(), Clock(), asyncio.Event()
        heart = Heart(15, 300, clock)
        stream = asyncio.ensure_future(streamed(client, heart, more))
        await steps()
        client.reads.clear()
        clock.now = 20
        await heart.beat()
        await steps()
        more.set()
        await steps()
        client.reads.set()
        assert await stream
        await steps()
        return client.sent

    assert [block for block in asyncio.run(run()) if block != b": \n\n"] == [b"data: 0\n\n", b"data: 1\n\n", b""]


def body_of(*pieces: bytes, limit: int = 10, headers: tuple[tuple[bytes, bytes], ...] = ()) -> bytes:
    messages: list[Message] = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages[-1]["more_body"] = False

    async def receive() -> Message:
        return messages.pop(0)

    return asyncio.run(read_body(receive, limit, {"headers": headers}))


def test_a_body_is_read_up_to_the_limit() -> None:
    assert body_of(b"01234", b"56789") == b"0123456789"


@pytest.mark.parametrize(("pieces", "headers"), [((b"01234", b"567890"), ()), ((b"0",), ((b"content-length", b"11"),))])
def test_a_body_beyond_the_limit_is_refused(
    pieces: tuple[bytes, ...], headers: tuple[tuple[bytes, bytes], ...]
) -> None:
    with pytest.raises(Refused) as caught:
        body_of(*pieces, headers=headers)
    assert (caught.value.status, caught.value.code) == (413, "request_too_large")


def test_a_client_that_leaves_within_its_body_is_gone() -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    with pytest.raises(Gone):
        asyncio.run(read_body(receive, 10, {"headers": ()}))
