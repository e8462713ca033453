"""Pages: what is sampled of a turn, and calls that spell control tokens."""

from __future__ import annotations

import re

import pytest

from dragoman.errors import InvalidConversation
from dragoman.registry import get_dialect
from dragoman.render.page import Chat, Options, Page
from dragoman.segments import Kind, Segment, text_of
from dragoman.types import Message, TextPart, ThinkingPart, ToolCall

CONTROL = re.compile(r"<\|end\|>|<tool_call>|<think>|\[X\]")


def page() -> Page:
    return Page(get_dialect("hermes"), CONTROL)


def sampled(written: Page) -> str:
    return text_of(segment for segment in written.segments if segment.sampled)


def turn(prompt: str, *, rewritten: bool = False) -> Page:
    written = page()
    written.mark("before")
    written.begin(3, prompt, rewritten=rewritten)
    written.mark("<a>")
    written.spell(Message("assistant", (ThinkingPart("Hm"), TextPart("Hi"))))
    written.stop("<|end|>")
    written.mark("\n")
    return written


def test_what_stands_behind_the_prompt_is_sampled_up_to_the_stop() -> None:
    whole = "before<a><think>\nHm\n</think>\n\nHi<|end|>\n"
    for prompt in ("", "<a>", "<a><think>\n"):
        written = turn(prompt)
        assert text_of(written.segments) == whole
        assert sampled(written) == whole[len("before") + len(prompt) : -1]
        first = next(segment for segment in written.segments if segment.sampled)
        assert first.apart
        assert {segment.message for segment in written.segments[1:]} == {3}


def test_a_turn_that_begins_otherwise_or_was_rewritten_is_not_sampled() -> None:
    assert sampled(turn("<b>")) == sampled(turn("<a>", rewritten=True)) == ""


def test_the_stop_marker_is_told_apart() -> None:
    assert [segment.text for segment in turn("<a>").segments if segment.kind is Kind.STOP] == ["<|end|>"]


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("f", '{"a": 1}', '{"a": 1}'),
        ("f", '{"a": ["<|end|>"]}', '{"a": ["<|end|>"]}'),
        ("f", '{"a": ["\\u003c|end|>"]}', '{"a": ["<|end|>"]}'),
        ("f", '{"a": "\\n\\\\u003c|end|>"}', '{"a": "\\n\\\\u003c|end|>"}'),
        ("f", '{"[X]": [[1]]}', '{"[X]": [[1]]}'),
        ("f", '{"a": "<\\u007cend|>", "b": "é\\""}', '{"a": "<|end|>", "b": "é\\""}'),
        ("f<|end|>g", "{}", "{}"),
    ],
)
def test_no_control_token_begins_in_a_call(name: str, arguments: str, expected: str) -> None:
    written = page()
    written.begin(0, "")
    written.spell(Message("assistant", (ToolCall(name, arguments),)))
    assert text_of(written.segments) == f'<tool_call>\n{{"name": "{name}", "arguments": {expected}}}\n</tool_call>'
    control = [token for one in written.segments if one.control for token in CONTROL.findall(one.text)]
    assert control == ["<tool_call>"]


def test_what_a_dialect_cannot_say_is_refused_with_its_place() -> None:
    written = page()
    written.begin(4, "")
    with pytest.raises(InvalidConversation, match="message 4, part 1: expected what the dialect can say"):
        written.spell(Message("assistant", (TextPart("x"), ToolCall("f", "oops"))))
    with pytest.raises(InvalidConversation, match="message 4, part 0: expected text, found ToolCall"):
        written.say_parts(Message("user", (ToolCall("f", "{}"),)))


def test_nothing_is_written_for_no_text() -> None:
    written = page()
    written.mark("")
    written.say("")
    assert written.segments == []


def test_a_tools_text_is_a_result() -> None:
    written = page()
    written.at(2)
    written.say_parts(Message("tool", (TextPart("a"), TextPart("b"))))
    assert written.segments == [Segment("a", Kind.RESULT, 2, 0), Segment("b", Kind.RESULT, 2, 1)]


def test_a_chat_knows_its_roles() -> None:
    chat = Chat((Message("user", ()), Message("assistant", ()), Message("user", ())), (), Options())
    assert [chat.last("user"), chat.last("user", before=2), chat.last("tool")] == [2, 0, -1]
    assert [chat.role(k) for k in (-1, 0, 3)] == ["", "user", ""]


def test_an_escaped_character_in_arguments_is_no_guard() -> None:
    arguments = r'{"city": "\ud83d\udc69 \udc01"}'
    for spelled in ("", "<think> [X]"):
        written = page()
        written.begin(0, "")
        written.spell(Message("assistant", (ToolCall("see", arguments[:-2] + spelled + '"}'),)))
        assert r"\ud83d\udc69" in text_of(written.segments)


def test_text_that_spells_the_prompt_is_not_what_the_model_was_given() -> None:
    written = page()
    written.begin(0, "A: <think>")
    written.mark("A: ")
    written.spell(Message("assistant", (TextPart("<think>so</think>"),)))
    written.stop("<|end|>")
    assert sampled(written) == ""


def test_a_call_that_leaves_no_character_for_a_guard_is_refused() -> None:
    used = "".join(map(chr, range(0xE000, 0xF900)))
    written = page()
    written.begin(0, "")
    with pytest.raises(InvalidConversation, match="private use"):
        written.spell(Message("assistant", (ToolCall("f", f'{{"a": "{used}<|end|>"}}'),)))
