"""The gateway in front of a real llama.cpp, whose tiny model says anything at all: what comes out right is our doing.

llama.cpp says the same for the same seed as long as it does not go on from a prompt that it has kept, hence
``cache_prompt``; so a streamed answer can be compared with a whole one.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import validate
from openai import AsyncOpenAI

from dragoman.gateway.config import Server, Settings, WorkerEntry

from .answers import assembled, said, same, whole
from .running import gateway
from .stack import Stack, running
from .tiny_llama import IDS, NAME, TinyLlama, entries, likely, tokens

pytest.importorskip("xllamacpp")
pytest.importorskip("gguf")

CHAT = "/v1/chat/completions"
FORMS = ("hermes", "hermes" + IDS)
CALLING = (
    ("hermes", "JSON in tags"),
    ("qwen3_coder", "XML"),
    ("lfm2", "Python's calls"),
    ("kimi_k2", "ids of its own"),
    ("glm45", "raw values"),
    ("mistral", "a name and JSON"),
    ("deepseek_v31", "sections"),
    ("functiongemma", "values that are escaped"),
    ("llama_pythonic", "a list of Python"),
)
MODELS = [name + form for name, _ in CALLING for form in ("", IDS)] + ["harmony" + IDS]
ENDS = dict.fromkeys(("</think>", "<|end|>", "<|message|>"), 9.0)
"""Makes thoughts end, which chance alone would let go on for hundreds of tokens."""

CITY = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 8},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "unit": {"enum": ["c", "f"]},
    },
    "required": ["city", "unit"],
    "additionalProperties": False,
}
NOTHING = {"type": "object", "properties": {}, "additionalProperties": False}
SCHEMAS = {"get_weather": CITY, "ping": NOTHING}
TOOLS = [{"type": "function", "function": {"name": name, "parameters": schema}} for name, schema in SCHEMAS.items()]
NAMED = {"type": "function", "function": {"name": "get_weather"}}


def settings(folder: Path, *workers: WorkerEntry) -> Settings:
    return Settings(server=Server(port=0), models=entries(folder), workers=workers)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("llama")


@pytest.fixture(scope="module")
def stack(folder: Path) -> Iterator[Stack]:
    models = tuple(entry.name for entry in entries(folder))
    with running(TinyLlama(folder), lambda url: settings(folder, WorkerEntry(url=url, models=models))) as stack:
        yield stack


def body(model: str, seed: int = 0, *, liked: dict[str, float] | None = None, **fields: Any) -> dict[str, Any]:
    """A chat in which anything may be said."""
    return {
        "model": model,
        "messages": [{"role": "user", "content": "How is it?"}],
        "max_tokens": 40,
        "temperature": 2,
        "top_k": 0,
        "top_p": 1,
        "min_p": 0,
        "seed": seed,
        "cache_prompt": False,
        "logit_bias": likely(liked or {}),
        **fields,
    }


def asked(stack: Stack, sent: dict[str, Any], path: str = CHAT) -> Any:
    status, value, _ = stack.run(stack.door.post(path, sent))
    assert status == 200, value
    return value


def both(stack: Stack, sent: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The choices of an answer, which are the same streamed and whole."""
    choices = same(whole(asked(stack, sent)))
    assert same(assembled(stack.run(stack.door.stream(CHAT, sent)))) == choices
    return choices


def answer(stack: Stack, sent: dict[str, Any]) -> dict[str, Any]:
    """The only choice."""
    return said(both(stack, sent))


def plain(**more: float) -> dict[str, float]:
    """Text alone: no control token, and so no end."""
    return {**dict.fromkeys(tokens(), -100.0), **more}


def check_calls(made: dict[str, Any], *names: str) -> None:
    """There are calls, of these tools, and their arguments are what the tools take."""
    assert made["finish"] == "tool_calls", made
    assert made["calls"]
    for call in made["calls"]:
        assert call["name"] in names
        validate(json.loads(call["arguments"]), SCHEMAS[call["name"]])
    assert not made["content"].strip()


# What is said


@pytest.mark.parametrize("model", FORMS)
@pytest.mark.parametrize("seed", [0, 1])
def test_streamed_and_whole_are_the_same(stack: Stack, model: str, seed: int) -> None:
    answer(stack, body(model, seed))


@pytest.mark.parametrize("model", FORMS)
def test_text_and_ids_say_the_same(stack: Stack, model: str) -> None:
    """The same tokens, whether the gateway knows the model's tokenizer or not."""
    made = answer(stack, body(model, 7, liked=plain()))
    assert made["content"] == answer(stack, body(FORMS[0], 7, liked=plain()))["content"]


