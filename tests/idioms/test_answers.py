"""Answers between markers of their own, and thoughts whose markers are plain words."""

from __future__ import annotations

import pytest

from dragoman import Dialect, Message, parse, parse_events
from dragoman.errors import Inexpressible
from dragoman.events import Problem
from dragoman.idioms import Answer, Think, define, tagged_json
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall

THINK = Think(("<plan>",), ("</plan>",), after="\n")
ANSWER = Answer(("<say>", "Me:"), ("</say>",), "\n", "\n", "\n")
CALL = '<use>\n{"name": "f", "arguments": {}}\n</use>'
F = ToolCall("f", "{}")


def own(
    think: Think | None = THINK, answer: Answer | None = ANSWER, prose: bool = True, stops: tuple[str, ...] = ("<.>",)
) -> Dialect:
    return define(
        "An own one.",
        name="own",
        source="made up",
        think=think,
        answer=answer,
        calls=tagged_json("<use>", "</use>"),
        stops=stops,
        prose=prose,
    )


def told(text: str, dialect: Dialect, start: str = "content") -> tuple[Part, ...]:
    return parse(text, dialect, start=start).parts


PROSE, TOKENS = own(), own(prose=False)
READ_ONLY = own(answer=Answer((), ("</say>",), tail="\n", written=False))
WORDS = ("I think:", "I say:")
PLAIN = own(think=Think(("I think:",), ("I say:",), after="\n", words=WORDS), answer=None)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [PROSE, TOKENS, READ_ONLY, PLAIN], ids=["prose", "tokens", "read only", "words"])
def test_they_keep_every_promise(dialect: Dialect) -> None:
    report = check_dialect(dialect, max_examples=6)
    assert report.ok, [result for result in report.results if result.status != "passed"]


@pytest.mark.parametrize("dialect", [PROSE, TOKENS], ids=["prose", "tokens"])
@pytest.mark.parametrize(
    "text",
    [
        "<say>\nHi.\n</say>\n",
        "<say>Hi.</say>",
        "<say>\nHi.",
        "Hi.",
        "Me:Hi.",
        "<say>\nMe:Hi.\n</say>",
        "<say>\n<say>\nHi.\n</say>\n<.>",
    ],
)
def test_an_answer_is_what_stands_between_its_markers_if_they_are_there(text: str, dialect: Dialect) -> None:
    assert told(text, dialect) == (TextPart("Hi."),)


def test_behind_a_thought_an_answer_begins_after_any_layout() -> None:
    for layout in ("", "\n", "\n\n\n"):
        parts = told(f"<plan>\nA\n</plan>{layout}<say>\nHi.\n</say>", PROSE)
        assert parts == (ThinkingPart("A"), TextPart("Hi."))


def test_calls_may_stand_in_an_answer_or_behind_it() -> None:
    assert told(f"<say>\nHi.\n</say>\n\n\n{CALL}<.>", PROSE) == (TextPart("Hi."), F)
    assert told(f"<say>\nHi.\n{CALL}\n</say>\n<.>", PROSE) == (TextPart("Hi."), F)
    assert told(f"<plan>\nA\n</plan>\n<say>\n{CALL}\n</say>", PROSE) == (ThinkingPart("A"), F)


def test_in_prose_its_markers_can_be_talked_about() -> None:
    text = "It opens with <say> and ends with </say> or `</say>`, says Me: too."
    assert told(f"<say>\n{text}\n</say>", PROSE) == (TextPart(text),)


def test_control_tokens_count_wherever_they_are() -> None:
    assert "".join(part.text for part in told("A <say>b</say> c", TOKENS) if isinstance(part, TextPart)) == "A b c"


def test_an_orphan_may_stand_behind_an_answer() -> None:
    assert told("<say>\nHi.\n</say>\n</use><.>", PROSE) == (TextPart("Hi."),)


def test_markers_that_are_only_read_are_not_written() -> None:
    assert told("Hi.\n</say>\n<.>", READ_ONLY) == (TextPart("Hi."),)
    assert READ_ONLY.render(Message("assistant", (TextPart("Hi."),))) == "Hi."


def test_plain_words_open_a_thought_only_where_they_begin_the_turn() -> None:
    assert told("I think:\nA\nI say:\nHi.", PLAIN) == (ThinkingPart("A"), TextPart("Hi."))
    assert told("\nI think:\nA\nI say: Hi.", PLAIN) == (ThinkingPart("A"), TextPart(" Hi."))
    assert told("So I think:\nA", PLAIN) == (TextPart("So I think:\nA"),)
    assert told("A\nI say:\nHi.", PLAIN, "reasoning") == (ThinkingPart("A"), TextPart("Hi."))


def test_plain_words_that_close_nothing_are_text() -> None:
    assert told("A.\nI say:\nHi.", PLAIN) == (TextPart("A.\nI say:\nHi."),)


def test_a_thought_in_plain_words_is_written_only_at_the_beginning() -> None:
    assert PLAIN.render(Message("assistant", (ThinkingPart("A"), TextPart("b")))) == "I think:\nA\nI say:\nb"
    with pytest.raises(Inexpressible, match="a thought can only begin the turn"):
        PLAIN.render(Message("assistant", (F, ThinkingPart("A"))))


def test_some_spellings_may_be_words_and_others_not() -> None:
    think = Think(("<plan>", "I think:"), ("</plan>", "I say:"), words=("I think:", "I say:"))
    mixed = own(think=think, answer=None)
    assert told("I think:\nA\nI say:\nHi.<plan>\nB\n</plan>", mixed) == (
        ThinkingPart("A"),
        TextPart("Hi."),
        ThinkingPart("B"),
    )


def test_a_thought_ends_where_the_answer_opens_or_closes_if_markers_are_tokens() -> None:
    assert told("<plan>\nA<say>\nHi.", TOKENS) == (ThinkingPart("A"), TextPart("Hi."))
    assert told("A\n</say>Hi.", TOKENS, "reasoning") == (ThinkingPart("A\n"), TextPart("Hi."))
    assert told("<plan>\nA<say>\n</plan>", PROSE) == (ThinkingPart("A<say>"),)


SKIPPED = own(think=Think(("<plan>",), ("</plan>",), after="\n", skipped=True), answer=None)


def test_a_closer_that_begins_the_turn_may_say_that_there_is_no_thought() -> None:
    assert told("</plan>\nHi.", SKIPPED) == told(" </plan>Hi.", SKIPPED) == (TextPart("Hi."),)
    assert told(f"</plan>\n{CALL}", SKIPPED) == (F,)
    assert told("</plan>\n<plan>\nA\n</plan>\nHi.", SKIPPED) == (ThinkingPart("A"), TextPart("Hi."))
    assert [event.kind for event in parse_events("</plan>Hi.", SKIPPED) if isinstance(event, Problem)] == []
    assert [event.kind.value for event in parse_events("Hi.</plan>", SKIPPED) if isinstance(event, Problem)] == [
        "orphan_marker"
    ]
    assert [event.kind.value for event in parse_events("</plan>Hi.", PROSE) if isinstance(event, Problem)] == [
        "orphan_marker"
    ]
