"""What other gateways got wrong with Harmony, one test each, streamed and whole, in chunks of any size.

The cases are those that were seen on a gateway in front of a scripted worker. Where the failure was one of the
Responses API, the test is of what a chat has in its place.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from .answers import assembled, said, same, whole
from .doubles.script import Script
from .doubles.sglang import SglangDouble
from .harmony import ANALYSIS, CALL, FINAL, MODEL, PREAMBLE, TOOL, ask, ids_of, text_of
from .running import gateway, in_front_of

CHUNKS = (1, 2, 6, 99)


def answer(raw: str, *, chunk: int = 1, finish: str = "stop", **fields: Any) -> dict[str, Any]:
    """What a chat is answered when the model writes this; the same streamed and whole, or the test fails."""

    async def run() -> dict[str, Any]:
        script = Script(ids=ids_of(raw), chunk=chunk, finish=finish)
        async with SglangDouble(script) as worker, gateway(in_front_of(worker.url)) as door:
            body = ask(**fields)
            status, value, _ = await door.post("/v1/chat/completions", body)
            assert status == 200, value
            streamed = assembled(await door.stream("/v1/chat/completions", body))
            assert same(streamed) == same(whole(value))
            return said(streamed)

    return asyncio.run(run())


def prompt(messages: list[dict[str, Any]], **fields: Any) -> str:
    """What the worker is given for these messages."""

    async def run() -> str:
        async with SglangDouble(Script(ids=ids_of(FINAL))) as worker, gateway(in_front_of(worker.url)) as door:
            status, value, _ = await door.post(
                "/v1/chat/completions", {"model": MODEL, "messages": messages, **fields}
            )
            assert status == 200, value
            return text_of(worker.requests[0]["input_ids"])

    return asyncio.run(run())


def test_h1_arguments_keep_their_head_when_several_tokens_come_at_once() -> None:
    got = answer(ANALYSIS + CALL, chunk=6, tools=[TOOL])
    assert got["calls"][0]["arguments"] == '{"city":"Paris","unit":"c"}'


def test_h2_a_call_that_comes_in_one_chunk_is_a_call() -> None:
    got = answer(ANALYSIS + CALL, chunk=99, tools=[TOOL])
    assert [call["name"] for call in got["calls"]] == ["get_weather"]
    assert got["finish"] == "tool_calls"


@pytest.mark.parametrize("chunk", CHUNKS)
def test_h3_a_call_on_the_analysis_channel_is_a_call_and_no_thought(chunk: int) -> None:
    raw = '<|channel|>analysis to=functions.get_weather <|constrain|>json<|message|>{"city":"Paris"}<|call|>'
    got = answer(ANALYSIS + raw, chunk=chunk, tools=[TOOL])
    assert (got["reasoning"], got["finish"]) == ("The weather, then.", "tool_calls")
    assert [(call["name"], call["arguments"]) for call in got["calls"]] == [("get_weather", '{"city":"Paris"}')]


@pytest.mark.parametrize("chunk", CHUNKS)
def test_h4_a_preamble_is_shown_to_the_user(chunk: int) -> None:
    got = answer(ANALYSIS + PREAMBLE + CALL, chunk=chunk, tools=[TOOL])
    assert (got["reasoning"], got["content"]) == ("The weather, then.", "I look at the sky.")
    assert len(got["calls"]) == 1


@pytest.mark.parametrize("chunk", CHUNKS)
def test_h5_two_thoughts_are_both_kept_and_kept_apart(chunk: int) -> None:
    second = "<|channel|>analysis<|message|>Paris it is.<|end|><|start|>assistant"
    got = answer(ANALYSIS + second + FINAL, chunk=chunk)
    assert got["reasoning"] == "The weather, then.\n\nParis it is."
    assert got["content"] == "It is mild in Paris."


@pytest.mark.parametrize("chunk", CHUNKS)
def test_h6_an_answer_that_the_limit_cut_says_so(chunk: int) -> None:
    got = answer(ANALYSIS + "<|channel|>final<|message|>It is", chunk=chunk, finish="length", max_tokens=12)
    assert (got["content"], got["finish"]) == ("It is", "length")


@pytest.mark.parametrize("chunk", CHUNKS)
def test_h7_a_malformed_header_loses_nothing(chunk: int) -> None:
    raw = '<|channel|>commentary to=functions.get_weather code extra<|message|>{"city":"Paris"}<|call|>'
    got = answer(ANALYSIS + raw, chunk=chunk, tools=[TOOL])
    assert [(call["name"], call["arguments"]) for call in got["calls"]] == [("get_weather", '{"city":"Paris"}')]
    assert "problems" in got


@pytest.mark.parametrize("chunk", CHUNKS)
def test_h8_output_without_a_header_is_the_answer(chunk: int) -> None:
    got = answer("It is mild in Paris.<|return|>", chunk=chunk)
    assert (got["content"], got["finish"]) == ("It is mild in Paris.", "stop")
    assert got["problems"][0]["kind"] == "malformed_header"


def test_h9_thoughts_are_streamed_and_come_back_to_the_model_after_its_call() -> None:
    got = answer(ANALYSIS + CALL, tools=[TOOL])
    call = got["calls"][0]
    function = {"name": call["name"], "arguments": call["arguments"]}
    turn = {
        "role": "assistant",
        "reasoning_content": got["reasoning"],
        "tool_calls": [{"id": call["id"], "type": "function", "function": function}],
    }
    result = {"role": "tool", "tool_call_id": call["id"], "content": "mild"}
    given = prompt([{"role": "user", "content": "Paris?"}, turn, result], tools=[TOOL])
    assert "<|channel|>analysis<|message|>The weather, then.<|end|>" in given


def test_h10_a_call_has_one_id_wherever_it_is_named() -> None:
    async def run() -> None:
        script = Script(ids=ids_of(ANALYSIS + CALL))
        async with SglangDouble(script) as worker, gateway(in_front_of(worker.url)) as door:
            chunks = await door.stream("/v1/chat/completions", ask(tools=[TOOL]))
            calls = [call for chunk in chunks for choice in chunk["choices"] for call in _calls(choice)]
            ids = {call["id"] for call in calls if "id" in call}
            assert len(ids) == 1
            function = {"name": "get_weather", "arguments": "{}"}
            turn = {"role": "assistant", "tool_calls": [{"id": ids.pop(), "type": "function", "function": function}]}
            result = {"role": "tool", "tool_call_id": turn["tool_calls"][0]["id"], "content": "mild"}  # type: ignore[index]
            question = {"role": "user", "content": "Paris?"}
            body = {"model": MODEL, "messages": [question, turn, result], "tools": [TOOL]}
            assert (await door.post("/v1/chat/completions", body))[0] == 200

    asyncio.run(run())


def _calls(choice: dict[str, Any]) -> list[dict[str, Any]]:
    calls: list[dict[str, Any]] = choice["delta"].get("tool_calls", [])
    return calls


def test_h11_what_the_client_calls_system_is_the_developers_instructions() -> None:
    given = prompt([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}])
    assert given.count("<|start|>system") == 1
    assert "<|start|>developer<|message|># Instructions\n\nBe brief.<|end|>" in given


def test_h12_an_answer_in_history_is_on_its_channel_and_its_thoughts_are_dropped() -> None:
    said = {"role": "assistant", "content": "Hello.", "reasoning_content": "Old thoughts."}
    given = prompt([{"role": "user", "content": "Hi"}, said, {"role": "user", "content": "Paris?"}])
    assert "<|start|>assistant<|channel|>final<|message|>Hello.<|end|>" in given
    assert "Old thoughts." not in given


def test_h12_a_tools_result_in_history_is_on_its_channel() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'}}
    turn = {"role": "assistant", "tool_calls": [call]}
    result = {"role": "tool", "tool_call_id": "call_1", "content": "mild"}
    given = prompt([{"role": "user", "content": "Paris?"}, turn, result], tools=[TOOL])
    assert "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>mild<|end|>" in given


@pytest.mark.parametrize("chunk", CHUNKS)
def test_h13_a_stop_string_is_no_part_of_the_answer(chunk: int) -> None:
    raw = "<|channel|>analysis<|message|>I say Hello there.<|end|><|start|>assistant"
    got = answer(raw + "<|channel|>final<|message|>Hello there, friend<|return|>", chunk=chunk, stop=["there"])
    assert (got["content"], got["finish"]) == ("Hello ", "stop")
    assert got["reasoning"] == "I say Hello there."


@pytest.mark.parametrize("chunk", CHUNKS)
def test_h14_a_call_of_python_is_a_call(chunk: int) -> None:
    got = answer(ANALYSIS + "<|channel|>commentary to=python<|message|>print(1)<|call|>", chunk=chunk)
    assert [(call["name"], call["arguments"]) for call in got["calls"]] == [("python", "print(1)")]
    assert (got["reasoning"], got["finish"]) == ("The weather, then.", "tool_calls")
