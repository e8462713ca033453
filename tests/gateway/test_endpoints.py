"""The endpoints beside chats: completions, prompts of ids, models, tokens, workers, and the state of the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from dragoman.gateway.config import Keys, Limits
from dragoman.gateway.secret import Secret

from .answers import checked
from .doubles.script import Script
from .doubles.sglang import SglangDouble
from .harmony import FINAL, MODEL, ids_of
from .running import Gateway, gateway, in_front_of

OUTPUT = ids_of(" there lived a king.<|return|>")


def through(
    work: Callable[[Gateway, SglangDouble], Awaitable[Any]], script: Script | None = None, **fields: Any
) -> Any:
    """What comes of something done with a gateway in front of a worker."""

    async def run() -> Any:
        async with (
            SglangDouble(script or Script(ids=OUTPUT, chunk=2)) as worker,
            gateway(in_front_of(worker.url, **fields)) as door,
        ):
            return await work(door, worker)

    return asyncio.run(run())


def completed(**fields: Any) -> tuple[Any, list[Any]]:
    """A completion, whole and streamed."""

    async def work(door: Gateway, worker: SglangDouble) -> tuple[Any, list[Any]]:
        body = {"model": MODEL, "prompt": "Once upon a time", **fields}
        status, value, _ = await door.post("/v1/completions", body)
        assert status == 200, value
        return checked(value), await door.stream("/v1/completions", body)

    made: tuple[Any, list[Any]] = through(work)
    return made


def test_a_completion_is_the_output_without_its_end() -> None:
    value, chunks = completed()
    assert value["choices"][0]["text"] == " there lived a king."
    assert value["choices"][0]["finish_reason"] == "stop"
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == " there lived a king."
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"


def test_an_echo_begins_with_the_prompt() -> None:
    value, chunks = completed(echo=True)
    assert value["choices"][0]["text"] == "Once upon a time there lived a king."
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == value["choices"][0]["text"]


def test_a_completion_ends_before_a_stop() -> None:
    value, chunks = completed(stop=" a ")
    assert value["choices"][0]["text"] == " there lived"
    assert "".join(chunk["choices"][0]["text"] for chunk in chunks) == " there lived"


def test_several_prompts_and_several_outputs_are_choices_in_order() -> None:
    value, _ = completed(prompt=["Once", "Twice"], n=2, echo=True)
    texts = [choice["text"].split()[0] for choice in value["choices"]]
    assert texts == ["Once", "Once", "Twice", "Twice"]
    assert [choice["index"] for choice in value["choices"]] == [0, 1, 2, 3]


def test_a_completion_tells_the_tokens_where_it_is_asked() -> None:
    value, chunks = completed(logprobs=2)
    logprobs = value["choices"][0]["logprobs"]
    assert "".join(logprobs["tokens"]) == " there lived a king."
    assert logprobs["text_offset"][:2] == [0, len(logprobs["tokens"][0])]
    assert len(logprobs["top_logprobs"][0]) == 2
    streamed = [
        token
        for chunk in chunks
        if chunk["choices"][0]["logprobs"]
        for token in chunk["choices"][0]["logprobs"]["tokens"]
    ]
    assert streamed == logprobs["tokens"]


def test_a_prompt_may_spell_control_tokens_or_be_ids() -> None:
    async def work(door: Gateway, worker: SglangDouble) -> None:
        await door.post("/v1/completions", {"model": MODEL, "prompt": "<|start|>user"})
        await door.post("/v1/completions", {"model": MODEL, "prompt": list(ids_of("<|start|>user"))})
        assert worker.requests[0]["input_ids"] == worker.requests[1]["input_ids"] == list(ids_of("<|start|>user"))

    through(work)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt": []}, "prompt"),
        ({"prompt": [1, 10**9]}, "prompt"),
        ({"prompt": ["a", 1]}, "prompt[1]"),
        ({"prompt": "a", "suffix": "b"}, "suffix"),
        ({"prompt": "a", "best_of": 3}, "best_of"),
        ({"prompt": "a", "max_tokens": 0}, "max_tokens"),
        ({}, "prompt"),
    ],
)
def test_what_a_completion_can_not_be_is_named(fields: dict[str, Any], param: str) -> None:
    async def work(door: Gateway, worker: SglangDouble) -> None:
        status, value, _ = await door.post("/v1/completions", {"model": MODEL, **fields})
        assert (status, value["error"]["param"]) == (400, param)

    through(work)


def test_generate_takes_ids_and_gives_ids() -> None:
    async def work(door: Gateway, worker: SglangDouble) -> None:
        body = {"input_ids": [1, 2, 3], "sampling_params": {"max_new_tokens": 8, "temperature": 0}}
        status, value, _ = await door.post("/generate", body)
        assert (status, value["output_ids"], value["text"]) == (200, list(OUTPUT), " there lived a king.")
        assert value["meta_info"]["finish_reason"] == {"type": "stop", "matched": OUTPUT[-1]}
        assert worker.requests[0]["input_ids"] == [1, 2, 3]
        assert worker.requests[0]["sampling_params"]["max_new_tokens"] == 8
        events = await door.stream("/generate", body)
        assert [token for event in events for token in event["output_ids"]] == list(OUTPUT)
        assert "".join(event["text"] for event in events) == " there lived a king."

    through(work)


def test_tokens_go_there_and_back() -> None:
    async def work(door: Gateway, worker: SglangDouble) -> None:
        _, value, _ = await door.post("/tokenize", {"model": MODEL, "prompt": "Hello <|end|>"})
        assert value["count"] == len(value["tokens"])
        assert ids_of("<|end|>")[0] not in value["tokens"]
        _, back, _ = await door.post("/detokenize", {"model": MODEL, "tokens": value["tokens"]})
        assert back["prompt"] == "Hello <|end|>"
        _, chat, _ = await door.post("/tokenize", {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]})
        await door.post("/v1/chat/completions", {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]})
        assert chat["tokens"] == worker.requests[-1]["input_ids"]

    through(work)


def test_models_are_listed_and_named_by_their_aliases() -> None:
    async def work(door: Gateway, worker: SglangDouble) -> None:
        listed = msgspec.json.decode((await door.get("/v1/models"))[1])
        assert [model["id"] for model in listed["data"]] == [MODEL]
        assert (await door.get(f"/v1/models/{MODEL}"))[0] == 200
        assert (await door.get("/v1/models/other"))[0] == 404

    through(work)


def test_a_gateway_tells_whether_it_is_ready_and_what_it_counts() -> None:
    async def work(door: Gateway, worker: SglangDouble) -> None:
        assert (await door.get("/health"))[0] == 200
        assert (await door.get("/ready"))[0] == 200
        await door.post("/v1/chat/completions", {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]})
        page = (await door.get("/metrics"))[1].decode()
        assert f'dragoman_requests_total{{endpoint="chat",model="{MODEL}",status="200"}} 1.0' in page

    through(work, Script(ids=ids_of(FINAL)))


def test_workers_come_and_go_by_an_administrators_word() -> None:
    key = {"authorization": "Bearer secret"}

    async def work(door: Gateway, worker: SglangDouble) -> None:
        async with SglangDouble(Script(ids=ids_of(FINAL))) as second:
            assert (await door.get("/workers"))[0] == 401
            status, shown, _ = await door.post("/workers", {"url": second.url, "models": [MODEL]}, **key)
            assert (status, shown["kind"], shown["models"]) == (201, "sglang", {MODEL: "model"})
            listed = msgspec.json.decode((await door.get("/workers", **key))[1])
            assert len(listed["workers"]) == 2
            got = await door.client.fetch("DELETE", f"{door.url}/workers/{second.url}", list(key.items()))
            assert got.status == 202
            listed = msgspec.json.decode((await door.get("/workers", **key))[1])
            assert [one["name"] for one in listed["workers"]] == [worker.url]
            status, value, _ = await door.post("/workers", {"url": "ftp://x"}, **key)
            assert (status, value["error"]["param"]) == (400, "url")
            for kind in ("replay", "frobnicator"):
                status, value, _ = await door.post("/workers", {"url": worker.url, "kind": kind}, **key)
                assert (status, value["error"]["param"]) == (400, "kind")

    through(work, keys=Keys(admin=(Secret("secret"),)))


def test_the_trace_and_the_id_of_a_request_are_passed_on() -> None:
    parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

    async def work(door: Gateway, worker: SglangDouble) -> None:
        chat = {"model": MODEL, "messages": [{"role": "user", "content": "Hi"}]}
        _, _, headers = await door.post("/v1/chat/completions", chat, traceparent=parent, x_request_id="mine")
        assert headers["x-request-id"] == "mine"
        assert worker.headers[-1]["traceparent"].split("-")[1] == parent.split("-")[1]

    through(work, Script(ids=ids_of(FINAL)))


@pytest.mark.parametrize(
    ("path", "fields", "param"),
    [
        ("/v1/completions", {"prompt": "one two three four"}, "prompt"),
        ("/v1/completions", {"prompt": [1, 2, 3, 4]}, "prompt"),
        ("/generate", {"text": "one two three four"}, "text"),
        ("/generate", {"input_ids": [1, 2, 3, 4]}, "input_ids"),
    ],
)
def test_a_prompt_of_too_many_tokens_is_refused_wherever_it_comes(path: str, fields: Any, param: str) -> None:
    async def work(door: Gateway, worker: SglangDouble) -> tuple[int, Any]:
        status, value, _ = await door.post(path, {"model": MODEL, **fields})
        return status, value["error"]

    status, error = through(work, limits=Limits(prompt_tokens=3))
    assert (status, error["code"], error["param"]) == (400, "context_length_exceeded", param)
