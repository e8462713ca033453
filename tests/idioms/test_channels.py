"""Rows of messages behind headers: what Harmony and its like share, and what goes wrong between messages."""

from __future__ import annotations

import pytest

from dragoman import Message, get_dialect, parse
from dragoman.errors import Inexpressible
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall
from tests.regressions.reading import read

CALL = '<atem:function_calls>\n<atem:invoke name="{}">\n</atem:invoke>\n</atem:function_calls>'


@pytest.mark.parametrize(
    ("dialect", "output", "problems"),
    [
        ("harmony", "<|channel|>final<|message|>a<|end|><|start|>assistant<|channel|>", ["malformed_header"]),
        ("harmony", "<|channel|>final<|message|>a<|end|><|start|>assistant<|channel|><|end|>", ["malformed_header"]),
        ("muse", " to=user<|message|>a<|eom|><|start|>assistant to=self", ["malformed_header"]),
        ("inkling", "<|content_text|>a<|end_message|><|message_model|>get", ["malformed_header"]),
    ],
)
def test_nothing_is_shown_of_a_header_that_does_not_end(dialect: str, output: str, problems: list[str]) -> None:
    found = read(dialect, output)
    assert (found.parts, [kind for kind, _ in found.problems]) == ((TextPart("a"),), problems)


@pytest.mark.parametrize(
    ("dialect", "header", "end"),
    [
        ("harmony", "<|channel|>analysis<|message|>", "<|end|>"),
        ("beam", "<|channel|>analysis<|message|>", "<|end|>"),
        ("inkling", "<|content_thinking|>", "<|end_message|>"),
    ],
)
def test_a_header_that_comes_once_more_is_layout(dialect: str, header: str, end: str) -> None:
    begun = get_dialect(dialect).turns[0] + header
    assert parse(f"{header}a{end}", dialect, prompt=begun).parts == (ThinkingPart("a"),)
    assert parse(f"{header}{header}a{end}", dialect).parts == (ThinkingPart("a"),)


def test_what_is_kept_of_a_broken_call_begins_with_its_header() -> None:
    output = '<|channel|>commentary to=functions.f json<|message|>{"a" 1}'
    (part,) = read("harmony", f"{output}<|end|>").parts
    assert isinstance(part, UnparsedToolCall)
    assert part.raw == output


def test_a_message_to_a_tool_without_a_call_is_content_and_reported() -> None:
    found = read("muse", " to=f<|message|>Now?<|eot|>")
    assert (found.parts, [kind for kind, _ in found.problems]) == ((TextPart("Now?"),), ["unknown_channel"])


def test_calls_are_read_where_no_recipient_is_told_but_not_where_it_is_the_user() -> None:
    block = CALL.format("f")
    assert parse(f"<|message|>{block}<|eot|>", "muse").parts == (ToolCall("f", "{}"),)
    assert parse(f" to=user<|message|>{block}<|eot|>", "muse").parts == (TextPart(block),)


@pytest.mark.parametrize(("written", "name"), [("f", "f"), ("f.f", "f"), ("n.f", "n.f"), ("n.f.n.f", "n.f")])
def test_a_name_that_is_written_twice_is_one(written: str, name: str) -> None:
    assert parse(f" to=f<|message|>{CALL.format(written)}<|eot|>", "muse").parts == (ToolCall(name, "{}"),)


@pytest.mark.parametrize(
    ("dialect", "parts"),
    [
        ("muse", (TextPart("a", "commentary"),)),
        ("inkling", (TextPart("a", "commentary"),)),
        ("functionary_v32", (TextPart("a", "commentary"),)),
        ("functionary_v32", (ThinkingPart("a"),)),
        ("functionary_v32", (ToolCall("all", "{}"),)),
        ("muse", (ToolCall("f.f", "{}"),)),
        ("beam", (ToolCall("f", "{}"), TextPart("a"))),
    ],
)
def test_what_a_row_of_messages_cannot_say_is_not_written(dialect: str, parts: tuple[Part, ...]) -> None:
    with pytest.raises(Inexpressible):
        get_dialect(dialect).render(Message("assistant", parts))


def test_a_python_prompt_is_no_recipient() -> None:
    output = "all\n>>> 1 + 1\n2\n>>>>get_time\n{}<|eot_id|>"
    assert parse(output, "functionary_v32").parts == (TextPart(">>> 1 + 1\n2\n>"), ToolCall("get_time", "{}"))
