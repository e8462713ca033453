"""SGLang's wire: what is asked in its words, and ids out of its answers, however they are told and cut."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.constrain import Engine, constrain
from dragoman.errors import Refused, WorkerFailed
from dragoman.gateway.workers.order import Alternative, Order, Output, Prompt, Sampling, TokenLogprob, Usage
from dragoman.gateway.workers.sglang import Sglang
from dragoman.gateway.workers.worker import Capabilities, Reader
from dragoman.registry import get_dialect
from dragoman.types import Tool
from tests.gateway.doubles.reading import answer_of, asked_of, merged, read
from tests.gateway.doubles.script import Fault, Script
from tests.gateway.doubles.sglang import SglangDouble
from tests.streams import cut, cuts, hard

ORDER = Order(id="a", model="model", prompt=Prompt(ids=(1, 2)), stop_ids=(9,))
TEXT = Order(id="a", model="model", prompt=Prompt(text="Hi"), stop_texts=("<9>",))
KNOWN = Capabilities(kind="sglang")


def asked(order: Order) -> dict[str, object]:
    return json.loads(asked_of(Sglang(), order))


def reader(order: Order = ORDER, capabilities: Capabilities = KNOWN) -> Reader:
    return Sglang().reader(order, capabilities)


def event(**fields: object) -> bytes:
    return b"data: " + json.dumps(fields).encode() + b"\n\n"


def test_an_order_of_ids_in_its_words() -> None:
    assert asked(ORDER) == {
        "input_ids": [1, 2],
        "stream": True,
        "sampling_params": {
            "stop_token_ids": [9],
            "n": 1,
            "max_new_tokens": None,
            "skip_special_tokens": False,
            "no_stop_trim": True,
        },
    }


def test_an_order_of_text_in_its_words() -> None:
    said = asked(TEXT)
    assert said["text"] == "Hi"
    assert said["sampling_params"] == {
        "stop": ["<9>"],
        "n": 1,
        "max_new_tokens": None,
        "skip_special_tokens": False,
        "no_stop_trim": True,
    }


def test_all_that_can_be_asked_of_a_sampler() -> None:
    sampling = Sampling(
        max_tokens=5,
        min_tokens=1,
        temperature=0.5,
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
        extra={"stop_regex": "a+", "lora_path": "it", "stream": False, "sampling_params": {}},
    )
    said = asked(Order(id="a", model="model", prompt=Prompt(ids=(1,)), sampling=sampling))
    assert said == {
        "input_ids": [1],
        "stream": True,
        "return_logprob": True,
        "logprob_start_len": -1,
        "top_logprobs_num": 2,
        "lora_path": "it",
        "sampling_params": {
            "temperature": 0.5,
            "top_p": 0.9,
            "top_k": 3,
            "min_p": 0.1,
            "presence_penalty": 0.2,
            "frequency_penalty": 0.3,
            "repetition_penalty": 1.1,
            "min_new_tokens": 1,
            "sampling_seed": 7,
            "ignore_eos": True,
            "logit_bias": {"4": -1.5},
            "stop_regex": "a+",
            "n": 1,
            "max_new_tokens": 5,
            "skip_special_tokens": False,
            "no_stop_trim": True,
        },
    }


def test_a_conversation_without_a_prompt_is_refused() -> None:
    with pytest.raises(Refused, match="this worker takes prompts"):
        asked(Order(id="a", model="model", prompt=Prompt()))


CONSTRAINT = constrain(get_dialect("hermes"), [Tool("f", {"type": "object"})], tool_choice="required")


@pytest.mark.parametrize(("engine", "field"), [(Engine.STRUCTURAL_TAG, "structural_tag"), (Engine.XGRAMMAR, "ebnf")])
def test_a_constraint_that_holds_at_once_is_told(engine: Engine, field: str) -> None:
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), constraint=CONSTRAINT)
    said = json.loads(asked_of(Sglang(engine), order))
    assert isinstance(said["sampling_params"][field], str)


def test_a_constraint_that_may_wait_is_left_out() -> None:
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), constraint=CONSTRAINT, eager=False)
    assert asked(order) == asked(Order(id="a", model="model", prompt=Prompt(ids=(1,))))


def test_a_constraint_that_it_can_not_be_told_is_refused() -> None:
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), constraint=CONSTRAINT)
    with pytest.raises(Refused, match="can't be enforced") as caught:
        asked_of(Sglang(Engine.GBNF), order)
    assert caught.value.status == 400


def scripts() -> st.SearchStrategy[Script]:
    return st.builds(
        Script,
        ids=st.lists(st.integers(0, 9), max_size=9).map(tuple),
        chunk=st.integers(1, 4),
        incremental=st.booleans(),
    )


@hard
@given(script=scripts(), places=cuts(), order=st.sampled_from([ORDER, TEXT]), known=st.booleans())
def test_an_answer_is_read_the_same_however_it_is_told_and_cut(
    script: Script, places: list[int], order: Order, known: bool
) -> None:
    body = SglangDouble().body("/generate", asked_of(Sglang(), order), script)
    got = merged(read(reader(order, Capabilities(kind="sglang", incremental=known)), cut(body, places)))
    prompt = 7 if order is TEXT else 2
    matched = script.ids[-1] if script.ids else None
    text = "".join(script.spelled) if order is TEXT else ""
    assert got == Output(list(script.ids), text, (), "stop", matched, Usage(prompt, len(script.ids), 0))


@hard
@given(script=scripts(), places=cuts(), tops=st.integers(0, 3))
def test_log_probabilities_are_told_for_each_token(script: Script, places: list[int], tops: int) -> None:
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), sampling=Sampling(logprobs=tops))
    body = SglangDouble().body("/generate", asked_of(Sglang(), order), script)
    assert merged(read(reader(order), cut(body, places))).logprobs == tuple(
        TokenLogprob(token, -token / 8, tuple(Alternative(token + k, -(token + k) / 8) for k in range(tops)))
        for token in script.ids
    )


def test_what_arrives_together_is_one_output() -> None:
    body = SglangDouble().body("/generate", asked_of(Sglang(), ORDER), Script(ids=(5, 6, 7)))
    assert reader().feed(body) == [Output([5, 6, 7], "", (), "stop", 7, Usage(2, 3, 0))]


def test_log_probabilities_of_the_whole_beside_new_ids_are_told_apart() -> None:
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), sampling=Sampling(logprobs=0))
    scored = [[-1.0, 5, None], [None, 6, None]]
    body = event(output_ids=[5], meta_info={"completion_tokens": 1, "output_token_logprobs": scored[:1]})
    body += event(output_ids=[6], meta_info={"completion_tokens": 2, "output_token_logprobs": scored})
    (got,) = reader(order).feed(body)
    assert isinstance(got, Output)
    assert got.logprobs == (TokenLogprob(5, -1.0), TokenLogprob(6, -9999.0))


def test_an_old_server_tells_texts_alone() -> None:
    body = event(text="a", meta_info={"completion_tokens": 1}) + event(text="ab", meta_info={"completion_tokens": 2})
    (got,) = reader(TEXT, Capabilities(kind="sglang", incremental=False)).feed(body)
    assert isinstance(got, Output)
    assert got.text == "ab"


@pytest.mark.parametrize(("incremental", "ids"), [(True, [5, 6, 5, 6, 7]), (False, [5, 6, 7])])
def test_a_server_that_does_not_count_is_believed_what_it_said_of_itself(incremental: bool, ids: list[int]) -> None:
    body = event(output_ids=[5, 6]) + event(output_ids=[5, 6, 7], meta_info={"finish_reason": {"type": "stop"}})
    body += event(output_ids=[8])  # behind the end
    capabilities = Capabilities(kind="sglang", incremental=incremental)
    assert merged(read(reader(capabilities=capabilities), [body])).ids == ids


def test_text_without_new_ids_is_new_text() -> None:
    body = event(output_ids=[5], text="a", meta_info={"completion_tokens": 1})
    body += event(output_ids=[], text="b", meta_info={"completion_tokens": 1, "finish_reason": {"type": "stop"}})
    assert merged(read(reader(TEXT), [body])).text == "ab"


@pytest.mark.parametrize("again", ["[5,6,7]", "[5, 6, 7]", "[ 5,6,7 ]", "[5,66,7]"])
def test_a_whole_that_is_spelled_otherwise_is_read_all_the_same(again: str) -> None:
    body = event(output_ids=[5], meta_info={"completion_tokens": 1})
    body += event(output_ids=[5, 6], meta_info={"completion_tokens": 2})
    body += b'data: {"output_ids": %b, "meta_info": {"completion_tokens": 3}}\n\n' % again.encode()
    body += event(output_ids=[5, 6, 7], meta_info={"completion_tokens": 3, "finish_reason": {"type": "stop"}})
    assert merged(read(reader(), [body])).ids == [5, 6, 7]


def test_ids_behind_a_stop_token_may_be_counted() -> None:
    body = event(output_ids=[5, 6], meta_info={"completion_tokens": 2})
    body += event(output_ids=[5, 6, 7], meta_info={"completion_tokens": 4, "finish_reason": {"type": "stop"}})
    assert list(merged(read(reader(), [body])).ids) == [5, 6, 7]


@pytest.mark.parametrize("reason", ["length", "stop"])
def test_a_reason_is_in_openais_words(reason: str) -> None:
    body = SglangDouble().body("/generate", asked_of(Sglang(), ORDER), Script(finish=reason))
    assert merged(read(reader(), [body])).finish == reason


def test_a_request_that_it_gives_up_is_its_failure() -> None:
    body = SglangDouble().body("/generate", asked_of(Sglang(), ORDER), Script(fault=Fault.ABORT, message="no memory"))
    pieces = reader()
    assert merged(pieces.feed(body)).ids == [1, 2, 3]
    with pytest.raises(WorkerFailed, match=r"no memory \(HTTP 500\)"):
        pieces.finish()


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (event(error={"message": "it broke", "code": 500}), r"it broke \(HTTP 500\)"),
        (event(error="it broke"), "it broke"),
        (b"data: {\n\n", "what is not of its protocol"),
        (event(output_ids=["x"]), "what is not of its protocol"),
        (b"", "its stream ended before the answer did"),
        (b"data: [DONE]\n\n", "its stream ended before the answer did"),
        (b"<html>", "its stream ended before the answer did"),
    ],
)
def test_what_is_no_answer_is_its_failure(body: bytes, sentence: str) -> None:
    with pytest.raises(WorkerFailed, match=sentence):
        read(reader(), [body])


@pytest.mark.parametrize("incremental", [False, True])
def test_an_order_is_answered_over_a_socket(incremental: bool) -> None:
    script = Script(ids=(5, 6, 7, 8), chunk=2, cut=11, incremental=incremental, cached=1)
    got = asyncio.run(answer_of(SglangDouble(script), Sglang(), ORDER))
    assert got == Output([5, 6, 7, 8], "", (), "stop", 8, Usage(2, 4, 1))


def test_a_field_that_it_does_not_have_is_refused_by_the_server() -> None:
    order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), sampling=Sampling(extra={"tempurature": 1}))
    with pytest.raises(WorkerFailed, match=r"unknown field `tempurature`.*\(HTTP 400\)"):
        asyncio.run(answer_of(SglangDouble(), Sglang(), order))
