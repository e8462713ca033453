"""Many streams at once through the whole stack: each is complete and in order, and nothing grows."""

from __future__ import annotations

import asyncio
import gc
import re
import tracemalloc

import msgspec
import pytest

from dragoman.gateway.config import Limits
from dragoman.stream.sse import SseDecoder

from .answers import assembled, said
from .doubles.double import Json
from .doubles.script import Script
from .quiet import ask, facing, says
from .running import Gateway, settled

CHAT = "/v1/chat/completions"
TOKENS = 30


def numbered(request: Json) -> Script:
    """Says which request it answers, token by token, at the pace of a model."""
    found = re.search(r"<(\d+)>", request["text"])
    assert found is not None
    return says(*(f"{found[1]}.{token} " for token in range(TOKENS)), pace=0.005)


def text(number: int) -> str:
    return "".join(f"{number}.{token} " for token in range(TOKENS))


async def streamed(door: Gateway, number: int) -> str:
    """The text of a stream."""
    pieces = []
    async for chunk in door.events(CHAT, ask(f"<{number}>")):
        pieces += [choice["delta"].get("content") or "" for choice in chunk["choices"]]
    return "".join(pieces)


@pytest.mark.parametrize("count", [64, pytest.param(256, marks=pytest.mark.slow)])
def test_every_one_of_many_streams_is_complete_and_in_order(count: int) -> None:
    async def run() -> None:
        async with facing(numbered) as (worker, door):
            got = await asyncio.gather(*(streamed(door, number) for number in range(count)))
            assert got == [text(number) for number in range(count)]
            assert len(worker.requests) == count

    asyncio.run(run())


def test_no_more_run_at_once_than_may() -> None:
    async def run() -> None:
        most = 0

        def script(request: Json) -> Script:
            nonlocal most
            most = max(most, door.parts.fleet.seats()[0].requests)
            return numbered(request)

        async with facing(script, limits=Limits(concurrent=4)) as (_, door):
            got = await asyncio.gather(*(streamed(door, number) for number in range(16)))
            assert got == [text(number) for number in range(16)]
            assert most == 4

    asyncio.run(run())


def test_four_choices_come_interleaved_and_each_is_whole() -> None:
    async def run() -> None:
        scripts = [says(*(f"{choice}.{token} " for token in range(TOKENS)), pace=0.005) for choice in range(4)]
        async with facing(lambda _: scripts.pop()) as (_, door):
            chunks = await door.stream(CHAT, ask(n=4))
            indices = [choice["index"] for chunk in chunks for choice in chunk["choices"]]
            assert indices[:40] != sorted(indices[:40])
            contents = {made["content"] for made in assembled(chunks).values()}
            assert contents == {text(number) for number in range(4)}

    asyncio.run(run())


def test_a_quiet_stream_is_kept_alive_by_comments_that_nobody_sees() -> None:
    async def run() -> None:
        server = {"keep_alive_comment_seconds": 0.02}
        async with facing(says("It", " is mild.", pace=0.3), server=server) as (_, door):
            response = await door.client.open("POST", door.url + CHAT, (), msgspec.json.encode(ask(stream=True)))
            body = await response.collect(1 << 20)
            assert body.count(b"\n\n: \n\n") + body.count(b": \n\n: \n\n") >= 3
            events = SseDecoder().feed(body)
            assert events[-1].data == b"[DONE]"
            chunks = [msgspec.json.decode(event.data) for event in events[:-1]]
            assert said(assembled(chunks))["content"] == "It is mild."

    asyncio.run(run())


@pytest.mark.slow
def test_memory_does_not_grow_with_the_streams_that_were() -> None:
    async def run() -> None:
        async with facing(lambda _: says("It", " is", " mild.")) as (worker, door):

            async def rounds(count: int) -> int:
                for _ in range(count):
                    await asyncio.gather(*(streamed(door, number) for number in range(20)))
                    worker.requests.clear()
                    worker.asked.clear()
                    worker.headers.clear()
                await settled(lambda: door.draining.running == 0)
                gc.collect()
                return tracemalloc.get_traced_memory()[0]

            await rounds(20)
            tracemalloc.start()
            try:
                before = await rounds(5)
                after = await rounds(50)
            finally:
                tracemalloc.stop()
            assert after - before < 200_000, f"{after - before} bytes more after 1000 streams"

    asyncio.run(run())
