"""What a page keeps apart: the caller's characters from the format's, and the model's from the prompt's."""

from __future__ import annotations

from dragoman import get_dialect
from dragoman.render.page import Page
from dragoman.segments import Kind, text_of
from dragoman.tokenizers import control_pattern
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Message, TextPart, ToolCall


def page() -> Page:
    return Page(get_dialect("hermes"), control_pattern(ByteTokenizer(("<think>", "</think>", "<tool_call>", "[A]"))))


def test_an_escaped_character_in_arguments_is_no_guard() -> None:
    arguments = r'{"city": "\ud83d\udc69 \udc01"}'
    for spelled in ("", "<think> [A]"):
        own = page()
        own.begin(0, "")
        own.spell(Message("assistant", (ToolCall("see", arguments[:-2] + spelled + '"}'),)))
        assert arguments[:10] in text_of(own.segments)
        assert r"\ud83d\udc69" in text_of(own.segments)


def test_text_that_spells_the_prompt_is_not_what_the_model_was_given() -> None:
    own = page()
    own.begin(0, "A: <think>")
    own.mark("A: ")
    own.spell(Message("assistant", (TextPart("<think>so</think>"),)))
    own.stop("<|im_end|>")
    assert not any(segment.sampled for segment in own.segments)


def test_a_turn_is_sampled_behind_its_prompt() -> None:
    own = page()
    own.begin(0, "A: ")
    own.mark("A: ")
    own.spell(Message("assistant", (TextPart("so"),)))
    own.stop("<|im_end|>")
    assert [(segment.text, segment.sampled) for segment in own.segments] == [
        ("A: ", False),
        ("so", True),
        ("<|im_end|>", True),
    ]
    assert own.segments[-1].kind is Kind.STOP
