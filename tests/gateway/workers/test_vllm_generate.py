"""vLLM's wire for tokens alone: what is asked in its words, and ids out of its answers, however they are cut."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.constrain import constrain
from dragoman.errors import Refused, WorkerFailed
from dragoman.gateway.workers.order import Alternative, Order, Output, Prompt, Sampling, TokenLogprob, Usage
from dragoman.gateway.workers.vllm_generate import VllmGenerate
from dragoman.gateway.workers.worker import Capabilities, Reader
from dragoman.registry import get_dialect
from dragoman.types import Tool
from tests.gateway.doubles.reading import answer_of, asked_of, merged, read
from tests.gateway.doubles.script import Script
from tests.gateway.doubles.vllm import VllmDouble
from tests.streams import cut, cuts, hard

ORDER = Order(id="a", model="model", prompt=Prompt(ids=(1, 2)), stop_ids=(9,), stop_texts=("<9>",))
PATH = "/inference/v1/generate"


def asked(order: Order, context: int | None = None) -> dict[str, object]:
    return json.loads(asked_of(VllmGenerate(), order, Capabilities(kind="vllm-generate", context=context)))


def body_of(order: Order, script: Script) -> bytes:
    return VllmDouble(scale_out=True).body(PATH, asked_of(VllmGenerate(), order), script)


def reader(order: Order = ORDER) -> Reader:
    return VllmGenerate().reader(order, Capabilities(kind="vllm-generate"))


def event(**fields: object) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


ALWAYS = {"n": 1, "skip_special_tokens": False, "include_stop_str_in_output": True, "detokenize": False}


def test_an_order_in_its_words() -> None:
    assert asked(ORDER) == {
        "model": "model",
        "token_ids": [1, 2],
        "stream": True,
        "stream_options": {"include_usage": True},
        "sampling_params": ALWAYS | {"stop_token_ids": [9]},
    }


def test_the_room_that_is_left_is_asked_for_where_it_is_known() -> None:
    said = asked(ORDER, context=100)["sampling_params"]
    assert isinstance(said, dict)
    assert said["max_tokens"] == 98


def test_a_prompt_that_leaves_no_room_is_the_servers_to_refuse() -> None:
    assert "max_tokens" not in str(asked(ORDER, context=2))


def test_what_was_asked_for_goes_before_the_room() -> None:
    order = Order(
        id="a",
        model="model",
        prompt=Prompt(ids=(1,)),
        sampling=Sampling(max_tokens=5, logprobs=0, extra={"cache_salt": "salt", "allowed_token_ids": [3]}),
    )
    said = asked(order, context=100)
    assert said["cache_salt"] == "salt"
    assert said["sampling_params"] == ALWAYS | {"max_tokens": 5, "logprobs": 0, "allowed_token_ids": [3]}


def test_a_constraint_is_among_the_sampling_parameters() -> None:
    constraint = constrain(get_dialect("hermes"), [Tool("f", {"type": "object"})], tool_choice="required")
    said = asked(Order(id="a", model="model", prompt=Prompt(ids=(1,)), constraint=constraint))["sampling_params"]
    assert isinstance(said, dict)
    assert list(said["structured_outputs"]) == ["structural_tag"]


def test_text_is_refused() -> None:
    with pytest.raises(Refused, match="this worker takes token ids"):
        asked(Order(id="a", model="model", prompt=Prompt(text="Hi")))


def scripts() -> st.SearchStrategy[Script]:
    return st.builds(
        Script,
        ids=st.lists(st.integers(0, 9), max_size=9).map(tuple),
        chunk=st.integers(1, 4),
        cached=st.none() | st.just(1),
        matched=st.none() | st.just(9),
    )


@hard
@given(script=scripts(), places=cuts(), tops=st.none() | st.integers(0, 3))
def test_an_answer_is_read_the_same_however_it_is_cut(script: Script, places: list[int], tops: int | None) -> None:
    order = Order(id="a", model="model", prompt=Prompt(ids=(1, 2)), sampling=Sampling(logprobs=tops))
    got = merged(read(reader(order), cut(body_of(order, script), places)))
    told = () if tops is None else script.ids
    logprobs = tuple(
        TokenLogprob(token, -token / 8, tuple(Alternative(token + k, -(token + k) / 8) for k in range(tops or 0)))
        for token in told
    )
    usage = Usage(2, len(script.ids), script.cached)
    assert got == Output(list(script.ids), "", logprobs, "stop", script.matched, usage)


def test_what_arrives_together_is_one_output() -> None:
    assert reader().feed(body_of(ORDER, Script(ids=(5, 6)))) == [Output([5, 6], "", (), "stop", None, Usage(2, 2))]


def test_log_probabilities_of_old_versions_spell_the_ids() -> None:
    at = {"token": "token_id:5", "logprob": None, "top_logprobs": [{"token": "token_id:6", "logprob": -1}]}
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), sampling=Sampling(logprobs=1))
    (got,) = reader(order).feed(event(choices=[{"token_ids": [5], "logprobs": {"content": [at]}}]))
    assert isinstance(got, Output)
    assert got.logprobs == (TokenLogprob(5, -9999.0, (Alternative(6, -1.0),)),)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (event(error={"message": "it broke", "code": 500}), r"it broke \(HTTP 500\)"),
        (event(choices=[{"finish_reason": "abort"}]), "it aborted the request"),
        (event(choices=[{"token_ids": ["x"]}]), "what is not of its protocol"),
        (event(choices=[{"token_ids": [1]}]), "its stream ended before the answer did"),
    ],
)
def test_what_is_no_answer_is_its_failure(body: bytes, sentence: str) -> None:
    with pytest.raises(WorkerFailed, match=sentence):
        read(reader(), [body])


def test_an_order_is_answered_over_a_socket() -> None:
    got = asyncio.run(answer_of(VllmDouble(Script(ids=(5, 6, 7), cut=13), scale_out=True), VllmGenerate(), ORDER))
    assert got == Output([5, 6, 7], "", (), "stop", None, Usage(2, 3))


def test_a_server_without_it_says_so() -> None:
    with pytest.raises(WorkerFailed, match=r"Not Found \(HTTP 404\)"):
        asyncio.run(answer_of(VllmDouble(), VllmGenerate(), ORDER))
