"""Clients that leave, or do not read: the work for them ends, wherever it is, and nothing is left behind."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from random import Random

import msgspec
import pytest

from dragoman.gateway.config import Breaker, Limits, Retries, Server
from dragoman.gateway.server import UNREAD_SECONDS, listen
from dragoman.gateway.transport.response import Response

from .doubles.double import Double, Json
from .doubles.script import Fault, Script
from .quiet import MODEL, ask, facing, says
from .running import Gateway, settled

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
ENDLESS = says(*["mild "] * 10_000, pace=0.01, incremental=True)
NEVER = Script(delay=3600)


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
        async with facing(ENDLESS) as (worker, door):
            response = await open_stream(door, ask())
            await response.read()
            response.close()
            await idle(worker)
            assert worker.cancelled == 1

    asyncio.run(run())


def test_who_leaves_a_stream_of_several_choices_ends_the_work_on_all() -> None:
    async def run() -> None:
        async with facing(ENDLESS) as (worker, door):
            response = await open_stream(door, ask(n=4))
            await response.read()
            response.close()
            await idle(worker)
            assert worker.cancelled == 4

    asyncio.run(run())


@pytest.mark.parametrize("script", [ENDLESS, NEVER], ids=["after", "before"])
def test_who_does_not_wait_for_a_whole_answer_ends_the_work_on_it(script: Script) -> None:
    async def run() -> None:
        async with facing(script) as (worker, door):
            await leave_while(door, lambda: len(worker.requests) == 1, ask())
            await idle(worker)
            assert worker.cancelled == 1

    asyncio.run(run())


def test_who_leaves_before_the_first_token_ends_the_work_on_it() -> None:
    async def run() -> None:
        async with facing(NEVER) as (worker, door):
            await leave_while(door, lambda: len(worker.requests) == 1, ask(stream=True))
            await idle(worker)
            assert worker.cancelled == 1

    asyncio.run(run())


def test_who_leaves_before_the_last_choice_has_begun_ends_the_work_on_all() -> None:
    async def run() -> None:
        left = [ENDLESS, ENDLESS, NEVER]
        async with facing(lambda _: left.pop(0)) as (worker, door):
            await leave_while(door, lambda: not left, ask(n=3, stream=True))
            await idle(worker)
            assert worker.cancelled == 3

    asyncio.run(run())


def test_who_leaves_before_the_last_prompt_has_begun_ends_the_work_on_all() -> None:
    async def run() -> None:
        def script(request: Json) -> Script:
            return NEVER if request["text"] == "last" else ENDLESS

        async with facing(script) as (worker, door):
            body = {"model": MODEL, "prompt": ["first", "last"]}
            await leave_while(door, lambda: len(worker.requests) == 2, body, COMPLETIONS)
            await idle(worker)
            assert worker.cancelled == 2

    asyncio.run(run())


def test_who_leaves_the_queue_leaves_their_place() -> None:
    async def run() -> None:
        async with facing(ENDLESS, limits=Limits(concurrent=1)) as (worker, door):
            first = await open_stream(door, ask())
            gate = door.parts.hall.gate
            await leave_while(door, lambda: gate.waiting == 1, ask())
            await settled(lambda: gate.waiting == 0, 1)
            assert len(worker.requests) == 1
            first.close()

    asyncio.run(run())


def test_who_leaves_between_two_attempts_is_not_asked_for_again() -> None:
    async def run() -> None:
        async with facing(Script(status=500), retries=Retries(pause_seconds=30)) as (worker, door):
            await leave_while(door, lambda: len(worker.requests) == 1, ask())

    asyncio.run(run())


def test_who_leaves_within_their_own_request_is_forgotten() -> None:
    async def run() -> None:
        async with facing() as (worker, door):
            async with raw(door) as (_, writer):
                writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{")
                await settled(lambda: door.draining.running == 1)
            assert worker.requests == []

    asyncio.run(run())


@asynccontextmanager
async def raw(
    door: Gateway, room: int | None = None
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A bare connection; with `room` for so many bytes only, nobody reads it."""
    sock = socket.socket()
    sock.setblocking(False)
    if room is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    host, port = door.url.removeprefix("http://").split(":")
    await asyncio.get_running_loop().sock_connect(sock, (host, int(port)))
    reader, writer = await asyncio.open_connection(sock=sock, limit=1 << 30)
    if room is not None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
    try:
        yield reader, writer
    finally:
        writer.transport.abort()


