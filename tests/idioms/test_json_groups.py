"""Calls as JSON in groups: several in one tag, arrays with and without a closer, and what no marker announces."""

from __future__ import annotations

import pytest

from dragoman import Dialect, Message, parse
from dragoman.errors import Inexpressible
from dragoman.idioms import Calls, Think, array_calls, bare_array, define, json_array, opened_json, tagged_json
from dragoman.testing import check_dialect
from dragoman.types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall

F, G = ToolCall("f", "{}"), ToolCall("g", '{"x": [1]}')
JSON_F, JSON_G = '{"name": "f", "arguments": {}}', '{"name": "g", "arguments": {"x": [1]}}'
LIST = f"[{JSON_F}, {JSON_G}]"


def own(calls: Calls, *, prose: bool = True) -> Dialect:
    think = Think.tight("<plan>", "</plan>")
    return define("An own one.", name="own", source="made up", think=think, calls=calls, stops=("<.>",), prose=prose)


LINES = own(tagged_json("<use>", "</use>", several=True))
APART = own(tagged_json("<use>", "</use>", apart="\n\n", between=""))
OPEN = own(json_array("<use>", "", openers=("<call>",)))
BARE = own(json_array("<use>", "", bare=bare_array))
INDENTED = own(json_array("<use>", "</use>", inner="\n  "))
WITH_IDS = own(json_array("<use>", "</use>", id_last=True))
LED = own(json_array("<use>", "</use>", lead="\n"))
PREFIXED = own(opened_json(("<use>",), lead=" ", prose=True))
LOOSE = own(array_calls(("[use]",), (("<use>", "</use>"),)), prose=False)

EVERY = {
    "lines": LINES,
    "apart": APART,
    "open": OPEN,
    "bare": BARE,
    "indented": INDENTED,
    "with ids": WITH_IDS,
    "led": LED,
    "prefixed": PREFIXED,
    "loose": LOOSE,
}


def told(text: str, dialect: Dialect, reason: str = "stop") -> tuple[Part, ...]:
    return parse(text, dialect, reason=reason).parts


def written(dialect: Dialect, *parts: Part) -> str:
    return dialect.render(Message("assistant", parts))


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_it_keeps_every_promise(name: str) -> None:
    report = check_dialect(EVERY[name], max_examples=6)
    assert report.ok, [result for result in report.results if result.status != "passed"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lines", f"A\n<use>\n{JSON_F}\n{JSON_G}\n</use>\nB"),
        ("apart", f"A\n\n<use>\n{JSON_F}\n</use><use>\n{JSON_G}\n</use>\nB"),
        ("open", f"A<use>{LIST}B"),
        ("bare", f"A<use>{LIST}B"),
        ("indented", f"A<use>[\n  {JSON_F},\n  {JSON_G}\n]</use>B"),
        ("led", f"A\n<use>{LIST}</use>\nB"),
        ("prefixed", f"A<use> {JSON_F}<use> {JSON_G}B"),
        ("loose", f"A[use]{LIST}B"),
    ],
)
def test_this_is_how_a_group_between_texts_is_written(name: str, text: str) -> None:
    assert written(EVERY[name], TextPart("A"), F, G, TextPart("B")) == text


def test_ids_are_written_for_the_calls_that_have_one() -> None:
    named = '{"name": "f", "arguments": {}, "id": "1"}'
    assert written(WITH_IDS, ToolCall("f", "{}", "1"), G) == f"<use>[{named}, {JSON_G}]</use>"


# An array that only its bracket closes


@pytest.mark.parametrize("text", [f"<use>{LIST}", f"<use> [\n{JSON_F} ,\n{JSON_G}\n]", f"<call>{LIST}<.>"])
def test_an_array_is_closed_by_its_bracket(text: str) -> None:
    assert told(text, OPEN) == (F, G)


def test_text_goes_on_behind_the_bracket() -> None:
    assert told(f"<use>{LIST}] B", OPEN) == (F, G, TextPart("] B"))


def test_an_empty_array_is_no_call_and_no_text() -> None:
    assert told("A<use>[]B", OPEN) == (TextPart("A"), TextPart("B"))


def test_a_missing_bracket_is_what_the_closer_would_be() -> None:
    assert told(f"<use>[{JSON_F}", OPEN) == (F,)
    (part,) = told(f"<use>[{JSON_F}", OPEN, "length")
    assert isinstance(part, UnparsedToolCall)


