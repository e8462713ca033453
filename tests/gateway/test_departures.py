"""Clients that leave, or do not read: the work for them ends, wherever it is, and nothing is left behind."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from dragoman.gateway.config import Limits, Retries
from dragoman.gateway.transport.response import Response

from .doubles.double import Double, Json
from .doubles.script import Script
from .doubles.sglang import SglangDouble
from .quiet import MODEL, ask, quiet, says
from .running import Gateway, in_front_of, settled

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
ENDLESS = says(*["mild "] * 10_000, pace=0.01, incremental=True)
NEVER = Script(delay=3600)


def settings(*workers: Double, **fields: Any) -> Any:
    return in_front_of(*(worker.url for worker in workers), model=MODEL, **fields)


async def open_stream(door: Gateway, body: Json, path: str = CHAT) -> Response:
    """A stream that has begun."""
    response = await door.client.open("POST", door.url + path, (), msgspec.json.encode({**body, "stream": True}))
    assert response.status == 200
    return response


async def leave_while(door: Gateway, condition: Callable[[], bool], body: Json, path: str = CHAT) -> None:
    """Sends a request, and hangs up as soon as something is so; there must be no answer by then."""
    asked = asyncio.ensure_future(door.client.open("POST", door.url + path, (), msgspec.json.encode(body)))
    await settled(condition)
    assert not asked.done()
    asked.cancel()
    await asyncio.wait([asked])


async def idle(worker: Double) -> None:
    """Waits until a worker has no work, as it sees it."""
    await settled(lambda: all(one.task is None or one.task.done() for one in worker._serving), 1)


def test_who_leaves_a_stream_ends_the_work_on_it() -> None:
    async def run() -> None:
        async with SglangDouble(ENDLESS) as worker, quiet(settings(worker)) as door:
            response = await open_stream(door, ask())
            await response.read()
            response.close()
            await idle(worker)
            assert worker.cancelled == 1

    asyncio.run(run())


def test_who_leaves_a_stream_of_several_choices_ends_the_work_on_all() -> None:
    async def run() -> None:
        async with SglangDouble(ENDLESS) as worker, quiet(settings(worker)) as door:
            response = await open_stream(door, ask(n=4))
            await response.read()
            response.close()
            await idle(worker)
            assert worker.cancelled == 4

    asyncio.run(run())


@pytest.mark.parametrize("script", [ENDLESS, NEVER], ids=["after", "before"])
def test_who_does_not_wait_for_a_whole_answer_ends_the_work_on_it(script: Script) -> None:
    async def run() -> None:
        async with SglangDouble(script) as worker, quiet(settings(worker)) as door:
            await leave_while(door, lambda: len(worker.requests) == 1, ask())
            await idle(worker)
            assert worker.cancelled == 1

    asyncio.run(run())


def test_who_leaves_before_the_first_token_ends_the_work_on_it() -> None:
    async def run() -> None:
        async with SglangDouble(NEVER) as worker, quiet(settings(worker)) as door:
            await leave_while(door, lambda: len(worker.requests) == 1, ask(stream=True))
            await idle(worker)
            assert worker.cancelled == 1

    asyncio.run(run())


def test_who_leaves_before_the_last_choice_has_begun_ends_the_work_on_all() -> None:
    async def run() -> None:
        left = [ENDLESS, ENDLESS, NEVER]
        async with SglangDouble(lambda _: left.pop(0)) as worker, quiet(settings(worker)) as door:
            await leave_while(door, lambda: not left, ask(n=3, stream=True))
            await idle(worker)
            assert worker.cancelled == 3

    asyncio.run(run())


def test_who_leaves_before_the_last_prompt_has_begun_ends_the_work_on_all() -> None:
    async def run() -> None:
        def script(request: Json) -> Script:
            return NEVER if request["text"] == "last" else ENDLESS

        async with SglangDouble(script) as worker, quiet(settings(worker)) as door:
            body = {"model": MODEL, "prompt": ["first", "last"]}
            await leave_while(door, lambda: len(worker.requests) == 2, body, COMPLETIONS)
            await idle(worker)
            assert worker.cancelled == 2

    asyncio.run(run())


def test_who_leaves_the_queue_leaves_their_place() -> None:
    async def run() -> None:
        async with SglangDouble(ENDLESS) as worker, quiet(settings(worker, limits=Limits(concurrent=1))) as door:
            first = await open_stream(door, ask())
            gate = door.parts.hall.gate
            await leave_while(door, lambda: gate.waiting == 1, ask())
            await settled(lambda: gate.waiting == 0, 1)
            assert len(worker.requests) == 1
            first.close()

    asyncio.run(run())


def test_who_leaves_between_two_attempts_is_not_asked_for_again() -> None:
    async def run() -> None:
        async with SglangDouble(Script(status=500)) as worker:
            async with quiet(settings(worker, retries=Retries(pause_seconds=30))) as door:
                await leave_while(door, lambda: len(worker.requests) == 1, ask())

    asyncio.run(run())


def test_who_leaves_within_their_own_request_is_forgotten() -> None:
    async def run() -> None:
        async with SglangDouble() as worker, quiet(settings(worker)) as door:
            async with raw(door) as (_, writer):
                writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
                await settled(lambda: door.draining.running == 1)
            assert worker.requests == []

    asyncio.run(run())


@asynccontextmanager
async def raw(
    door: Gateway, room: int | None = None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection; one that holds only so many bytes that nobody has read."""
    sock = socket.socket()
    sock.setblocking(False)
    if room is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    host, port = door.url.removeprefix("http://").split(":")
    await asyncio.get_running_loop().sock_connect(sock, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=sock, limit=room or 1 << 16)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def post(writer: asyncio.StreamWriter, body: Json) -> None:
    sent = msgspec.json.encode(body)
    writer.write(b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (CHAT.encode(), len(sent), sent))
    await writer.drain()


MUCH = says(*["mild " * 2000] * 10_000, incremental=True)
"""100 MB, as fast as they are taken."""


def test_a_client_that_does_not_read_slows_its_worker_down_and_then_is_given_up() -> None:
    async def run() -> None:
        async with SglangDouble(MUCH) as worker:
            async with quiet(settings(worker, limits=Limits(stall_seconds=1)), tells=UNFINISHED) as door:
                async with raw(door, room=4096) as (_, writer):
                    await post(writer, ask(stream=True))
                    await settled(lambda: any(not one.writable.is_set() for one in worker._serving), 10)
                    await idle_after(worker)
                assert worker.cancelled == 1

    asyncio.run(run())


UNFINISHED = ("ASGI callable returned without completing response.",)


async def idle_after(worker: Double) -> None:
    await settled(lambda: all(one.task is None or one.task.done() for one in worker._serving), 10)


@pytest.mark.parametrize("quiet_after", [1, 3])
def test_a_client_that_does_not_read_keeps_no_other_from_its_comments(quiet_after: int) -> None:
    pass
