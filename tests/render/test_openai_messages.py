from __future__ import annotations

import pytest
from hypothesis import given

from dragoman.errors import InvalidConversation
from dragoman.render.openai_messages import dict_messages, dict_tools, read_messages
from dragoman.types import JSON, Message, TextPart, ThinkingPart, Tool, ToolCall, UnparsedToolCall
from tests.render.hostile_conversations import conversations


@given(conversations())
def test_what_is_written_is_read_again(messages: list[Message]) -> None:
    assert list(read_messages(dict_messages(messages, arguments_as_text=True))) == messages


def test_a_message_becomes_the_dict_that_templates_expect() -> None:
    message = Message("assistant", (ThinkingPart("hm"), TextPart("a"), TextPart("b"), ToolCall("f", '{"x": 1}', "id1")))
    assert dict_messages([message]) == [
        {
            "role": "assistant",
            "content": "ab",
            "reasoning_content": "hm",
            "thinking": "hm",
            "tool_calls": [{"type": "function", "id": "id1", "function": {"name": "f", "arguments": {"x": 1}}}],
        }
    ]


def test_a_tools_answer_has_its_name_and_call() -> None:
    assert dict_messages([Message("tool", (TextPart("ok"),), "f", "id1")]) == [
        {"role": "tool", "content": "ok", "name": "f", "tool_call_id": "id1"}
    ]


def test_arguments_that_are_no_object_stay_text() -> None:
    (made,) = dict_messages([Message("assistant", (ToolCall("f", "{broken"), ToolCall("f", "[1]")))])
    assert [call["function"]["arguments"] for call in made["tool_calls"]] == ["{broken", "[1]"]


def test_a_broken_call_is_written_as_the_model_wrote_it() -> None:
    assert dict_messages([Message("assistant", (UnparsedToolCall("<tool_call>{", "cut off"),))])[0]["content"] == (
        "<tool_call>{"
    )


def test_dicts_stay_as_they_are_but_for_their_thoughts() -> None:
    given: dict[str, JSON] = {
        "role": "assistant",
        "content": [{"type": "text", "text": "a"}, {"type": "image"}],
        "reasoning": "hm",
        "tool_calls": [{"function": {"name": "f", "arguments": {"x": [1]}}}],
        "extra": 1,
    }
    assert dict_messages([given]) == [given | {"reasoning_content": "hm", "thinking": "hm"}]


def test_a_tool_is_declared_as_a_function() -> None:
    assert dict_tools([Tool("f", "d")]) == [
        {
            "type": "function",
            "function": {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}},
        }
    ]


def test_thoughts_have_three_names_and_arguments_two_forms() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": {"x": 1}}}
    for key in ("reasoning_content", "reasoning", "thinking"):
        (read,) = read_messages([{"role": "assistant", "content": None, key: "hm", "tool_calls": [call]}])
        assert read == Message("assistant", (ThinkingPart("hm"), ToolCall("f", '{"x": 1}', "1")))


@pytest.mark.parametrize(
    ("message", "found"),
    [
        ({"content": "a"}, "message 1: expected a role"),
        ({"role": "user", "content": ["a", {"type": "image_url"}]}, "message 1, part 1: .*'image_url'"),
        ({"role": "user", "content": [{"text": 1}]}, "message 1, part 0: expected a part with a type"),
        ({"role": "user", "content": 1}, "message 1: expected content"),
        ({"role": "assistant", "tool_calls": [{"name": ""}]}, "message 1, part 0: expected a call's name"),
        ({"role": "assistant", "tool_calls": [1]}, "message 1, part 0: expected a call"),
        ({"role": "assistant", "tool_calls": 1}, "message 1: expected tool_calls"),
        ({"role": "assistant", "tool_calls": [{"name": "f", "arguments": 1}]}, "message 1, part 0: expected arguments"),
        ({"role": "assistant", "tool_calls": [{"name": "f", "id": 1}]}, "message 1, part 0: expected a call's id"),
        ({"role": "assistant", "reasoning": 1}, "message 1: expected thoughts"),
        ({"role": "tool", "name": 1}, "message 1: expected a name"),
        ("x", "message 1: expected an object"),
    ],
)  # fmt: skip
def test_what_can_not_be_read_is_named_with_its_place(message: dict[str, JSON], found: str) -> None:
    with pytest.raises(InvalidConversation, match=found):
        read_messages([{"role": "user", "content": "hi"}, message])
