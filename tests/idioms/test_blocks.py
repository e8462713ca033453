"""Turns in blocks: what opens and closes one, what stands outside of all, and where the turn ends."""

from __future__ import annotations

import pytest

from dragoman import Message, parse, parse_events
from dragoman.errors import Inexpressible
from dragoman.events import Problem, Stop
from dragoman.idioms import Blocks, define_blocks, headed_json
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall

DIALECT = define_blocks(
    "An own one.\n\n    <hm>Two cities.<;><me><say>Let me look.<;><me><calls><use>get_weather<:>"
    '{"city": "Paris", "days": 2}</use><use>get_weather<:>{"city": "Oslo"}</use><.>\n',
    name="own",
    source="made up",
    blocks=Blocks("<me>", "<hm>", "<say>", "<;>"),
    calls=headed_json("<use>", "<:>", "</use>", sections=("<calls>",)),
    stops=("<.>",),
)
F = ToolCall("f", "{}")


def problems(text: str) -> list[str]:
    return [event.kind.value for event in parse_events(text, DIALECT, reason="stop") if isinstance(event, Problem)]


@pytest.mark.slow
def test_it_keeps_every_promise() -> None:
    report = check_dialect(DIALECT, max_examples=6)
    assert report.ok, [result for result in report.results if result.status != "passed"]


@pytest.mark.parametrize(
    ("text", "parts", "found"),
    [
        ("<hm>a<;><me><say>b<;>", (ThinkingPart("a"), TextPart("b")), []),
        ("<say>a<;><me><say>b<;>", (TextPart("a"), TextPart("b")), []),
        ("<say><;>", (), []),
        ("<say>a", (TextPart("a"),), []),
        ("<say>a<me><calls><use>f<:>{}</use><.>", (TextPart("a"), F), ["implicit_close"]),
        ("<say>a</use>b<;>", (TextPart("ab"),), ["orphan_marker"]),
        ("<say>a<;>\n<me> <calls> <use>f<:>{}</use> <.>", (TextPart("a"), F), []),
        ("<hm>a<;>\n<me> <calls> <use>f<:>{}</use> <.>", (ThinkingPart("a"), F), []),
        ("<calls>", (), ["orphan_marker"]),
        ("a<;>", (TextPart("a"),), ["malformed_header"]),
        ("<say>a<;><you><say>b<;>", (TextPart("a"),), ["text_after_stop"]),
    ],
)
def test_blocks_are_read_whatever_is_wrong_between_them(text: str, parts: tuple[Part, ...], found: list[str]) -> None:
    assert parse(text, DIALECT, reason="stop").parts == parts
    assert problems(text) == found


def test_the_closer_of_the_last_block_stops() -> None:
    for text, marker in (("<say>a<;>", "<;>"), ("<calls><use>f<:>{}</use><.>", "<.>"), ("<hm>a<;>", None)):
        assert [event.marker for event in parse_events(text, DIALECT) if isinstance(event, Stop)] == [marker]


def test_the_first_block_has_no_beginning_and_the_last_answer_no_closer() -> None:
    parts = (ThinkingPart("a"), TextPart("b"))
    assert DIALECT.render(Message("assistant", parts)) == "<hm>a<;><me><say>b"
    assert DIALECT.render(Message("assistant", (*parts, F))) == "<hm>a<;><me><say>b<;><me><calls><use>f<:>{}</use>"
    assert DIALECT.render(Message("assistant", ())) == ""


def test_nothing_can_be_written_behind_calls() -> None:
    with pytest.raises(Inexpressible, match="behind a call"):
        DIALECT.render(Message("assistant", (F, TextPart("a"))))
