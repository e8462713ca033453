"""Requests that are refused: each with its status, in OpenAI's shape, and without a trace."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from dragoman.gateway.config import Keys, Limits
from dragoman.gateway.secret import Secret

from .doubles.sglang import SglangDouble
from .quiet import MODEL, ask, facing, held, says
from .running import Gateway, in_front_of, settled
from .stack import Stack, running

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """A gateway with small limits and keys."""
    limits, keys = Limits(body_bytes=2000), Keys(api=(Secret("sesame"),), admin=(Secret("master"),))
    with running(SglangDouble(), lambda url: in_front_of(url, model=MODEL, limits=limits, keys=keys)) as stack:
        yield stack


def answer(stack: Stack, path: str, body: Any, *, method: str = "POST", **headers: str) -> tuple[int, Any, Any]:
    """Status, body and headers; the worker must not be asked, and nothing be left behind."""

    async def run() -> tuple[int, Any, Any]:
        given = [(name.replace("_", "-"), value) for name, value in headers.items()]
        sent = body if isinstance(body, bytes) else msgspec.json.encode(body)
        got = await stack.door.client.fetch(method, stack.door.url + path, given, sent)
        with suppress(TimeoutError):
            await settled(lambda: not held(stack.door), 1)
        assert (stack.worker.requests, held(stack.door)) == ([], {})
        return got.status, msgspec.json.decode(got.body), got.headers

    return stack.run(run())


def refusal(stack: Stack, path: str, body: Any, **more: str) -> tuple[int, str, str | None, str]:
    """Status, code, param and type of the refusal that a client with a key gets."""
    return refused(*answer(stack, path, body, **{"authorization": "Bearer sesame", **more})[:2])


def refused(status: int, body: Any) -> tuple[int, str, str | None, str]:
    error = body["error"]
    assert (list(body), sorted(error)) == (["error"], ["code", "message", "param", "type"])
    assert error["message"]
    return status, error["code"], error["param"], error["type"]


INVALID = "invalid_request_error"


@pytest.mark.parametrize("body", [b"", b"{", b"not json", b'{"model": "\xff"}', b"\x00", b"[" * 1500])
@pytest.mark.parametrize("path", [CHAT, COMPLETIONS, "/generate", "/tokenize", "/detokenize"])
def test_a_body_that_is_no_json(stack: Stack, path: str, body: bytes) -> None:
    status, code, _, kind = refusal(stack, path, body)
    assert (status, kind) == (400, INVALID)
    assert code in ("invalid_json", "invalid_type")


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"messages": "Hello"}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": ["Hello"]}, "messages[0]"),
        ({"messages": [{"role": "nobody", "content": "x"}]}, "messages[0]"),
        ({"temperature": "hot"}, "temperature"),
        ({"temperature": 3}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_completion_tokens": 1.5}, "max_completion_tokens"),
        ({"n": 0}, "n"),
        ({"n": 1000}, "n"),
        ({"stream": "yes"}, "stream"),
        ({"stop": [1]}, "stop[0]"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"type": "function"}]}, "tools"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"top_logprobs": 3}, "top_logprobs"),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
        ({"response_format": {"type": "poem"}}, "response_format.type"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"logit_bias": {"x": 1}}, "logit_bias"),
    ],
    ids=lambda value: msgspec.json.encode(value).decode() if isinstance(value, dict) else "",
)
def test_a_field_that_can_not_be_is_named(stack: Stack, fields: dict[str, Any], param: str) -> None:
    status, _, found, kind = refusal(stack, CHAT, ask(**fields))
    assert (status, found, kind) == (400, param, INVALID)


DEEP = b"[" * 700 + b"]" * 700


@pytest.mark.parametrize("field", ["messages", "tools", "tool_choice", "chat_template_kwargs", "stop", "unknown"])
def test_a_field_that_is_nested_deeply_does_no_harm(stack: Stack, field: str) -> None:
    rest = {name: value for name, value in ask(n=0).items() if name != field}
    body = msgspec.json.encode(rest)[:-1] + b', "%b": %b}' % (field.encode(), DEEP)
    status, _, _, kind = refusal(stack, CHAT, body)
    assert (status, kind) == (400, INVALID)


def test_a_missing_field_is_named(stack: Stack) -> None:
    assert refusal(stack, CHAT, {"model": MODEL}) == (400, "missing_required_parameter", "messages", INVALID)


def test_a_model_that_there_is_not(stack: Stack) -> None:
    assert refusal(stack, CHAT, {**ask(), "model": "nobody"}) == (404, "model_not_found", "model", INVALID)


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer sésame"}, {"x_api_key": "open"}])
def test_a_key_that_is_missing_or_wrong(stack: Stack, headers: dict[str, str]) -> None:
    status, body, found = answer(stack, CHAT, ask(), **headers)
    assert refused(status, body) == (401, "invalid_api_key", None, "authentication_error")
    assert found["www-authenticate"] == "Bearer"


def test_what_only_administrators_may_do(stack: Stack) -> None:
    body = {"url": "http://127.0.0.1:1"}
    assert refusal(stack, "/workers", body) == (401, "invalid_api_key", None, "authentication_error")


def test_an_address_that_there_is_not(stack: Stack) -> None:
    assert refusal(stack, "/v1/nothing", {}) == (404, "unknown_url", None, INVALID)


def test_a_method_that_an_address_does_not_have(stack: Stack) -> None:
    status, body, headers = answer(stack, CHAT, b"", method="GET")
    assert refused(status, body) == (405, "method_not_allowed", None, INVALID)
    assert headers["allow"] == "POST"


def test_a_body_that_says_that_it_is_too_large(stack: Stack) -> None:
    assert refusal(stack, CHAT, ask("x" * 2000)) == (413, "request_too_large", None, INVALID)


def test_a_body_that_turns_out_to_be_too_large() -> None:
    async def run() -> None:
        async with facing(limits=Limits(body_bytes=2000)) as (_, door):
            host, port = door.url.removeprefix("http://").split(":")
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"POST %b HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n" % CHAT.encode())
            writer.write(b"3e8\r\n%b\r\n" % (b" " * 1000) * 3)
            assert (await reader.readline()).split()[1] == b"413"
            assert b'"code":"request_too_large"' in await reader.readuntil(b"}}")
            writer.close()
            await writer.wait_closed()

    asyncio.run(run())


def test_a_request_for_whom_the_queue_is_too_long() -> None:
    async def run() -> None:
        limits = Limits(concurrent=1, queue=1)
        async with facing(says("Mild.", delay=0.2), limits=limits) as (_, door):
            served = [asyncio.ensure_future(door.post(CHAT, ask())) for _ in range(2)]
            await settled(lambda: door.parts.hall.gate.waiting == 1)
            status, body, headers = await door.post(CHAT, ask())
            assert refused(status, body) == (429, "queue_full", None, "rate_limit_error")
            assert int(headers["retry-after"]) > 0
            assert [(await one)[0] for one in served] == [200, 200]

    asyncio.run(run())


def test_a_request_that_waits_too_long() -> None:
    async def run() -> None:
        limits = Limits(concurrent=1, queue_seconds=0.05)
        async with facing(says("Mild.", delay=0.3), limits=limits) as (_, door):
            served = asyncio.ensure_future(door.post(CHAT, ask()))
            await settled(lambda: door.parts.hall.gate.inside == 1)
            status, body, _ = await door.post(CHAT, ask())
            assert refused(status, body) == (429, "queue_timeout", None, "rate_limit_error")
            assert (await served)[0] == 200

    asyncio.run(run())


def test_requests_that_come_while_it_drains() -> None:
    async def run() -> None:
        async with facing(says("It", " is", " mild", pace=0.05)) as (worker, door):
            streamed = asyncio.ensure_future(door.stream(CHAT, ask()))
            await settled(lambda: len(worker.requests) == 1)
            door.draining.begin()
            assert await _while_draining(door) == (503, "shutting_down", None, "server_error")
            assert len(await streamed) > 3

    asyncio.run(run())


async def _while_draining(door: Gateway) -> tuple[int, str, str | None, str]:
    status, body, headers = await door.post(CHAT, ask())
    assert headers["retry-after"]
    return refused(status, body)