async def post(writer: asyncio.StreamWriter, body: Json) -> None:
    sent = msgspec.json.encode(body)
    writer.write(b"POST %b HTTP/1.1\r\nhost: x\r\ncontent-length: %d\r\n\r\n%b" % (CHAT.encode(), len(sent), sent))
    await writer.drain()


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow), pytest.param(3, marks=pytest.mark.slow)])
def test_whoever_leaves_and_whatever_breaks_at_any_time_nothing_is_left(seed: int) -> None:
    random = Random(seed)

    def script(request: Json) -> Script:
        fault, after = random.choice([*Fault, *[Fault.NONE] * 8]), random.randrange(9)
        status, delay = random.choice([200] * 9 + [400, 429, 500]), random.choice([0, 0, 0.01])
        return says(*["mild "] * 9, fault=fault, after=after, status=status, delay=delay, pace=0.001)

    async def visit(door: Gateway) -> None:
        n, stream = random.choice([1, 1, 2, 3]), random.choice([True, False])
        several = random.choice(["one", ["one", "two", "three"]])
        path, body = random.choice(
            [
                (CHAT, ask(n=n, stream=stream)),
                (COMPLETIONS, {"model": MODEL, "prompt": several, "n": n, "stream": stream}),
                ("/generate", {"model": MODEL, "text": "one", "sampling_params": {"n": n}, "stream": stream}),
            ]
        )
        with suppress(TimeoutError):
            async with asyncio.timeout(random.choice([0.005, 0.01, 0.02, 0.05, 1])):
                await door.client.fetch("POST", door.url + path, (), msgspec.json.encode(body))

    async def run() -> None:
        settled_soon = Limits(stall_seconds=0.2, concurrent=20)
        async with facing(script, limits=settled_soon, breaker=Breaker(faults=1000)) as (_, door):
            for _ in range(4):
                await asyncio.gather(*(visit(door) for _ in range(40)))

    asyncio.run(run())


UNREAD = ("ASGI callable returned without completing response.",)
"""What the server says of an answer that ends before its end."""

HASTE = Limits(stall_seconds=0.6)


def is_held_up(worker: Double) -> bool:
    """Whether somebody does not take what it writes."""
    return any(not one.writable.is_set() for one in worker._serving)


def waits(door: Gateway) -> bool:
    """Whether the gateway waits for a client to read."""
    return any(line.busy is not None for line in door.parts.hall.heart.lines)


def test_a_client_that_does_not_read_slows_its_worker_down_and_then_is_given_up() -> None:
    async def run() -> None:
        much = says(*["mild " * 10_000] * 10_000, incremental=True)  # 500 MB, if anybody took them
        async with facing(much, limits=HASTE, tells=UNREAD) as (worker, door), raw(door, room=4096) as (_, writer):
            await post(writer, ask(stream=True))
            await settled(lambda: is_held_up(worker), 10)
            await settled(lambda: worker.cancelled == 1, 10)

    asyncio.run(run())


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="the system has no such bound")
def test_what_a_client_never_takes_is_let_go_of_by_the_system() -> None:
    with listen(Server(port=0)) as listener, socket.socket() as client:
        listener.listen()
        client.connect(listener.getsockname())
        accepted, _ = listener.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == UNREAD_SECONDS * 1000


def test_a_client_that_reads_again_has_lost_nothing() -> None:
    async def run() -> None:
        texts = [f"<{number}>" + "mild " * 10_000 for number in range(100)]
        script = says(*texts, incremental=True)
        async with facing(script) as (_, door), raw(door, room=4096) as (reader, writer):
            await post(writer, ask(stream=True))
            await settled(lambda: waits(door), 10)
            writer.transport.resume_reading()  # type: ignore[attr-defined]
            body = await reader.readuntil(b"\r\n0\r\n\r\n")
            assert re.findall(rb"<(\d+)>", body) == [b"%d" % number for number in range(100)]
            assert b"data: [DONE]" in body

    asyncio.run(run())


def test_a_client_that_does_not_read_keeps_no_other_from_its_comments() -> None:
    async def run() -> None:
        scripts = [says("mild " * 1_500_000, fault=Fault.STALL), says("Mild", fault=Fault.STALL)]
        server, limits = {"keep_alive_comment_seconds": 0.1}, Limits(stall_seconds=2)
        async with (
            facing(lambda _: scripts.pop(0), limits=limits, server=server) as (_, door),
            raw(door, room=4096) as (_, writer),
        ):
            await post(writer, ask(stream=True))
            await settled(lambda: waits(door))
            other = await open_stream(door, ask())
            async with asyncio.timeout(5):
                assert (await other.read()).endswith(b'"finish_reason":null}]}\n\n')
                assert [await other.read() for _ in range(3)] == [b": \n\n"] * 3
            other.close()

    asyncio.run(run())
