"""Messages and their views; tools and what is refused in them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dragoman.errors import InvalidTool
from dragoman.types import Message, Part, TextPart, ThinkingPart, Tool, ToolCall, UnparsedToolCall

PARTS: tuple[Part, ...] = (
    ThinkingPart("One."),
    TextPart("Two."),
    ToolCall("f", "{}"),
    ThinkingPart("Three."),
    TextPart("Four.", "commentary"),
    UnparsedToolCall("<g", "cut", "g"),
    ToolCall("h", '{"x": 1}', "7"),
)


def test_a_message_shows_its_texts_thoughts_and_calls_in_order() -> None:
    message = Message("assistant", PARTS)
    assert message.text == "Two.Four."
    assert message.thinking == "One.Three."
    assert message.tool_calls == (ToolCall("f", "{}"), ToolCall("h", '{"x": 1}', "7"))


@pytest.mark.parametrize(
    ("parts", "content"),
    [
        ((), ""),
        ((TextPart("Hi"),), "Hi"),
        ((TextPart("Hi", "commentary"),), (TextPart("Hi", "commentary"),)),
        ((TextPart("a"), TextPart("b")), (TextPart("a"), TextPart("b"))),
        (PARTS, PARTS),
    ],
)
def test_the_content_is_a_string_where_there_is_nothing_but_one_text(
    parts: tuple[Part, ...], content: str | tuple[Part, ...]
) -> None:
    assert Message("assistant", parts).content == content


SCHEMA = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("value", "tool"),
    [
        ({"name": "f"}, Tool("f")),
        ({"name": "f", "description": None, "parameters": None}, Tool("f")),
        ({"name": "f", "description": "Does it.", "parameters": SCHEMA}, Tool("f", "Does it.", SCHEMA)),  # type: ignore[arg-type]
        ({"type": "function", "function": {"name": "f", "strict": True}}, Tool("f")),
    ],
)
def test_a_tool_is_read_as_openais_api_writes_it(value: Mapping[str, object], tool: Tool) -> None:
    assert Tool.from_openai(value) == tool


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "tool: name should be a non-empty string, found None"),
        ({"name": ""}, "tool: name should be a non-empty string, found ''"),
        ({"name": 3}, "tool: name should be a non-empty string, found 3"),
        ({"function": "f"}, "tool: function should be an object, found 'f'"),
        ({"function": None}, "tool: function should be an object, found None"),
        ({"name": "f", "description": 3}, "tool 'f': description should be a string, found 3"),
        ({"name": "f", "parameters": "{}"}, "tool 'f': parameters should be a JSON Schema object, found '{}'"),
    ],
)
def test_a_tool_that_cannot_be_read_is_refused(value: Mapping[str, object], message: str) -> None:
    with pytest.raises(InvalidTool) as caught:
        Tool.from_openai(value)
    assert str(caught.value) == message