def test_behind_a_broken_array_the_next_one_is_read() -> None:
    broken, *rest = told(f'<use>[{{"name": "f", "arguments": {{"x" 1}}}}] <use>{LIST}', OPEN)
    assert isinstance(broken, UnparsedToolCall)
    assert rest == [TextPart(" "), F, G]


# Without any marker


@pytest.mark.parametrize("dialect", [BARE, LOOSE], ids=["array", "loose"])
@pytest.mark.parametrize("text", [LIST, f"\n {LIST}<.>", LIST.replace("{", "{ ").replace(":", " : ")])
def test_an_array_whose_beginning_is_whole_begins_the_turn_with_calls(text: str, dialect: Dialect) -> None:
    assert [part.name for part in told(text, dialect) if isinstance(part, ToolCall)] == ["f", "g"]


@pytest.mark.parametrize("dialect", [BARE, LOOSE], ids=["array", "loose"])
def test_so_it_does_behind_a_thought(dialect: Dialect) -> None:
    assert told(f"<plan>A</plan>\n{LIST}", dialect) == (ThinkingPart("A"), F, G)
    assert told(f"Hm.<plan>A</plan>{LIST}", dialect) == (TextPart("Hm."), ThinkingPart("A"), F, G)


@pytest.mark.parametrize("dialect", [BARE, LOOSE], ids=["array", "loose"])
@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "[1, 2]",
        JSON_F,
        f"See {LIST}",
        '[{"name": "Oslo", "degrees": 3}]',
        '[{"name": "Oslo"}]',
        '[{"name": 1, "arguments": {}}]',
        '[{"arguments": {}, "name": "f"}]',
        '[[{"name": "f", "arguments": {}}]]',
    ],
)
def test_all_other_json_is_an_answer(text: str, dialect: Dialect) -> None:
    assert told(text, dialect) == (TextPart(text),)


@pytest.mark.parametrize("dialect", [BARE, LOOSE], ids=["array", "loose"])
def test_text_that_looks_like_one_is_not_written(dialect: Dialect) -> None:
    with pytest.raises(Inexpressible):
        written(dialect, TextPart(f"So: {LIST}"))


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{LIST}\n```",
        f"```\n{LIST}```",
        f"[use] {LIST}",
        f"<use>{LIST}</use>",
        f"<use>\n{JSON_F}\n{JSON_G}\n</use>",
    ],
)
def test_loose_calls_stand_in_a_fence_or_behind_a_marker(text: str) -> None:
    assert told(f"A {text}", LOOSE) == (TextPart("A "), F, G)


@pytest.mark.parametrize("text", ['```json\n[{"a": 1}]\n```', f"```python\n{LIST}\n```", "[use] it", "<use> it </us"])
def test_a_fence_or_a_marker_without_calls_is_text(text: str) -> None:
    assert told(text, LOOSE) == (TextPart(text),)


# An opener alone


@pytest.mark.parametrize("text", [f"<use> {JSON_F}<use> {JSON_G}", f"<use>{JSON_F}\n<use>\n{JSON_G}<.>"])
def test_each_opener_has_an_object_that_its_brace_closes(text: str) -> None:
    assert told(text, PREFIXED) == (F, G)


def test_an_opener_without_an_object_is_text() -> None:
    assert told("<use> it, <use>", PREFIXED) == (TextPart("<use> it, <use>"),)


def test_a_broken_object_ends_at_the_next_opener() -> None:
    broken, call = told(f'<use> {{"name": "f", "arguments": {{"x" <use> {JSON_G}', PREFIXED)
    assert isinstance(broken, UnparsedToolCall)
    assert call == G


# Tags


@pytest.mark.parametrize(
    "text", [f"<use>{JSON_F}{JSON_G}</use>", f"<use>\n{LIST}\n</use>", f"<use>{JSON_F}\n\n{JSON_G}"]
)
def test_several_objects_in_one_tag_are_read_in_any_layout(text: str) -> None:
    assert told(text, LINES) == (F, G)


def test_space_before_calls_that_begin_the_turn_is_layout() -> None:
    assert told(f"  \n\n<use>{JSON_F}</use>", LINES) == (F,)
    assert told(f" A <use>{JSON_F}</use>", LINES) == (TextPart(" A "), F)


def test_space_before_a_stop_marker_is_text_even_where_that_marker_opens_calls_too() -> None:
    dialect = define("An own one.", name="own", source="made up", calls=opened_json(("<.>", "use")), stops=("<.>",))
    assert told(" \n<.>", dialect) == (TextPart(" \n"),)
    assert told(f" \n<.>use{JSON_F}", dialect) == (TextPart(" \n"), F)
