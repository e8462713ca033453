"""The `openai` package's own client, against the whole stack."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import msgspec
import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from dragoman.gateway.config import Keys, Limits
from dragoman.gateway.secret import Secret

from .answers import checked
from .doubles.double import Json
from .doubles.script import Fault, Script
from .doubles.sglang import SglangDouble
from .harmony import ANALYSIS, CALL, FINAL, MODEL, TOOL, ids_of
from .quiet import quiet
from .running import in_front_of

QUESTION: Any = [{"role": "user", "content": "How is the weather in Paris?"}]
TOOLS: Any = [TOOL]
THOUGHT, ANSWER = "The weather, then.", "It is mild in Paris."
T = TypeVar("T")


@asynccontextmanager
async def talking(
    script: Script | Callable[[Json], Script], key: str = "none", **fields: Any
) -> AsyncIterator[tuple[AsyncOpenAI, SglangDouble]]:
    """A client of a gateway in front of a worker with this script."""
    async with (
        SglangDouble(script) as worker,
        quiet(in_front_of(worker.url, model=MODEL, **fields)) as door,
        AsyncOpenAI(base_url=f"{door.url}/v1", api_key=key, max_retries=0) as client,
    ):
        yield client, worker


def writes(raw: str, **fields: Any) -> Script:
    """A model that writes this."""
    return Script(ids=ids_of(raw), **fields)


def of(value: BaseModel) -> Any:
    """An answer as it was sent, once the package's types have taken it strictly."""
    return checked(value.model_dump(exclude_unset=True))


def chat(script: Script, **fields: Any) -> Any:
    """A whole answer."""

    async def run() -> Any:
        async with talking(script) as (client, _):
            return of(await client.chat.completions.create(model=MODEL, messages=QUESTION, **fields))

    return asyncio.run(run())


def streamed(script: Script, **fields: Any) -> list[Any]:
    """The chunks of a stream."""

    async def run() -> list[Any]:
        async with talking(script) as (client, _):
            stream = await client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True, **fields)
            return [of(chunk) async for chunk in stream]

    return asyncio.run(run())


def joined(chunks: list[Any], field: str) -> str:
    return "".join(choice["delta"].get(field) or "" for chunk in chunks for choice in chunk["choices"])


