"""What workers do wrong, and what a client is told of it; nothing is left behind."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from dragoman.gateway.config import Breaker, Limits, Retries
from dragoman.gateway.fleet.breaker import BreakerState

from .doubles.double import Json
from .doubles.script import Fault, Script
from .doubles.sglang import SglangDouble
from .quiet import MODEL, ask, facing, quiet, says
from .running import Gateway, in_front_of

CHAT = "/v1/chat/completions"
FAULTS = [fault for fault in Fault if fault is not Fault.NONE]
SOON = Limits(stall_seconds=0.3)
STRICT = Breaker(faults=1)


def broken(fault: Fault, *texts: str, **fields: Any) -> Script:
    """An answer that breaks behind the texts."""
    return says(*texts, "never", "said", fault=fault, after=len(texts), **fields)


def content(chunks: list[Any]) -> str:
    return "".join(choice["delta"].get("content") or "" for chunk in chunks for choice in chunk["choices"])


def error_of(status: int, body: Any) -> tuple[int, str, str]:
    """Status, type and code of an error in OpenAI's shape."""
    error = body["error"]
    assert sorted(error) == ["code", "message", "param", "type"]
    return status, error["type"], error["code"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_stream_that_breaks_says_so_behind_what_was_said(fault: Fault) -> None:
    async def run() -> None:
        async with facing(broken(fault, "It is", " mild"), limits=SOON) as (worker, door):
            *chunks, last = await door.stream(CHAT, ask())
            assert content(chunks).startswith("It is mild")
            assert all(choice["finish_reason"] is None for chunk in chunks for choice in chunk["choices"])
            assert error_of(502, last) == (502, "server_error", "worker_failed")
            assert len(worker.requests) == 1

    asyncio.run(run())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_whole_answer_that_breaks_is_an_error(fault: Fault) -> None:
    async def run() -> None:
        async with facing(broken(fault, "It is", " mild"), limits=SOON) as (worker, door):
            status, body, _ = await door.post(CHAT, ask())
            assert error_of(status, body) == (502, "server_error", "worker_failed")
            assert len(worker.requests) == 1

    asyncio.run(run())


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault is not Fault.ABORT])
def test_what_breaks_before_its_first_text_is_asked_of_another_worker(fault: Fault) -> None:
    async def run() -> None:
        async with (
            SglangDouble(broken(fault)) as first,
            SglangDouble(says("Mild.")) as second,
            quiet(in_front_of(first.url, second.url, model=MODEL, limits=SOON)) as door,
        ):
            answers = [await door.post(CHAT, ask(str(number))) for number in range(4)]
            assert [body["choices"][0]["message"]["content"] for _, body, _ in answers] == ["Mild."] * 4
            assert len(second.requests) == 4

    asyncio.run(run())


@pytest.mark.parametrize("stream", [False, True])
def test_a_worker_that_fails_is_asked_again_and_then_it_is_a_bad_gateway(stream: bool) -> None:
    async def run() -> None:
        async with facing(Script(status=500, message="no memory")) as (worker, door):
            status, body, _ = await door.post(CHAT, ask(stream=stream))
            assert error_of(status, body) == (502, "server_error", "worker_failed")
            assert "no memory" in body["error"]["message"]
            assert len(worker.requests) == 3

    asyncio.run(run())


def test_a_worker_that_failed_too_often_is_spared_and_then_there_is_none() -> None:
    async def run() -> None:
        async with facing(Script(status=500), breaker=STRICT) as (worker, door):
            status, body, headers = await door.post(CHAT, ask())
            assert error_of(status, body) == (503, "server_error", "no_worker_available")
            assert int(headers["retry-after"]) > 1
            assert len(worker.requests) == 1

    asyncio.run(run())


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [(429, "rate_limit_error", "rate_limit_exceeded"), (503, "server_error", "worker_overloaded")],
)
def test_a_worker_that_has_too_much_to_do_is_asked_again_but_not_blamed(status: int, kind: str, code: str) -> None:
    async def run() -> None:
        async with facing(Script(status=status, message="too busy"), breaker=STRICT) as (worker, door):
            given, body, headers = await door.post(CHAT, ask())
            assert error_of(given, body) == (status, kind, code)
            assert (headers["retry-after"], len(worker.requests)) == ("1", 3)
            assert door.parts.fleet.seats()[0].breaker.state is BreakerState.CLOSED

    asyncio.run(run())


