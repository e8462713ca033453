"""Workers that die and come back, under load: only answers that had begun are lost."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from dragoman.gateway import assembly
from dragoman.gateway.config import Breaker, Health, Routing

from .doubles.double import Json
from .doubles.script import Script
from .doubles.sglang import SglangDouble
from .quiet import MODEL, ask, quiet, says
from .running import Gateway, in_front_of, settled

CHAT = "/v1/chat/completions"
TEXTS = tuple(f" {number}" for number in range(12))
LIVELY: dict[str, Any] = {
    "health": Health(every_seconds=0.05, fails=2, passes=2),
    "breaker": Breaker(pause_seconds=0.1),
    "routing": Routing(policy="round_robin"),
}
"""Settings with which a worker's end and return are soon seen."""

COMPLETE, BROKEN, REFUSED = "complete", "broken", "refused"


async def outcome(door: Gateway, number: int) -> str:
    """How a request ends; every second one is streamed."""
    body = ask(f"request {number}", stream=bool(number % 2))
    response = await door.client.open("POST", door.url + CHAT, (), msgspec.json.encode(body))
    content = await response.collect(1 << 20)
    if response.status != 200:
        assert (response.status, b'"worker_failed"' in content) == (502, True), content
        return REFUSED
    if b'{"error":' in content:
        assert content.endswith(b"}\n\ndata: [DONE]\n\n")
        return BROKEN
    assert b"".join(b"%d" % number for number in range(12)) in said(content).replace(b" ", b"")
    return COMPLETE


def said(content: bytes) -> bytes:
    """The text of an answer, streamed or whole."""
    if not content.startswith(b"data:"):
        return msgspec.json.decode(content)["choices"][0]["message"]["content"].encode()
    chunks = [msgspec.json.decode(line[6:]) for line in content.split(b"\n\n") if line and b"[DONE]" not in line]
    return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks).encode()


def is_idle(door: Gateway, index: int) -> bool:
    return not door.parts.fleet.seats()[index].is_usable


def test_only_answers_that_had_begun_are_lost_with_a_worker_and_it_gets_more_when_it_is_back() -> None:
    async def run() -> None:
        script = says(*TEXTS, pace=0.01)
        async with (
            SglangDouble(script) as mortal,
            SglangDouble(script) as other,
            quiet(in_front_of(mortal.url, other.url, model=MODEL, **LIVELY)) as door,
        ):
            first = [asyncio.ensure_future(outcome(door, number)) for number in range(40)]
            await settled(lambda: len(mortal.requests) + len(other.requests) == 40)
            begun = len(mortal.requests)
            await mortal.kill()
            second = [asyncio.ensure_future(outcome(door, number)) for number in range(40)]
            ends = await asyncio.gather(*first)
            assert begun == 20
            assert ends.count(COMPLETE) >= 40 - begun
            assert await asyncio.gather(*second) == [COMPLETE] * 40
            await settled(lambda: is_idle(door, 0))

            async with mortal:
                await settled(lambda: not is_idle(door, 0))
                before = len(mortal.requests)
                assert [await outcome(door, number) for number in range(8)] == [COMPLETE] * 8
                assert len(mortal.requests) > before

    asyncio.run(run())


def test_what_had_not_begun_is_done_by_another_worker() -> None:
    async def run() -> None:
        async with (
            SglangDouble(Script(delay=60)) as mortal,
            SglangDouble(says(*TEXTS)) as other,
            quiet(in_front_of(mortal.url, other.url, model=MODEL, **LIVELY)) as door,
        ):
            asked = [asyncio.ensure_future(outcome(door, number)) for number in range(40)]
            await settled(lambda: len(mortal.requests) == 20)
            await mortal.kill()
            assert await asyncio.gather(*asked) == [COMPLETE] * 40
            assert len(other.requests) == 40

    asyncio.run(run())


def test_a_worker_that_is_killed_again_and_again_costs_only_what_it_had_begun() -> None:
    async def run() -> None:
        begun: list[Json] = []

        def script(request: Json) -> Script:
            begun.append(request)
            return says(*TEXTS, pace=0.002)

        async with (
            SglangDouble(script) as mortal,
            SglangDouble(says(*TEXTS, pace=0.002)) as other,
            quiet(in_front_of(mortal.url, other.url, model=MODEL, **LIVELY)) as door,
        ):
            over = False

            async def ask_on(start: int) -> list[str]:
                ends = []
                while not over:
                    ends.append(await outcome(door, start + len(ends)))
                return ends

            askers = [asyncio.ensure_future(ask_on(start)) for start in range(10)]
            lost = 0
            for _ in range(4):
                await asyncio.sleep(0.15)
                lost += sum(one.task is not None and not one.task.done() for one in mortal._serving)
                await mortal.kill()
                await asyncio.sleep(0.05)
                await mortal.__aenter__()
            over = True
            ends = [end for asker in askers for end in await asker]
            assert len(ends) - ends.count(COMPLETE) <= lost
            assert other.requests

    asyncio.run(run())


def test_a_worker_that_is_not_there_at_first_is_found_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "AGAIN", 0.05)

    async def run() -> None:
        late = SglangDouble(says("Mild."))
        async with late:
            url = late.url
        async with quiet(in_front_of(url, model=MODEL)) as door:
            status, body, headers = await door.post(CHAT, ask())
            assert (status, body["error"]["code"]) == (503, "no_worker_available")
            assert headers["retry-after"]
            assert (await door.get("/ready"))[0] == 503
            async with late:
                await settled(lambda: len(door.parts.fleet.seats()) == 1)
                assert (await door.get("/ready"))[0] == 200
                assert (await door.post(CHAT, ask()))[0] == 200

    asyncio.run(run())