@pytest.mark.parametrize("model", FORMS)
def test_the_limit_ends_it_and_tokens_are_counted(stack: Stack, model: str) -> None:
    sent = body(model, max_tokens=7, liked=plain())
    value = asked(stack, sent)
    assert value["choices"][0]["finish_reason"] == "length"
    assert value["usage"]["completion_tokens"] == 7
    assert value["usage"]["prompt_tokens"] == len("[user]How is it?\n[assistant]") + 1
    *_, last = stack.run(stack.door.stream(CHAT, {**sent, "stream_options": {"include_usage": True}}))
    assert last["usage"] == value["usage"]


@pytest.mark.parametrize("model", FORMS)
def test_the_models_own_end_is_no_text(stack: Stack, model: str) -> None:
    made = answer(stack, body(model, liked=plain(**{"<|im_end|>": 6.0})))
    assert made["finish"] == "stop"
    assert "<|im_end|>" not in made["content"]


@pytest.mark.parametrize("model", FORMS)
def test_a_callers_stop_ends_it(stack: Stack, model: str) -> None:
    content = answer(stack, body(model, liked=plain()))["content"]
    stop = content[10:13]
    made = answer(stack, body(model, liked=plain(), stop=[stop]))
    assert (made["content"], made["finish"]) == (content[: content.index(stop)], "stop")


@pytest.mark.parametrize("model", FORMS)
def test_tokens_come_with_their_probabilities(stack: Stack, model: str) -> None:
    made = answer(stack, body(model, liked=plain(), logprobs=True, top_logprobs=2, max_tokens=9))
    assert "".join(token["token"] for token in made["tokens"]) == made["content"]
    assert all(len(token["top_logprobs"]) == 2 for token in made["tokens"])


@pytest.mark.parametrize("model", FORMS)
def test_each_choice_is_that_of_a_seed(stack: Stack, model: str) -> None:
    two = both(stack, body(model, 3, n=2))
    assert [two[k] for k in (0, 1)] == [answer(stack, body(model, 3 + k)) for k in (0, 1)]


# What must be said


@pytest.mark.parametrize("model", FORMS)
def test_an_answer_is_of_its_schema(stack: Stack, model: str) -> None:
    asks = {"type": "json_schema", "json_schema": {"name": "city", "schema": CITY, "strict": True}}
    made = answer(stack, body(model, liked=ENDS, max_tokens=500, response_format=asks))
    assert made["finish"] == "stop"
    validate(json.loads(made["content"]), CITY)


@pytest.mark.parametrize("model", FORMS)
def test_a_call_that_is_required_comes(stack: Stack, model: str) -> None:
    check_calls(answer(stack, calling(model, 0, "required")), "get_weather", "ping")


def calling(model: str, seed: int, choice: Any, **fields: Any) -> dict[str, Any]:
    return body(model, seed, liked=ENDS, max_tokens=900, tools=TOOLS, tool_choice=choice, **fields)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", MODELS)
def test_a_call_that_is_required_comes_in_every_dialect(stack: Stack, model: str, seed: int) -> None:
    check_calls(answer(stack, calling(model, seed, "required")), "get_weather", "ping")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("model", MODELS)
def test_a_tool_that_is_named_is_called_once(stack: Stack, model: str, seed: int) -> None:
    made = answer(stack, calling(model, seed, NAMED, parallel_tool_calls=False))
    check_calls(made, "get_weather")
    assert len(made["calls"]) == 1


@pytest.mark.parametrize(
    ("model", "opener"),
    [
        ("mistral", ("[TOOL_CALLS]",)),
        ("mistral" + IDS, ("[TOOL_CALLS]", "[ARGS]")),
        pytest.param("deepseek_v31", ("<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"), marks=pytest.mark.slow),
        pytest.param("kimi_k2", ("<|tool_calls_section_begin|>", "<|tool_call_begin|>"), marks=pytest.mark.slow),
    ],
)
def test_a_call_that_may_come_is_constrained_from_its_opener_on(
    stack: Stack, model: str, opener: tuple[str, ...]
) -> None:
    """Of ids, those behind the opener may spell a marker, which is then none: such a call is lost, and a problem."""
    called = 0
    for seed in range(3):
        liked = plain(**dict.fromkeys(opener, 5.0), **{"</s>": 3.0})
        made = answer(stack, body(model, seed, liked=liked, max_tokens=300, tools=TOOLS))
        calls = made["calls"][:-1] if made["finish"] == "length" else made["calls"]  # the limit may cut the last
        called += len(calls)
        for call in calls:
            validate(json.loads(call["arguments"]), SCHEMAS[call["name"]])
    assert called


# Beside chats


