from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from dragoman.errors import InvalidConversation
from dragoman.render.renderer import Renderer
from dragoman.types import Message, TextPart, ToolCall
from tests.render.conversations import conversations, tools
from tests.render.families.agreement import agrees, ids_agree, qwen

TEMPLATE = "xinference:Qwen3-Coder"

ODD = {
    "type": "function",
    "function": {
        "name": "odd",
        "description": None,
        "strict": True,
        "parameters": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "list": {"type": "array", "items": {"type": "string"}, "default": None},
                "flag": {"type": ["null", "boolean"], "description": "  Either. "},
                "object": {"type": "object", "properties": {"<think>": {"type": "string"}}},
                "number": {"type": "number", "enum": [1, 2.5]},
                "any": True,
            },
        },
    },
}

ASKED = Message("user", (TextPart("Do it."),))
VALUES = '{"list": ["it\'s", "\\"q\\"", true, {"k": [1, null]}], "flag": true, "object": {"é": false}, "number": 1.5}'


@given(conversations(), tools())
def test_a_conversation_reads_as_the_template_writes_it(messages: Any, declared: Any) -> None:
    agrees("qwen3_coder", TEMPLATE, qwen(), messages, declared, {})


@given(conversations(markers=True, edges=True), tools())
def test_markers_and_blanks_in_text_change_nothing(messages: Any, declared: Any) -> None:
    agrees("qwen3_coder", TEMPLATE, qwen(), messages, declared, {})


@given(conversations(), tools())
def test_the_ids_are_those_of_the_text(messages: Any, declared: Any) -> None:
    ids_agree(Renderer("qwen3_coder", qwen()), messages, declared)


def test_odd_declarations_read_as_the_template_writes_them() -> None:
    agrees("qwen3_coder", TEMPLATE, qwen(), [{"role": "user", "content": "Do it."}], [ODD], {})


def test_the_names_in_a_declaration_make_no_control_token() -> None:
    odd = {"type": "function", "function": {"name": "odd", "think": "x"}}
    rendered = Renderer("qwen3_coder", qwen()).render([ASKED], [odd])
    assert "\n<think>x</think>\n</function>" in rendered.text
    assert qwen().control["<think>"] not in rendered.ids


def test_lists_and_truth_are_printed_as_python_does_and_read_back() -> None:
    renderer = Renderer("qwen3_coder", qwen())
    said = Message("assistant", (ToolCall("odd", VALUES),))
    rendered = renderer.render([ASKED, said], [ODD])
    assert "<parameter=list>\n[\"it's\", '\"q\"', True, {'k': [1, None]}]\n</parameter>" in rendered.text
    assert '<parameter=object>\n{"é": false}\n</parameter>' in rendered.text
    asked = renderer.build_generation_prompt([ASKED], [ODD])
    read, end = renderer.parse_response(rendered.ids[len(asked.ids) :], [ODD], prompt=asked)
    assert (read, end.is_clean) == (said, True)


def test_a_value_that_holds_its_closer_is_refused() -> None:
    said = Message("assistant", (TextPart("So."), ToolCall("odd", '{"any": "</parameter>"}')))
    with pytest.raises(InvalidConversation, match="message 1, part 1"):
        Renderer("qwen3_coder", qwen()).render([ASKED, said])


def test_a_role_of_its_own_is_refused() -> None:
    with pytest.raises(InvalidConversation, match="found 'developer'"):
        Renderer("qwen3_coder", qwen()).render([Message("developer", (TextPart("Be kind."),))])