def test_a_chat() -> None:
    got = chat(writes(ANALYSIS + FINAL))
    (choice,) = got["choices"]
    assert (choice["message"]["reasoning_content"], choice["message"]["content"]) == (THOUGHT, ANSWER)
    assert (choice["finish_reason"], got["model"], got["id"][:9]) == ("stop", MODEL, "chatcmpl-")
    usage = got["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


def test_a_stream_of_a_chat() -> None:
    chunks = streamed(writes(ANALYSIS + FINAL), stream_options={"include_usage": True})
    assert (joined(chunks, "reasoning_content"), joined(chunks, "content")) == (THOUGHT, ANSWER)
    assert [chunk["usage"] is not None for chunk in chunks] == [False] * (len(chunks) - 1) + [True]
    assert (chunks[-1]["choices"], chunks[-2]["choices"][0]["finish_reason"]) == ([], "stop")
    assert chunks[-1]["usage"]["completion_tokens_details"]["reasoning_tokens"] > 0


def test_a_stream_has_no_usage_that_nobody_asked_for() -> None:
    assert not any("usage" in chunk for chunk in streamed(writes(ANALYSIS + FINAL)))


def test_a_call() -> None:
    (choice,) = chat(writes(ANALYSIS + CALL), tools=TOOLS)["choices"]
    (call,) = choice["message"]["tool_calls"]
    assert (call["type"], call["function"]["name"]) == ("function", "get_weather")
    assert msgspec.json.decode(call["function"]["arguments"]) == {"city": "Paris", "unit": "c"}
    assert (choice["message"]["content"], choice["finish_reason"]) == (None, "tool_calls")


def test_a_stream_of_a_call_as_the_package_puts_it_together() -> None:
    async def run() -> None:
        async with talking(writes(ANALYSIS + CALL, chunk=3)) as (client, _):
            async with client.chat.completions.stream(model=MODEL, messages=QUESTION, tools=TOOLS) as stream:
                kinds = {event.type async for event in stream}
                message = (await stream.get_final_completion()).choices[0].message
            assert {"tool_calls.function.arguments.delta", "tool_calls.function.arguments.done"} <= kinds
            (call,) = message.tool_calls or ()
            assert (call.function.name, call.function.arguments) == ("get_weather", '{"city":"Paris","unit":"c"}')

    asyncio.run(run())


def test_two_choices() -> None:
    choices = chat(writes(ANALYSIS + FINAL), n=2)["choices"]
    assert [(choice["index"], choice["message"]["content"]) for choice in choices] == [(0, ANSWER), (1, ANSWER)]


def test_a_stream_of_two_choices() -> None:
    chunks = streamed(writes(ANALYSIS + FINAL), n=2)
    for index in (0, 1):
        own = [choice for chunk in chunks for choice in chunk["choices"] if choice["index"] == index]
        assert joined([{"choices": own}], "content") == ANSWER
        assert [choice["finish_reason"] for choice in own].count("stop") == 1


def test_log_probabilities_of_what_is_said() -> None:
    (choice,) = chat(writes(ANALYSIS + FINAL), logprobs=True, top_logprobs=2)["choices"]
    entries = choice["logprobs"]["content"]
    assert "".join(entry["token"] for entry in entries) == ANSWER
    assert b"".join(bytes(entry["bytes"]) for entry in entries).decode() == ANSWER
    assert {len(entry["top_logprobs"]) for entry in entries} == {2}
    assert all(entry["top_logprobs"][0]["logprob"] == entry["logprob"] for entry in entries)


def test_log_probabilities_in_a_stream() -> None:
    chunks = streamed(writes(ANALYSIS + FINAL), logprobs=True)
    choices = [choice for chunk in chunks for choice in chunk["choices"]]
    entries = [entry for choice in choices for entry in (choice["logprobs"] or {}).get("content") or ()]
    assert "".join(entry["token"] for entry in entries) == ANSWER


class Weather(BaseModel):
    city: str
    degrees: int


def test_an_answer_of_a_schema_is_parsed_and_the_worker_is_told_of_it() -> None:
    async def run() -> None:
        raw = '<|channel|>final <|constrain|>json<|message|>{"city":"Paris","degrees":18}<|return|>'
        async with talking(writes(ANALYSIS + raw)) as (client, worker):
            got = await client.chat.completions.parse(model=MODEL, messages=QUESTION, response_format=Weather)
            assert got.choices[0].message.parsed == Weather(city="Paris", degrees=18)
            assert "degrees" in tag_of(worker)

    asyncio.run(run())


def tag_of(worker: SglangDouble) -> str:
    """What the worker is told that the model may write."""
    (request,) = worker.requests
    tag = request["sampling_params"]["structural_tag"]
    assert isinstance(msgspec.json.decode(tag), dict)
    return str(tag)


@pytest.mark.parametrize("choice", ["required", {"type": "function", "function": {"name": "get_weather"}}])
def test_where_there_must_be_a_call_the_worker_is_told_of_it(choice: Any) -> None:
    async def run() -> None:
        async with talking(writes(ANALYSIS + CALL)) as (client, worker):
            got = await client.chat.completions.create(model=MODEL, messages=QUESTION, tools=TOOLS, tool_choice=choice)
            assert len(of(got)["choices"][0]["message"]["tool_calls"]) == 1
            assert "get_weather" in tag_of(worker)

    asyncio.run(run())


def test_a_completion() -> None:
    async def run() -> None:
        async with talking(writes("It is mild.")) as (client, worker):
            got = of(await client.completions.create(model=MODEL, prompt="How is it?", max_tokens=9))
            assert (got["choices"][0]["text"], got["choices"][0]["finish_reason"]) == ("It is mild.", "stop")
            assert worker.requests[0]["input_ids"] == list(ids_of("How is it?"))

    asyncio.run(run())


def test_a_stream_of_a_completion() -> None:
    async def run() -> None:
        async with talking(writes("It is mild.")) as (client, _):
            options: Any = {"include_usage": True}
            stream = await client.completions.create(model=MODEL, prompt="?", stream=True, stream_options=options)
            chunks = [of(chunk) async for chunk in stream]
            assert "".join(choice["text"] for chunk in chunks for choice in chunk["choices"]) == "It is mild."
            assert chunks[-1]["usage"]["completion_tokens"] == len(ids_of("It is mild."))

    asyncio.run(run())


def test_models_are_listed_and_found() -> None:
    async def run() -> None:
        async with talking(writes(FINAL)) as (client, _):
            assert [model.id async for model in client.models.list()] == [MODEL]
            assert (await client.models.retrieve(MODEL)).object == "model"
            with pytest.raises(openai.NotFoundError):
                await client.models.retrieve("nobody")

    asyncio.run(run())


def error(ask: Callable[[AsyncOpenAI], Awaitable[object]], script: Script | None = None, **fields: Any) -> Any:
    """What the client raises."""

    async def run() -> Any:
        async with talking(script or writes(FINAL), **fields) as (client, _):
            with pytest.raises(openai.APIError) as caught:
                await ask(client)
            return caught.value

    return asyncio.run(run())


def asking(**fields: Any) -> Callable[[AsyncOpenAI], Awaitable[object]]:
    """A chat with these fields."""
    given = {"model": MODEL, "messages": QUESTION, **fields}
    return lambda client: client.chat.completions.create(**given)


def facts(error: Any) -> tuple[type, str, str | None]:
    return type(error), error.code, error.param


def test_a_bad_request() -> None:
    found = error(asking(temperature=9))
    assert facts(found) == (openai.BadRequestError, "decimal_above_max_value", "temperature")


def test_an_unknown_model() -> None:
    assert facts(error(asking(model="nobody"))) == (openai.NotFoundError, "model_not_found", "model")


def test_a_wrong_key() -> None:
    keys = Keys(api=(Secret("sesame"),))
    assert facts(error(asking(), keys=keys)) == (openai.AuthenticationError, "invalid_api_key", None)


def test_too_many_requests() -> None:
    found = error(asking(), Script(status=429))
    assert facts(found) == (openai.RateLimitError, "rate_limit_exceeded", None)
    assert found.response.headers["retry-after"] == "1"


def test_a_worker_that_fails() -> None:
    assert facts(error(asking(), Script(status=500))) == (openai.InternalServerError, "worker_failed", None)


def test_a_worker_that_fails_within_a_stream() -> None:
    async def read(client: AsyncOpenAI) -> None:
        stream = await client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True)
        pieces = [chunk.choices[0].delta.content or "" async for chunk in stream]
        raise AssertionError(f"the stream has ended after {pieces}")

    found = error(read, writes(ANALYSIS + FINAL, fault=Fault.RESET, after=12))
    assert (type(found), found.code) == (openai.APIError, "worker_failed")


def test_comments_are_ignored() -> None:
    async def run() -> None:
        server = {"keep_alive_comment_seconds": 0.02}
        async with talking(writes(ANALYSIS + FINAL, delay=0.2, burst=9, pace=0.1), server=server) as (client, _):
            stream = await client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True)
            assert joined([of(chunk) async for chunk in stream], "content") == ANSWER

    asyncio.run(run())


def test_who_closes_the_stream_ends_the_work() -> None:
    async def run() -> None:
        async with talking(writes(ANALYSIS + FINAL, pace=0.5), limits=Limits()) as (client, worker):
            async with await client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True) as stream:
                await anext(aiter(stream))
            async with asyncio.timeout(1):
                while not worker.cancelled:
                    await asyncio.sleep(0.01)

    asyncio.run(run())