@pytest.mark.parametrize("model", FORMS)
def test_completions_are_said_as_they_are(stack: Stack, model: str) -> None:
    sent = {key: value for key, value in body(model, liked=plain()).items() if key != "messages"}
    sent |= {"prompt": [1, 230, 231], "max_tokens": 8}
    value = asked(stack, sent, "/v1/completions")
    (choice,) = value["choices"]
    assert (choice["finish_reason"], value["usage"]["prompt_tokens"], value["usage"]["completion_tokens"]) == (
        "length",
        3,
        8,
    )
    chunks = stack.run(stack.door.stream("/v1/completions", sent))
    assert "".join(one["text"] for chunk in chunks for one in chunk["choices"]) == choice["text"]


def test_ids_are_given_for_ids(stack: Stack) -> None:
    sampling = {"max_new_tokens": 8, "temperature": 2, "sampling_seed": 1, "logit_bias": likely(plain())}
    sent = {"model": FORMS[1], "input_ids": [1, 230, 231], "sampling_params": sampling}
    value = asked(stack, sent, "/generate")
    assert len(value["output_ids"]) == value["meta_info"]["completion_tokens"] == 8
    assert value["meta_info"]["prompt_tokens"] == 3


@pytest.mark.parametrize("model", FORMS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_that_is_too_long_is_told_so(stack: Stack, model: str, stream: bool) -> None:
    long = [{"role": "user", "content": "x" * 9000}]
    status, value, _ = stack.run(stack.door.post(CHAT, body(model, messages=long, stream=stream)))
    assert (status, value["error"]["code"]) == (400, "context_length_exceeded")
    assert "exceeds the available context size (8192 tokens)" in value["error"]["message"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("model", FORMS)
def test_who_leaves_sets_its_slot_free(stack: Stack, model: str, stream: bool) -> None:
    sent = msgspec.json.encode(body(model, liked=plain(), max_tokens=8000, stream=stream))

    async def busy() -> int:
        slots = msgspec.json.decode((await stack.door.client.fetch("GET", stack.worker.url + "/slots")).body)
        return sum(slot["is_processing"] for slot in slots)

    async def run() -> None:
        asking = asyncio.ensure_future(stack.door.client.open("POST", stack.door.url + CHAT, (), sent))
        async with asyncio.timeout(5):
            while not await busy():
                await asyncio.sleep(0.001)
            if stream:
                (await asking).close()
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled() is not stream
        async with asyncio.timeout(1):  # what was asked for takes several
            while await busy():
                await asyncio.sleep(0.005)

    stack.run(run())


# Who serves it


def test_a_server_is_known_by_its_url_alone(stack: Stack, folder: Path) -> None:
    """Its model has the file's name, its prompts are laid out by the template that llama.cpp has for those without."""

    async def run() -> None:
        async with gateway(Settings(server=Server(port=0), workers=(WorkerEntry(url=stack.worker.url),))) as door:
            (seat,) = door.parts.fleet.seats()
            assert (seat.worker.capabilities.kind, seat.models) == ("llama.cpp", {NAME: NAME})
            status, value, _ = await door.post(CHAT, body(NAME))
            assert (status, value["model"]) == (200, NAME)

    asyncio.run(run())


def test_the_openai_package_is_answered(stack: Stack) -> None:
    async def run() -> None:
        async with AsyncOpenAI(base_url=stack.door.url + "/v1", api_key="none") as client:
            own = {"top_k": 0, "min_p": 0, "cache_prompt": False}
            sent = {key: value for key, value in calling(FORMS[1], 1, NAMED).items() if key not in own}
            got = await client.chat.completions.create(**sent, extra_body=own)
            (choice,) = got.choices
            assert choice.finish_reason == "tool_calls"
            calls = choice.message.tool_calls or []
            chunks = [
                chunk async for chunk in await client.chat.completions.create(**sent, stream=True, extra_body=own)
            ]
            deltas = [delta for chunk in chunks for one in chunk.choices for delta in one.delta.tool_calls or ()]
            streamed = "".join(delta.function.arguments or "" for delta in deltas if delta.function)
            assert streamed == "".join(call.function.arguments for call in calls if call.type == "function")
            validate(json.loads(calls[0].to_dict()["function"]["arguments"]), CITY)

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("form", ["", IDS])
def test_a_file_is_served_by_a_child_of_the_gateway(folder: Path, stack: Stack, form: str) -> None:
    async def run() -> None:
        (entry,) = (one for one in entries(folder) if one.name == "hermes" + form)
        worker = WorkerEntry(gguf=str(folder / f"{NAME}.gguf"), models=(entry.name,))
        async with gateway(Settings(server=Server(port=0), models=(entry,), workers=(worker,))) as door:
            sent = calling(entry.name, 0, "required")
            status, value, _ = await door.post(CHAT, sent)
            assert status == 200, value
            check_calls(said(same(whole(value))), "get_weather", "ping")
            assert same(assembled(await door.stream(CHAT, sent))) == same(whole(value))
            assert answer(stack, sent) == said(same(whole(value)))
            (seat,) = door.parts.fleet.seats()
        assert not await seat.worker.is_well()

    asyncio.run(run())
