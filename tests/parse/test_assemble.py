"""Events to a message: the order of the parts, what joins and what stays apart, and calls that could not be read."""

from __future__ import annotations

import pytest

from dragoman import Assembler, Message, assemble
from dragoman.events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Markup,
    Problem,
    ProblemKind,
    ReasoningDelta,
    Stop,
    TagDelta,
)
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall


def text(words: str, channel: str | None = None) -> Event:
    return ContentDelta(words, 0, 0, channel)


def thought(words: str) -> Event:
    return ReasoningDelta(words, 0, 0)


def begin(index: int, name: str, id: str | None = None) -> Event:  # noqa: A002
    return CallBegin(index, name, id, 0, 0)


def end(index: int, status: CallStatus = CallStatus.COMPLETE, id: str | None = None) -> Event:  # noqa: A002
    return CallEnd(index, status, (), id, 0, 0)


def problem(kind: ProblemKind, raw: str = "", detail: str = "") -> Event:
    return Problem(kind, raw, detail, 0, 0)


MARKUP = Markup("<>", 0, 0)


@pytest.mark.parametrize(
    ("events", "parts"),
    [
        ([], ()),
        ([text("a"), text("b")], (TextPart("ab"),)),
        ([thought("a"), thought("b")], (ThinkingPart("ab"),)),
        ([text("a"), thought("b"), text("c")], (TextPart("a"), ThinkingPart("b"), TextPart("c"))),
        ([text("a"), MARKUP, text("b")], (TextPart("a"), TextPart("b"))),
        ([thought("a"), MARKUP, thought("b")], (ThinkingPart("a"), ThinkingPart("b"))),
        ([text("a"), text("b", "commentary")], (TextPart("a"), TextPart("b", "commentary"))),
        ([text("a", "x"), text("b", "x")], (TextPart("ab", "x"),)),
        ([text(""), MARKUP, thought("")], ()),
        ([text("a"), problem(ProblemKind.ORPHAN_MARKER), text("b")], (TextPart("ab"),)),
        ([text("a"), Stop("stop", None, 0, 0), TagDelta("t", "x", 0, 0)], (TextPart("a"),)),
    ],
)
def test_texts_and_thoughts_join_unless_markup_or_another_kind_is_between(
    events: list[Event], parts: tuple[Part, ...]
) -> None:
    assert assemble(events) == Message("assistant", parts)


def test_calls_stand_where_the_model_wrote_them() -> None:
    events = [
        text("a"),
        begin(0, "f"),
        ArgumentsDelta(0, '{"x": ', 0, 0),
        ArgumentsDelta(0, "1}", 0, 0),
        end(0, id="7"),
        begin(1, "g"),
        ArgumentsDelta(1, "{}", 0, 0),
        end(1),
        thought("b"),
    ]
    parts = (TextPart("a"), ToolCall("f", '{"x": 1}', "7"), ToolCall("g", "{}"), ThinkingPart("b"))
    assert assemble(events) == Message("assistant", parts)


@pytest.mark.parametrize(
    ("status", "kind"),
    [(CallStatus.INCOMPLETE, ProblemKind.INCOMPLETE), (CallStatus.MALFORMED, ProblemKind.MALFORMED)],
)
def test_a_call_that_is_not_complete_is_what_the_model_wrote(status: CallStatus, kind: ProblemKind) -> None:
    events = [text("a"), begin(0, "f"), ArgumentsDelta(0, "{", 0, 0), end(0, status), problem(kind, "<f>{", "cut")]
    assert assemble(events) == Message("assistant", (TextPart("a"), UnparsedToolCall("<f>{", "cut", "f")))


def test_a_call_without_a_name_is_what_the_model_wrote() -> None:
    events = [
        begin(0, "f"),
        end(0, CallStatus.MALFORMED),
        problem(ProblemKind.MALFORMED, "one"),
        problem(ProblemKind.MALFORMED, "two"),
        begin(1, "g"),
        end(1),
    ]
    parts = (UnparsedToolCall("one", "", "f"), UnparsedToolCall("two", ""), ToolCall("g", ""))
    assert assemble(events) == Message("assistant", parts)


def test_an_end_without_a_beginning_is_passed_over() -> None:
    assert assemble([end(0), text("a")]) == Message("assistant", (TextPart("a"),))


def test_the_message_may_be_asked_for_at_any_time() -> None:
    assembler = Assembler("critic")
    seen = [assembler.message]
    for event in [text("a"), text("b"), begin(0, "f"), ArgumentsDelta(0, "{}", 0, 0), end(0), thought("c")]:
        assembler.feed([event])
        seen.append(assembler.message)
    call = ToolCall("f", "{}")
    assert [message.parts for message in seen] == [
        (),
        (TextPart("a"),),
        (TextPart("ab"),),
        (TextPart("ab"),),
        (TextPart("ab"),),
        (TextPart("ab"), call),
        (TextPart("ab"), call, ThinkingPart("c")),
    ]
    assert {message.role for message in seen} == {"critic"}