def test_what_a_worker_refuses_is_refused_with_its_own_words() -> None:
    async def run() -> None:
        async with facing(Script(status=400, message="the prompt is too long"), breaker=STRICT) as (worker, door):
            status, body, _ = await door.post(CHAT, ask())
            assert error_of(status, body) == (400, "invalid_request_error", "worker_refused")
            assert "the prompt is too long" in body["error"]["message"]
            assert len(worker.requests) == 1
            assert door.parts.fleet.seats()[0].breaker.state is BreakerState.CLOSED

    asyncio.run(run())


def test_a_choice_that_breaks_ends_the_stream_behind_those_that_are_complete() -> None:
    async def run() -> None:
        async with facing(by_turns(says("Mild."), broken(Fault.CUT, "It is", pace=0.05))) as (_, door):
            *chunks, last = await door.stream(CHAT, ask(n=2))
            assert error_of(502, last) == (502, "server_error", "worker_failed")
            ends = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"]]
            assert (content(chunks), ends.count("stop")) in {("Mild.It is", 1), ("It isMild.", 1)}

    asyncio.run(run())


def by_turns(*scripts: Script) -> Any:
    """A script for each request."""
    left = list(scripts)

    def script(request: Json) -> Script:
        return left.pop(0)

    return script


def test_a_choice_that_does_not_begin_ends_the_work_on_the_others() -> None:
    async def run() -> None:
        scripts = by_turns(says("It is", "mild", pace=60), Script(status=400))
        async with facing(scripts) as (_, door):
            status, body, _ = await door.post(CHAT, ask(n=2))
            assert error_of(status, body) == (400, "invalid_request_error", "worker_refused")

    asyncio.run(run())


def test_a_gateway_without_its_worker_says_so() -> None:
    async def run() -> None:
        async with facing(says("Mild.")) as (worker, door):
            await worker.kill()
            status, body, _ = await door.post(CHAT, ask())
            assert error_of(status, body) == (502, "server_error", "worker_failed")
            await worker.__aenter__()

    asyncio.run(run())


def test_a_stall_before_the_first_text_is_a_failure_as_well() -> None:
    async def run() -> None:
        async with facing(Script(delay=60), limits=SOON, retries=Retries(attempts=1)) as (_, door):
            assert error_of(*(await door.post(CHAT, ask()))[:2]) == (502, "server_error", "worker_failed")

    asyncio.run(run())


LONG = 10 << 20
"""Characters of a call's arguments."""


def test_ten_megabytes_of_arguments_are_one_call_streamed_and_whole() -> None:
    piece = "0123456789abcdef" * 256
    texts = ('<tool_call>\n{"name": "save", "arguments": {"text": "', *[piece] * (LONG // len(piece)))
    script = says(*texts, '"}}\n</tool_call>', incremental=True, burst=4)
    tool = {"type": "function", "function": {"name": "save", "parameters": {"type": "object"}}}

    async def run() -> None:
        async with facing(script) as (_, door), asyncio.timeout(60):
            arguments = [text async for text in _arguments(door, ask(tools=[tool]))]
            assert "".join(arguments) == '{"text": "' + piece * (LONG // len(piece)) + '"}'
            response = await door.client.open("POST", door.url + CHAT, (), msgspec.json.encode(ask(tools=[tool])))
            body = await response.collect(2 * LONG)
            assert body.count(piece.encode()) == LONG // len(piece)

    asyncio.run(run())


async def _arguments(door: Gateway, body: dict[str, Any]) -> Any:
    async for chunk in door.events(CHAT, body):
        for choice in chunk["choices"]:
            for call in choice["delta"].get("tool_calls", ()):
                yield call["function"]["arguments"]
