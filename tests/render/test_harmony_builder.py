"""Requests to gpt-oss, and what comes back: ids in and ids out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import merge
from dragoman.errors import InvalidConversation, InvalidTool
from dragoman.render.encode import Encoder
from dragoman.render.harmony_builder import SELECTION_LENGTH, HarmonyBuilder
from dragoman.render.harmony_output import HarmonyOutput
from dragoman.segments import Segment
from dragoman.tokenizers import decode, get_tokenizer
from dragoman.types import Message, TextPart, ThinkingPart, ToolCall
from tests.render.conversations import TOOLS

TOKENIZER = get_tokenizer("o200k_harmony")
BUILDER = HarmonyBuilder()
CALL = TOKENIZER.control["<|call|>"]
RETURN = TOKENIZER.control["<|return|>"]
SEARCH = '<|channel|>commentary to=functions.search <|constrain|>json<|message|>{"query": "x"}<|call|>'
THOUGHT = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"


def ids_of(text: str) -> list[int]:
    """Ids of a text in which control tokens are spelled."""
    return Encoder(TOKENIZER).encode([Segment(text, control=True)])[0]


def tail(ids: list[int]) -> str:
    """What stands behind the system message, and the developer's."""
    text = decode(TOKENIZER, ids)
    return text[text.index("<|start|>user") :]


def chat() -> list[dict[str, Any]]:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    return [
        {"role": "system", "content": "You help."},
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": "Let me look.", "reasoning_content": "Hm.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "20"},
    ]


