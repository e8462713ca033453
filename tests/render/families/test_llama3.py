"""Llama 3's formats are those of its chat templates, in the ids of its vocabulary."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConversation
from dragoman.render.renderer import Renderer
from dragoman.render.responses import Termination
from dragoman.segments import Kind
from dragoman.tokenizers.tiktoken import TiktokenTokenizer
from dragoman.types import Message, Part, TextPart, ThinkingPart, ToolCall
from tests.oracles import chat_template, loaded
from tests.render.conversations import MARKERS, TOOLS, conversations, hf_text, tools

BOS = "<|begin_of_text|>"
TEMPLATES = pytest.mark.parametrize("template", ["trl:llama3_1", "trl:llama3_2"])
CALLING = conversations(thinking=False, calls=1, text_with_calls=False, markers=True, edges=True)
PLAIN = conversations(thinking=False, calls=0, markers=True, edges=True)


def renderer_of(family: str, **options: Any) -> Renderer:
    return Renderer(family, loaded("llama3"), **options)


def library_ids(renderer: Renderer, text: str) -> list[int]:
    """What the underlying library makes of a template's text."""
    assert isinstance(renderer.tokenizer, TiktokenTokenizer)
    return list(renderer.tokenizer.encoding.encode(text, allowed_special="all"))


def spells(conversation: Any) -> bool:
    return any(marker in str(conversation) for marker in MARKERS if marker.startswith("<|"))


@TEMPLATES
@given(
    conversation=CALLING,
    declared=tools(),
    options=st.fixed_dictionaries(
        {}, optional={"tools_in_user_message": st.booleans(), "date_string": st.sampled_from(["1 Jan 2030", "today"])}
    ),
)
def test_text_and_ids_are_those_of_the_template(
    template: str, conversation: list[dict[str, Any]], declared: Any, options: dict[str, Any]
) -> None:
    source, renderer = chat_template(template), renderer_of("llama3_1", **options)
    options = {"date_string": "26 Jul 2024", **options}  # that of 3.2 else asks for the day
    assert renderer.render(conversation, declared).text == hf_text(
        source, conversation, declared, bos_token=BOS, **options
    )
    prompt = renderer.build_generation_prompt(conversation, declared)
    expected = hf_text(source, conversation, declared, add_generation_prompt=True, bos_token=BOS, **options)
    assert prompt.text == expected
    if not spells(conversation):
        assert prompt.ids == library_ids(renderer, expected)


@given(conversation=PLAIN)
def test_the_first_one_has_a_plain_template(conversation: list[dict[str, Any]]) -> None:
    source, renderer = chat_template("trl:llama3"), renderer_of("llama3")
    assert renderer.render(conversation).text == hf_text(source, conversation, bos_token=BOS)
    prompt = renderer.build_generation_prompt(conversation)
    expected = hf_text(source, conversation, add_generation_prompt=True, bos_token=BOS)
    assert prompt.text == expected
    if not spells(conversation):
        assert prompt.ids == library_ids(renderer, expected)


USER = Message("user", (TextPart("?"),))
CALL = ToolCall("f", '{"a":  1}')


@pytest.mark.parametrize(
    ("parts", "sampled"),
    [
        ((TextPart("Let me look."), CALL), 'Let me look.\n{"name": "f", "parameters": {"a":  1}}<|eot_id|>'),
        ((CALL,), '{"name": "f", "parameters": {"a":  1}}<|eot_id|>'),
        ((TextPart("<|eot_id|>"),), "<|eot_id|><|eot_id|>"),
        ((), "<|eot_id|>"),
    ],
)
def test_a_turn_is_read_back(parts: tuple[Part, ...], sampled: str) -> None:
    renderer = renderer_of("llama3_1")
    said = Message("assistant", parts)
    example = renderer.build_supervised_example([USER, said])
    ids = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    assert renderer.text(ids) == sampled
    read, termination = renderer.parse_response(ids)
    assert read == said
    assert termination is (Termination.CALL if said.tool_calls else Termination.STOP_SEQUENCE)


def test_json_of_the_first_one_is_text() -> None:
    renderer = renderer_of("llama3")
    text = '{"name": "f", "parameters": {}}'
    said = Message("assistant", (TextPart(text),))
    ids = [*renderer.tokenizer.encode(text), renderer.tokenizer.control["<|eot_id|>"]]
    assert renderer.parse_response(ids) == (said, Termination.STOP_SEQUENCE)
    assert renderer.parse_response([*ids[:-1], renderer.tokenizer.control["<|end_of_text|>"]]) == (
        said,
        Termination.END_OF_TEXT,
    )


def test_the_date_and_the_tools_are_the_callers() -> None:
    renderer = renderer_of("llama3_1", date_string="<|eot_id|>")
    rendered = renderer.render([USER], TOOLS)
    assert rendered.text.count("<|eot_id|>") == 3
    assert rendered.ids.count(renderer.tokenizer.control["<|eot_id|>"]) == 2
    declared = {segment.part: segment.text for segment in rendered.segments if segment.kind is Kind.TOOLS}
    assert '"name": "search"' in declared[1]


@pytest.mark.parametrize(
    ("family", "said", "declared", "found"),
    [
        ("llama3", [USER], TOOLS, "expected no tools, found 2: this format has no way to declare them"),
        ("llama3", [USER, Message("assistant", (CALL,))], None, "message 1, part 0: expected text, found ToolCall"),
        ("llama3", [Message("tool", ())], None, "message 0: expected a role that is system or user or assistant, fo"),
        ("llama3_1", [USER, Message("assistant", (CALL, CALL))], None, "message 1: expected one call at most"),
        ("llama3_1", [USER, Message("assistant", (ThinkingPart("a"),))], None, "message 1, part 0: .* a ThinkingPart"),
        ("llama3_1", [Message("assistant", ())], TOOLS, "message 0: expected a message of the user, which the tools"),
        ("llama3_1", [], TOOLS, "found none"),
        ("llama3_1", [USER, Message("tool", (CALL,))], None, "message 1, part 0: expected text, found ToolCall"),
        ("llama3_1", [Message("developer", ())], None, "found 'developer'"),
    ],
)
def test_what_the_format_can_not_say_is_refused(family: str, said: list[Message], declared: Any, found: str) -> None:
    with pytest.raises(InvalidConversation, match=found):
        renderer_of(family).render(said, declared)
