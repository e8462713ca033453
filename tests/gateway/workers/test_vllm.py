"""vLLM's wire for completions: what is asked in its words, and ids or text out of its answers, however they are cut."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.constrain import Engine, constrain
from dragoman.errors import Refused, WorkerFailed
from dragoman.gateway.workers.order import Alternative, Order, Output, Prompt, Sampling, TokenLogprob, Usage
from dragoman.gateway.workers.vllm import Vllm
from dragoman.gateway.workers.worker import Capabilities, Reader
from dragoman.registry import get_dialect
from dragoman.types import Tool
from tests.gateway.doubles.reading import answer_of, asked_of, merged, read
from tests.gateway.doubles.script import Fault, Script
from tests.gateway.doubles.vllm import VllmDouble
from tests.streams import cut, cuts, hard

ORDER = Order(id="a", model="model", prompt=Prompt(ids=(1, 2)), stop_ids=(9,))
TEXT = Order(id="a", model="model", prompt=Prompt(text="Hi"), stop_texts=("<9>",))


def asked(order: Order) -> dict[str, object]:
    return json.loads(asked_of(Vllm(), order))


def body_of(order: Order, script: Script) -> bytes:
    return VllmDouble().body("/v1/completions", asked_of(Vllm(), order), script)


def reader(order: Order = ORDER) -> Reader:
    return Vllm().reader(order, Capabilities(kind="vllm"))


def event(**fields: object) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


ALWAYS = {
    "model": "model",
    "stream": True,
    "stream_options": {"include_usage": True},
    "return_token_ids": True,
    "add_special_tokens": False,
    "max_tokens": None,
    "n": 1,
    "skip_special_tokens": False,
    "include_stop_str_in_output": True,
}


def test_an_order_of_ids_in_its_words() -> None:
    assert asked(ORDER) == ALWAYS | {"prompt": [1, 2], "stop_token_ids": [9]}


def test_an_order_of_text_in_its_words() -> None:
    assert asked(TEXT) == ALWAYS | {"prompt": "Hi", "stop": ["<9>"]}


def test_all_that_can_be_asked_of_a_sampler() -> None:
    sampling = Sampling(
        max_tokens=5,
        min_tokens=1,
        temperature=0.0,
        top_p=0.9,
        top_k=3,
        min_p=0.1,
        presence_penalty=0.2,
        frequency_penalty=0.3,
        repetition_penalty=1.1,
        seed=7,
        logit_bias={4: -1.5},
        ignore_eos=True,
        logprobs=2,
        extra={"bad_words": ["x"], "stream": False},
    )
    said = asked(Order(id="a", model="model", prompt=Prompt(ids=(1,)), sampling=sampling))
    assert said == ALWAYS | {
        "prompt": [1],
        "max_tokens": 5,
        "min_tokens": 1,
        "temperature": 0.0,
        "top_p": 0.9,
        "top_k": 3,
        "min_p": 0.1,
        "presence_penalty": 0.2,
        "frequency_penalty": 0.3,
        "repetition_penalty": 1.1,
        "seed": 7,
        "logit_bias": {"4": -1.5},
        "ignore_eos": True,
        "logprobs": 2,
        "return_tokens_as_token_ids": True,
        "bad_words": ["x"],
    }


def test_a_conversation_without_a_prompt_is_refused() -> None:
    with pytest.raises(Refused, match="this worker takes prompts"):
        asked(Order(id="a", model="model", prompt=Prompt()))


@pytest.mark.parametrize(("engine", "field"), [(Engine.STRUCTURAL_TAG, "structural_tag"), (Engine.LARK, "grammar")])
def test_a_constraint_that_holds_at_once_is_told(engine: Engine, field: str) -> None:
    constraint = constrain(get_dialect("hermes"), [Tool("f", {"type": "object"})], tool_choice="required")
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), constraint=constraint)
    assert list(json.loads(asked_of(Vllm(engine), order))["structured_outputs"]) == [field]


def scripts() -> st.SearchStrategy[Script]:
    return st.builds(
        Script,
        ids=st.lists(st.integers(0, 9), max_size=9).map(tuple),
        chunk=st.integers(1, 4),
        cached=st.none() | st.just(1),
        matched=st.none() | st.just(9) | st.just("<9>"),
    )


@hard
@given(script=scripts(), places=cuts(), order=st.sampled_from([ORDER, TEXT]))
def test_an_answer_is_read_the_same_however_it_is_cut(script: Script, places: list[int], order: Order) -> None:
    got = merged(read(reader(order), cut(body_of(order, script), places)))
    text = "".join(script.spelled) if order is TEXT else ""
    prompt = 7 if order is TEXT else 2
    usage = Usage(prompt, len(script.ids), script.cached)
    assert got == Output(list(script.ids), text, (), "stop", script.matched, usage)


@hard
@given(ids=st.lists(st.integers(0, 99), unique=True), chunk=st.integers(1, 4), places=cuts(), tops=st.integers(0, 3))
def test_log_probabilities_are_told_for_each_token(ids: list[int], chunk: int, places: list[int], tops: int) -> None:
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), sampling=Sampling(logprobs=tops))
    body = body_of(order, Script(ids=tuple(ids), chunk=chunk))
    assert merged(read(reader(order), cut(body, places))).logprobs == tuple(
        TokenLogprob(token, -token / 8, tuple(Alternative(token + k, -(token + k) / 8) for k in range(tops)))
        for token in ids
    )


def test_what_arrives_together_is_one_output() -> None:
    body = body_of(ORDER, Script(ids=(5, 6, 7)))
    assert reader().feed(body) == [Output([5, 6, 7], "", (), "stop", None, Usage(2, 3))]


def test_the_end_comes_with_the_count_of_tokens() -> None:
    end, counted, done = body_of(ORDER, Script(ids=(5,))).split(b"\n\n")[:3]
    pieces = reader()
    assert pieces.feed(end + b"\n\n") == [Output([5])]
    assert pieces.feed(counted + b"\n\n") == [Output(finish="stop", usage=Usage(2, 1))]
    assert pieces.feed(done + b"\n\n") == pieces.finish() == []


def test_a_server_that_does_not_count_ends_all_the_same() -> None:
    end = event(choices=[{"index": 0, "text": "a", "token_ids": [5], "finish_reason": "length"}])
    assert merged(read(reader(), [end])) == Output([5], finish="length")
    assert merged(read(reader(), [end, b"data: [DONE]\n\n"])) == Output([5], finish="length")


def test_a_server_that_tells_no_ids_is_read_as_text() -> None:
    body = event(choices=[{"index": 0, "text": "ab"}]) + event(choices=[{"text": "c", "finish_reason": "stop"}])
    assert merged(read(reader(), [body])) == Output([], "abc", finish="stop")


def test_tokens_of_log_probabilities_may_be_spelled_out() -> None:
    told = {"tokens": ["a", "token_id:x"], "token_logprobs": [-1, None]}
    (got,) = reader().feed(event(choices=[{"logprobs": told, "token_ids": [5, 6]}]))
    assert isinstance(got, Output)
    assert got.logprobs == (TokenLogprob("a", -1.0), TokenLogprob("token_id:x", -9999.0))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (event(error={"message": "it broke", "code": 500}), r"it broke \(HTTP 500\)"),
        (event(object="error", message="it broke", code=400), "it broke"),
        (event(choices=[{"finish_reason": "abort"}]), "it aborted the request"),
        (event(choices=[{"finish_reason": "error"}]), "it met an error"),
        (event(choices=[{"logprobs": {"tokens": ["a"]}}]), "not one for each token"),
        (event(choices=[{"token_ids": "x"}]), "what is not of its protocol"),
        (event(choices=[{"token_ids": [1]}]), "its stream ended before the answer did"),
    ],
)
def test_what_is_no_answer_is_its_failure(body: bytes, sentence: str) -> None:
    with pytest.raises(WorkerFailed, match=sentence):
        read(reader(), [body])


def test_going_round_in_circles_is_a_stop() -> None:
    assert merged(read(reader(), [body_of(ORDER, Script(finish="repetition"))])).finish == "stop"


@pytest.mark.parametrize("order", [ORDER, TEXT])
def test_an_order_is_answered_over_a_socket(order: Order) -> None:
    got = asyncio.run(answer_of(VllmDouble(Script(ids=(5, 6, 7), cut=13)), Vllm(), order))
    assert list(got.ids) == [5, 6, 7]
    assert got.finish == "stop"


def test_a_request_that_it_gives_up_is_its_failure() -> None:
    with pytest.raises(WorkerFailed, match="it aborted the request"):
        asyncio.run(answer_of(VllmDouble(Script(fault=Fault.ABORT)), Vllm(), ORDER))
