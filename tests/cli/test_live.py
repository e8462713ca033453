"""Events as they are drawn, from events written by hand."""

from __future__ import annotations

import io

import pytest

from dragoman.cli.live import View
from dragoman.cli.output import Ink, open_console
from dragoman.events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Malformed,
    Markup,
    Problem,
    ProblemKind,
    ReasoningDelta,
    Stop,
    TagDelta,
    TagEnd,
)


def drawn(*events: Event) -> str:
    page = io.StringIO()
    view = View(Ink(open_console(page)))
    view.show(events)
    view.close()
    return page.getvalue()


def test_reasoning_stands_behind_a_rule_and_content_stands_free() -> None:
    events = (
        Markup("<think>\n", 0, 8),
        ReasoningDelta("One.\nTw", 8, 15),
        ReasoningDelta("o.", 15, 17),
        Markup("\n</think>\n\n", 17, 28),
        ContentDelta("Hi", 28, 30),
        ContentDelta(" there.", 30, 37),
    )
    assert drawn(*events) == "╭ reasoning\n│ One.\n│ Two.\nHi there.\n"


def test_a_call_shows_its_name_its_arguments_and_its_end() -> None:
    events = (
        CallBegin(0, "f", None, 0, 1),
        ArgumentsDelta(0, '{"a":', 1, 6),
        ArgumentsDelta(0, " 1}", 6, 9),
        CallEnd(0, CallStatus.COMPLETE, (), None, 9, 9),
        CallBegin(1, "g", "g:1", 9, 10),
        CallEnd(1, CallStatus.INCOMPLETE, (), "g:1", 10, 10),
    )
    assert drawn(*events) == '╭ call 0 f\n│ {"a": 1}\n╰ complete\n╭ call 1 g (g:1)\n╰ incomplete\n'


def test_markup_between_arguments_does_not_part_them() -> None:
    events = (
        CallBegin(0, "f", None, 0, 1),
        ArgumentsDelta(0, '{"a": 1', 1, 2),
        Markup("</parameter>", 2, 14),
        ArgumentsDelta(0, ', "b": 2}', 14, 15),
    )
    assert drawn(*events) == '╭ call 0 f\n│ {"a": 1, "b": 2}\n'


def test_markup_between_two_thoughts_parts_them() -> None:
    events = (ReasoningDelta("a", 0, 1), Markup("<|end|>", 1, 8), ReasoningDelta("b", 8, 9))
    assert drawn(*events) == "╭ reasoning\n│ a\n╭ reasoning\n│ b\n"


def test_a_channel_is_named() -> None:
    assert drawn(ContentDelta("Wait.", 0, 5, "commentary")) == "╭ content on commentary\n│ Wait.\n"


def test_problems_are_told_with_the_text_they_are_about() -> None:
    unknown = Problem(ProblemKind.UNKNOWN_TOOL, "f", "no tool of that name", 0, 0)
    events = (
        ContentDelta("a", 0, 1),
        Problem(ProblemKind.ORPHAN_MARKER, "</think>", "", 1, 9),
        ContentDelta("b", 9, 10),
        CallEnd(0, CallStatus.MALFORMED, (unknown,), None, 10, 10),
    )
    assert drawn(*events) == (
        "a\n! orphan_marker '</think>'\nb\n╰ malformed\n  ! unknown_tool: no tool of that name 'f'\n"
    )


def test_long_raw_text_of_a_problem_is_cut() -> None:
    (line,) = drawn(Problem(ProblemKind.MALFORMED, "x" * 999, "", 0, 0)).splitlines()
    assert line == f"! malformed '{'x' * 59}…'"


@pytest.mark.parametrize(
    ("stop", "line"),
    [
        (Stop(None, "<|im_end|>", 0, 10), "■ stop <|im_end|>\n"),
        (Stop("length", None, 0, 0), "■ stop length\n"),
        (Stop(None, None, 0, 0), "■ stop (no reason given)\n"),
    ],
)
def test_a_stop_says_why(stop: Stop, line: str) -> None:
    assert drawn(stop) == line


def test_unreadable_text_and_tags_have_their_own_boxes() -> None:
    events = (Malformed("{oops", 0, 5), TagDelta("key", "a", 5, 6), TagEnd("key", 6, 6), TagDelta("key", "b", 6, 7))
    assert drawn(*events) == "╭ malformed\n│ {oops\n╭ key\n│ a\n╭ key\n│ b\n"


def test_only_a_line_feed_ends_a_line() -> None:
    assert drawn(ReasoningDelta("a\u2028b\rc\x0bd", 0, 7)) == "╭ reasoning\n│ a\u2028b\rc\x0bd\n"
