from __future__ import annotations

from typing import Any

from hypothesis import given

from dragoman.render.renderer import Renderer
from dragoman.types import Message, TextPart
from tests.render.conversations import conversations, tools
from tests.render.families.agreement import agrees, ids_agree, qwen


@given(conversations(), tools())
def test_a_conversation_reads_as_the_template_writes_it(messages: Any, declared: Any) -> None:
    agrees("qwen25", "trl:qwen2_5", qwen(), messages, declared, {})


@given(conversations(markers=True, edges=True), tools())
def test_markers_and_blanks_in_text_change_nothing(messages: Any, declared: Any) -> None:
    agrees("qwen25", "trl:qwen2_5", qwen(), messages, declared, {})


@given(conversations(), tools())
def test_the_ids_are_those_of_the_text(messages: Any, declared: Any) -> None:
    ids_agree(Renderer("qwen25", qwen()), messages, declared)


def test_the_system_says_who_the_model_is_if_it_says_nothing_else() -> None:
    rendered = Renderer("qwen2.5", qwen()).render([Message("user", (TextPart("Hi"),))])
    assert rendered.text.startswith("<|im_start|>system\nYou are Qwen, created by Alibaba Cloud.")


def test_arguments_that_are_json_text_are_not_quoted_again() -> None:
    call = {"type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    rendered = Renderer("qwen25", qwen()).render([{"role": "assistant", "content": None, "tool_calls": [call]}])
    assert '<|im_start|>assistant\n<tool_call>\n{"name": "f", "arguments": {"a":1}}\n</tool_call>' in rendered.text