def items() -> list[dict[str, Any]]:
    return [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
        {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "Hm."}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
        {"type": "function_call", "name": "get_weather", "arguments": '{"city": "Paris"}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "20"},
    ]


WRITTEN = (
    "<|start|>user<|message|>Weather?<|end|><|start|>assistant<|channel|>analysis<|message|>Hm.<|end|>"
    "<|start|>assistant<|channel|>commentary<|message|>Let me look.<|end|>"
    "<|start|>assistant to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>"
    '{"city": "Paris"}<|call|>'
    "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>20<|end|><|start|>assistant"
)


def test_both_apis_make_the_same_request() -> None:
    request = BUILDER.from_chat(chat(), TOOLS)
    flat = [{"type": "function", **tool["function"], "strict": False} for tool in TOOLS]
    assert tail(request.input_ids) == WRITTEN
    assert request.input_ids == BUILDER.from_responses(items(), instructions="You help.", tools=flat).input_ids


def test_a_history_stands_before_the_input_and_behind_the_instructions() -> None:
    request = BUILDER.from_responses(items()[4:], instructions="You help.", tools=TOOLS, history=items()[:4])
    assert request.input_ids == BUILDER.from_chat(chat(), TOOLS).input_ids


def test_a_request_tells_what_stops_it_and_how_the_last_question_begins() -> None:
    request = BUILDER.from_responses("a" * 5000)
    assert set(request.stop_token_ids) == {CALL, RETURN}
    assert request.selection_text == "a" * SELECTION_LENGTH


def test_options_of_a_request_go_before_those_of_the_builder() -> None:
    builder = HarmonyBuilder(reasoning_effort="low", conversation_start_date="2026-11-02")
    text = decode(TOKENIZER, builder.from_chat([], reasoning_effort="high").input_ids)
    assert "Reasoning: high" in text
    assert "Current date: 2026-11-02" in text


def test_hosted_tools_become_built_in_ones() -> None:
    request = BUILDER.from_responses("Hi.", tools=[{"type": "web_search"}, {"type": "code_interpreter"}])
    assert request == BUILDER.from_responses("Hi.", builtin_tools=("browser", "python"))


def test_results_go_on_behind_sampled_tokens_that_stay_as_they_were() -> None:
    """An output that no encoder would have written so."""
    request = BUILDER.from_chat(chat(), TOOLS)
    output = [
        *ids_of(THOUGHT),
        *ids_of(SEARCH.partition("{")[0]),
        *(ids_of(char)[0] for char in '{"query": "x"}'),
        CALL,
    ]
    following = BUILDER.append_tool_results(request, output, [{"role": "tool", "content": "Found."}])
    size = len(request.input_ids)
    assert following.input_ids[: size + len(output)] == [*request.input_ids, *output]
    assert tail(following.input_ids) == (
        f"{WRITTEN}{THOUGHT}{SEARCH}"
        "<|start|>functions.search to=assistant<|channel|>commentary<|message|>Found.<|end|><|start|>assistant"
    )
    assert following.messages[-2:] == (
        Message("assistant", (ThinkingPart("Hm."), ToolCall("search", '{"query": "x"}'))),
        Message("tool", (TextPart("Found."),), "search"),
    )


@pytest.mark.parametrize("end", [[], [RETURN], [CALL, RETURN]])
def test_a_call_is_closed_however_the_engine_has_left_it(end: list[int]) -> None:
    request, output, results = BUILDER.from_chat(chat(), TOOLS), ids_of(SEARCH), [{"role": "tool", "content": "F"}]
    assert BUILDER.append_tool_results(request, [*output[:-1], *end], results) == BUILDER.append_tool_results(
        request, output, results
    )


def test_results_of_several_calls_are_answered_in_order() -> None:
    request = BUILDER.from_chat(chat(), TOOLS)
    output = ids_of(SEARCH.replace("<|call|>", "<|end|><|start|>assistant") + SEARCH.replace("search", "get_weather"))
    results = [{"role": "tool", "content": "1"}, {"role": "tool", "content": "2"}]
    assert [message.name for message in BUILDER.append_tool_results(request, output, results).messages[-2:]] == [
        "search",
        "get_weather",
    ]


def test_what_a_server_must_answer_with_an_error_raises() -> None:
    request = BUILDER.from_chat(chat(), TOOLS)
    result = {"role": "tool", "content": "1"}
    with pytest.raises(InvalidConversation, match="output that calls a tool"):
        BUILDER.append_tool_results(request, ids_of("<|channel|>final<|message|>Hi.<|return|>"), [result])
    with pytest.raises(InvalidConversation, match="of no call"):
        BUILDER.append_tool_results(request, ids_of(SEARCH), [result, result])
    with pytest.raises(InvalidConversation, match="message 0: expected an item of type"):
        BUILDER.from_responses([{"type": "computer_call"}])
    with pytest.raises(InvalidConversation, match="part 0: expected parts with a text"):
        BUILDER.from_responses([{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}])
    with pytest.raises(InvalidTool, match="'shell'"):
        BUILDER.from_responses("Hi.", tools=[{"type": "shell"}])
    with pytest.raises(InvalidConversation, match="reasoning_effort"):
        BUILDER.from_chat([], reasoning_effort="maximal")


OUTPUTS = (
    f"{THOUGHT}{SEARCH}",
    "<|channel|>analysis<|message|>One. Two.<|end|><|start|>assistant<|channel|>final<|message|>Three.<|return|>",
    "<|channel|>commentary<|message|>Let me look.<|end|><|start|>assistant<|channel|>fin",
    "stray<|end|>text",
)


@given(st.sampled_from(OUTPUTS), st.integers(1, 9), st.sampled_from([None, "stop", "length"]))
def test_chunks_of_any_size_are_the_whole_output(text: str, size: int, reason: str | None) -> None:
    """Several choices at once, of which none knows of the others."""
    ids, output = ids_of(text), HarmonyOutput(TOOLS)
    events = []
    for k in range(0, len(ids), size):
        events += output.parse_chunk(0, ids[k : k + size])
        output.parse_chunk(1, ids_of(OUTPUTS[1])[k : k + size])
    answer, whole = output.finalize(0, reason), output.parse_complete(ids, reason)
    assert merge([*events, *answer.events]) == whole.events
    assert (answer.message, answer.finish_reason) == (whole.message, whole.finish_reason)
    assert answer.reasoning_tokens == whole.reasoning_tokens


def test_an_answer_tells_its_reason_and_its_reasoning() -> None:
    output = HarmonyOutput(TOOLS)
    called, said, cut = (output.parse_complete(ids_of(text), "length") for text in OUTPUTS[:3])
    assert (called.finish_reason, said.finish_reason, cut.finish_reason) == ("tool_calls", "stop", "length")
    assert said.reasoning_tokens == len(TOKENIZER.encode("One. Two."))
    assert cut.message == Message("assistant", (TextPart("Let me look.", "commentary"),))
    assert output.finalize(7).finish_reason is None
