"""Calls behind openers in pieces, objects with one key, raw code, and several ways beside each other."""

from __future__ import annotations

import pytest

from dragoman import Dialect, Message, parse, parse_events
from dragoman.events import CallEnd, Problem
from dragoman.idioms import Calls, also, code_calls, define, headed_json, json_array, keyed_array, opened_json
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ToolCall, UnparsedToolCall

F, G = ToolCall("f", "{}"), ToolCall("g", '{"x": [1]}')


def own(calls: Calls, *, prose: bool = False) -> Dialect:
    return define("An own one.", name="own", source="made up", calls=calls, stops=("<.>",), prose=prose)


KEYED = own(keyed_array("<use>", "</use>"))
PIECES = own(opened_json(("<do>", "<use>"), closer="</do>", lead="\n"))
LAST = own(opened_json(("<use>",), ("<.>", "use", "<:>"), most=1))
CODE = own(also(headed_json("<use=", ">", "</use>", plain=True), code_calls("<|py|>", "py")), prose=True)
CLOSED = own(
    also(opened_json(("<do>", "<use>"), closer="</do>"), code_calls("<py>", "py", opener="<do>", closer="</do>"))
)
FENCED = own(json_array("Use:", "```", fence="```json", lead="\n", inner="\n  ", member="\n    "), prose=True)
NESTED = own(headed_json("<use>", "<:>", "</use>", prefix="<name>", suffix="</args>"))

EVERY = {
    "keyed": KEYED,
    "pieces": PIECES,
    "last": LAST,
    "code": CODE,
    "closed": CLOSED,
    "fenced": FENCED,
    "nested": NESTED,
}


def told(text: str, dialect: Dialect, reason: str = "stop") -> tuple[Part, ...]:
    return parse(text, dialect, reason=reason).parts


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_it_keeps_every_promise(name: str) -> None:
    report = check_dialect(EVERY[name], max_examples=6)
    assert report.ok, [result for result in report.results if result.status != "passed"]


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        (KEYED, '<use>[{"f": {}}, {"g": {"x": [1]}}]</use>'),
        (
            PIECES,
            '<do><use>\n{"name": "f", "arguments": {}}</do><do><use>\n{"name": "g", "arguments": {"x": [1]}}</do>',
        ),
        (CODE, '<use=f>{}</use><use=g>{"x": [1]}</use>'),
        (NESTED, '<use><name>f<:>{}</args></use><use><name>g<:>{"x": [1]}</args></use>'),
        (
            FENCED,
            'Use:\n```json\n[\n  {\n    "name": "f",\n    "arguments": {}\n  },\n'
            '  {\n    "name": "g",\n    "arguments": {"x": [1]}\n  }\n]```',
        ),
    ],
)
def test_two_calls_are_written_so_and_read_again(dialect: Dialect, text: str) -> None:
    assert dialect.render(Message("assistant", (F, G))) == text
    assert told(text, dialect) == (F, G)


def test_objects_with_a_name_are_read_beside_those_with_one_key() -> None:
    assert told('<use>[{"name": "f", "arguments": {}}, {"name": {"x": 1}}]</use>', KEYED) == (
        F,
        ToolCall("name", '{"x": 1}'),
    )
    assert told("<use>[]</use>", KEYED) == ()


def test_whitespace_may_stand_between_the_pieces_of_an_opener() -> None:
    assert told('a<do> <use>{"name": "f"}\n</do>', PIECES) == (TextPart("a"), F)
    assert told("<do>a", PIECES) == (TextPart("<do>a"),)
    assert isinstance(told("<do><use>a</do>", PIECES)[0], UnparsedToolCall)


def test_an_opener_may_begin_with_a_stop_marker() -> None:
    assert told('a<.>\nuse<:>{"name": "f"}<.>', LAST) == (TextPart("a"), F)
    assert told(" \t<.>", LAST) == (TextPart(" \t"),)


def test_code_is_a_call_with_raw_arguments_up_to_what_comes_next() -> None:
    assert told("a<|py|>x = {1}<use=f>{}</use>", CODE) == (TextPart("a"), ToolCall("py", "x = {1}"), F)
    assert told("<do> <py>x</do>y", CLOSED) == (ToolCall("py", "x"), TextPart("y"))
    assert told("<|py|>x", CODE) == (ToolCall("py", "x"),)
    assert isinstance(told("<|py|>x", CODE, "length")[0], UnparsedToolCall)


def test_a_plain_tag_counts_where_a_brace_follows() -> None:
    assert told("A <use=f> tag.<use=f>\n{}</use>", CODE) == (TextPart("A <use=f> tag."), F)


def test_a_word_counts_where_the_fence_and_the_array_follow() -> None:
    assert told("Use: it.\nUse:\n```json\n{}\n```\n", FENCED) == (TextPart("Use: it.\nUse:\n```json\n{}\n```\n"),)
    assert told('Use: ```json\n[{"name": "f"}]\n```', FENCED) == (F,)


def test_an_array_whose_closer_is_missing_leaves_no_bracket() -> None:
    for reason in ("stop", "length"):
        events = parse_events('<use>[{"f": {}}]', KEYED, reason=reason)
        assert [event.status.value for event in events if isinstance(event, CallEnd)] == ["complete"]
        assert not any(isinstance(event, Problem) for event in events)
        assert told('<use>[{"f": {}}]', KEYED, reason) == (F,)
