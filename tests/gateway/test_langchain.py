"""LangChain's client for OpenAI's API, against the whole stack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from langchain_core.messages import AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

from .doubles.double import Json
from .doubles.script import Script
from .doubles.sglang import SglangDouble
from .harmony import ANALYSIS, CALL, FINAL, MODEL, ids_of, text_of
from .quiet import quiet
from .running import in_front_of

ANSWER = "It is mild in Paris."


@asynccontextmanager
async def talking(*outputs: str) -> AsyncIterator[tuple[ChatOpenAI, SglangDouble]]:
    """A client of a gateway whose model writes these, one after the other."""
    left = list(outputs)

    def script(request: Json) -> Script:
        return Script(ids=ids_of(left.pop(0)), chunk=2)

    async with (
        SglangDouble(script) as worker,
        quiet(in_front_of(worker.url, model=MODEL)) as door,
        httpx.AsyncClient() as http,
    ):
        place: dict[str, Any] = {"base_url": f"{door.url}/v1", "api_key": "none", "http_async_client": http}
        yield ChatOpenAI(model=MODEL, max_retries=0, stream_usage=True, **place), worker


@tool
def get_weather(city: str, unit: str = "c") -> str:
    """The weather of a city."""
    return f"mild in {city}, in {unit}"


class Weather(BaseModel):
    """What the weather is like."""

    city: str
    degrees: int


def test_invoke() -> None:
    async def run() -> None:
        async with talking(ANALYSIS + FINAL) as (chat, _):
            said = await chat.ainvoke("How is the weather?")
            assert said.content == ANSWER
            assert said.response_metadata["finish_reason"] == "stop"
            assert said.usage_metadata is not None
            assert said.usage_metadata["output_tokens"] > 0

    asyncio.run(run())


def test_stream() -> None:
    async def run() -> None:
        async with talking(ANALYSIS + FINAL) as (chat, _):
            pieces = [piece async for piece in chat.astream("How is the weather?")]
            assert "".join(str(piece.content) for piece in pieces) == ANSWER
            assert [piece.usage_metadata for piece in pieces if piece.usage_metadata] != []

    asyncio.run(run())


def test_bind_tools() -> None:
    async def run() -> None:
        async with talking(ANALYSIS + CALL, ANALYSIS + FINAL) as (chat, worker):
            question = HumanMessage("How is the weather?")
            bound = chat.bind_tools([get_weather])
            said = await bound.ainvoke([question])
            (call,) = said.tool_calls
            assert (call["name"], call["args"]) == ("get_weather", {"city": "Paris", "unit": "c"})
            result: ToolMessage = await get_weather.ainvoke(call)
            assert (await bound.ainvoke([question, said, result])).content == ANSWER
            assert "<|message|>mild in Paris, in c<|end|>" in text_of(worker.requests[1]["input_ids"])

    asyncio.run(run())


def test_a_stream_of_a_call() -> None:
    async def run() -> None:
        async with talking(ANALYSIS + CALL) as (chat, _):
            whole: AIMessageChunk | None = None
            async for piece in chat.bind_tools([get_weather]).astream("How is the weather?"):
                assert isinstance(piece, AIMessageChunk)
                whole = piece if whole is None else whole + piece
            assert whole is not None
            assert [call["args"] for call in whole.tool_calls] == [{"city": "Paris", "unit": "c"}]
            assert whole.invalid_tool_calls == []

    asyncio.run(run())


def test_structured_output_by_a_schema() -> None:
    async def run() -> None:
        async with talking('<|channel|>final<|message|>{"city":"Paris","degrees":18}<|return|>') as (chat, worker):
            asked = chat.with_structured_output(Weather, method="json_schema")
            assert await asked.ainvoke("How is the weather?") == Weather(city="Paris", degrees=18)
            assert "degrees" in worker.requests[0]["sampling_params"]["structural_tag"]

    asyncio.run(run())


def test_structured_output_by_a_call() -> None:
    async def run() -> None:
        call = '<|channel|>commentary to=functions.Weather<|message|>{"city":"Paris","degrees":18}<|call|>'
        async with talking(call) as (chat, worker):
            asked = chat.with_structured_output(Weather, method="function_calling")
            assert await asked.ainvoke("How is the weather?") == Weather(city="Paris", degrees=18)
            assert "Weather" in worker.requests[0]["sampling_params"]["structural_tag"]

    asyncio.run(run())
