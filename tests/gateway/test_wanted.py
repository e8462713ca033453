"""What a chat asks of its model: a constraint where there must be one, and none that nobody can make."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from dragoman.errors import DragomanError
from dragoman.gateway.protocol.chat import read_chat
from dragoman.gateway.served import load_model
from dragoman.gateway.wanted import constraint_of
from dragoman.gateway.workers.order import Prompt

from .doubles.sglang import SglangDouble
from .running import gateway, in_front_of

ODD = [
    {"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]},
    {"type": "object", "properties": {"a": False}, "required": ["a"]},
]
"""Schemas that nothing satisfies, so that there is no grammar of them."""


def constrained(parameters: Any, *, eager: bool) -> bool:
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    messages = [{"role": "user", "content": "Hi"}]
    request = read_chat(msgspec.json.encode({"model": "m", "messages": messages, "tools": [tool]}))
    return constraint_of(request, load_model("qwen3"), Prompt(), request.declared, eager=eager) is not None


def test_tools_that_may_be_called_are_a_constraint() -> None:
    assert constrained({"type": "object", "properties": {"a": {"type": "string"}}}, eager=False)


@pytest.mark.parametrize("parameters", ODD)
def test_an_odd_schema_is_no_mistake_where_the_model_is_free(parameters: Any) -> None:
    assert not constrained(parameters, eager=False)


@pytest.mark.parametrize("parameters", ODD)
def test_an_odd_schema_is_refused_where_it_must_be_kept_to(parameters: Any) -> None:
    with pytest.raises(DragomanError, match="tool 'f'"):
        constrained(parameters, eager=True)


@pytest.mark.parametrize(
    "parameters", [{"type": "string"}, {"$ref": "#/nowhere"}, {"properties": {"a": {"type": "strange"}}}]
)
def test_a_schema_that_can_not_be_read_is_refused_before_a_worker_is_asked(parameters: Any) -> None:
    async def run() -> None:
        async with SglangDouble() as worker, gateway(in_front_of(worker.url, model="qwen3")) as door:
            tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
            body = {"model": "qwen3", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool]}
            status, value, _ = await door.post("/v1/chat/completions", body)
            assert (status, value["error"]["param"], worker.requests) == (400, "tools", [])

    asyncio.run(run())
