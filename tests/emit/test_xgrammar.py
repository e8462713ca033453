"""xgrammar reads structural tags as they are meant; the first trigger counts, and samples are what is accepted."""

from __future__ import annotations

import itertools
from random import Random

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dragoman.emit.guarantees import Effect
from dragoman.emit.rules import EMPTY, Rules, Scan
from dragoman.emit.structural_tag import (
    Format,
    FreeText,
    Json,
    Maybe,
    Separated,
    Series,
    Tag,
    Triggered,
    format_notes,
    structural_tag,
)
from dragoman.errors import DelimiterError
from dragoman.types import JSON
from tests.emit.xgrammar_harness import VOCABULARIES, XGrammar, vocabulary

pytestmark = pytest.mark.slow

LENGTH = 6


def compiled(given_format: Format, name: str = "bytes") -> XGrammar:
    return vocabulary(name).compile(structural_tag(given_format))


def outputs(alphabet: str, length: int) -> list[str]:
    return ["".join(text) for size in range(length + 1) for text in itertools.product(alphabet, repeat=size)]


def first(text: str, start: int, words: list[str]) -> tuple[int, str] | None:
    """Where the first of the words ends, and which it is; of two that end at once the longer."""
    for end in range(start + 1, len(text) + 1):
        for word in sorted(words, key=len, reverse=True):
            if text.endswith(word, start, end) and end - len(word) >= start:
                return end, word
    return None


def triggered(text: str, calls: Triggered) -> bool:
    """Whether it is free text with tags in it, whose contents are constant."""
    at = 0
    while found := first(text, at, [*calls.triggers, *calls.excludes]):
        end, word = found
        tags = [tag.begin[len(word) :] + tag.end for tag in calls.tags if tag.begin.startswith(word)]
        rest = [tag for tag in tags if text.startswith(tag, end)]
        if word in calls.excludes or not rest:
            return False
        at = end + len(rest[0])
        if calls.one_only:
            return at == len(text)
    return True


words = st.text("ab", min_size=1, max_size=3)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(words, min_size=1, max_size=2), st.lists(words, max_size=2), st.booleans())
def test_the_first_trigger_counts_whatever_its_letters(
    triggers: list[str], excludes: list[str], one_only: bool
) -> None:
    tags = tuple(Tag(trigger, Series(("x",)), "b") for trigger in triggers)
    calls = Triggered(tuple(triggers), tags, one_only=one_only, excludes=tuple(excludes))
    try:
        grammar = compiled(calls)
    except DelimiterError:
        assume(False)
    whole = Triggered(
        calls.triggers, tuple(Tag(tag.begin + "x", FreeText(), "b") for tag in tags), False, one_only, calls.excludes
    )
    assert grammar.language("abx", LENGTH) == {text for text in outputs("abx", LENGTH) if triggered(text, whole)}


@settings(max_examples=30, deadline=None)
@given(words)
def test_free_text_in_a_tag_ends_at_the_first_end(end: str) -> None:
    try:
        grammar = compiled(Tag("", FreeText(), end))
    except DelimiterError:
        assume(False)
    ended = {text for text in outputs("abx", LENGTH) if first(text, 0, [end]) == (len(text), end)}
    assert grammar.language("abx", LENGTH) == ended


def test_rules_in_tags_end_at_the_first_of_ends_that_overlap_themselves() -> None:
    body = Rules({"root": Scan((("aba", EMPTY),))})
    grammar = compiled(Triggered(("x",), (Tag("x", body, "b"),)))
    assert grammar.accepts("axbabab")
    assert grammar.accepts("xabab" * 2)
    assert not grammar.prefix_ok("xabaa")


@pytest.mark.parametrize("end", ["aba", "\n</p>\n"])
def test_xgrammar_takes_a_doubled_end_that_overlaps_itself(end: str) -> None:
    doubled = "x" + end + end[1:]
    found = vocabulary("bytes").compile(
        {
            "type": "structural_tag",
            "format": {"type": "tag", "begin": "", "content": {"type": "any_text"}, "end": end},
        }
    )
    assert found.accepts(doubled), "what is refused for this could be allowed"


@pytest.mark.parametrize(
    ("content", "inside"),
    [
        (Maybe(FreeText()), "x</t>y"),
        (Triggered(("<c>",), (Tag("<c>", Series(("c",))),)), "x</t>y"),
        (Series((Maybe(FreeText()),)), "x</t>y"),
    ],
)
def test_free_text_deep_in_a_tag_does_not_hold_its_end(content: Format, inside: str) -> None:
    grammar = compiled(Tag("<t>", content, "</t>"))
    assert grammar.accepts("<t>x</t>")
    assert not grammar.prefix_ok(f"<t>{inside}")


@pytest.mark.parametrize(
    ("calls", "accepted", "refused"),
    [
        (Separated((Tag("a", Series(("x",))),), ","), ["", "ax", "ax,ax"], ["ax,", "ax ax"]),
        (Separated((Tag("a", Series(("x",))),), "", True, True), ["ax"], ["", "axax"]),
        (Triggered(("a",), (Tag("a", Series(("x",))),), True), ["ax", "ax..ax."], ["", ".ax"]),
        (Triggered(("a",), (Tag("a", Series(("x",))),), True, True), ["ax"], ["", ".ax", "ax."]),
        (Triggered(("a",), (Tag("a", Series(("x",))),), False, True), ["", "..ax", "ax"], ["ax.", "axax"]),
    ],
)
def test_how_many_tags_there_are_is_kept(calls: Format, accepted: list[str], refused: list[str]) -> None:
    grammar = compiled(calls)
    assert [text for text in accepted if not grammar.accepts(text)] == []
    assert [text for text in refused if grammar.accepts(text)] == []


PAIR: dict[str, JSON] = {"a": {"type": "integer"}, "b": {"type": "integer"}}
NUMBER: JSON = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"type": "array", "items": NUMBER, "uniqueItems": True}, "[1, 1]"),
        ({"type": "integer", "not": {"const": 3}}, "3"),
        ({"type": "integer", "if": {"minimum": 3}, "then": {"const": 7}}, "5"),
        ({"oneOf": [NUMBER, {"type": "number"}]}, "3"),
        ({"allOf": [NUMBER, {"minimum": 5}]}, '"x"'),
        ({"type": "integer", "anyOf": [{"minimum": 5}], "minimum": 7}, "3"),
        ({"$ref": "#/$defs/x", "$defs": {"x": NUMBER}, "minimum": 5}, "3"),
        ({"type": "string", "pattern": "^[a-z]+$", "minLength": 3}, '"a"'),
        ({"type": "string", "format": "date", "maxLength": 3}, '"2020-01-01"'),
        ({"type": "string", "format": "colour"}, '"x"'),
        ({"type": "object", "properties": PAIR, "dependentRequired": {"a": ["b"]}}, '{"a": 1}'),
        ({"type": "object", "properties": PAIR, "required": ["z"]}, '{"a": 1}'),
    ],
)
def test_what_xgrammar_lets_through_against_the_schema_is_noted(schema: dict[str, JSON], wrong: str) -> None:
    assert compiled(Json(schema)).accepts(wrong)
    assert Effect.RELAXED in {note.effect for note in format_notes(Json(schema))}


@pytest.mark.parametrize(
    ("schema", "legal"),
    [
        ({"type": "object", "properties": PAIR, "additionalProperties": False}, '{"b": 1, "a": 2}'),
        ({"type": "object", "properties": {"a": NUMBER}}, '{"a": 1, "b": 2}'),
        ({"type": "array", "prefixItems": [NUMBER]}, "[1, 2]"),
        ({"type": "string", "pattern": "b"}, '"abc"'),
    ],
)
def test_what_xgrammar_refuses_though_the_schema_allows_it_is_noted(schema: dict[str, JSON], legal: str) -> None:
    assert not compiled(Json(schema)).accepts(legal)
    assert {note.effect for note in format_notes(Json(schema))} == {Effect.NARROWED}


def test_members_in_any_order_may_be_missing_and_come_twice_and_that_is_noted() -> None:
    schema: dict[str, JSON] = {"type": "object", "properties": PAIR, "required": ["a", "b"]}
    grammar = compiled(Json(schema, any_order=True))
    assert grammar.accepts('{"b": 1, "a": 2}')
    assert grammar.accepts('{"b": 1, "b": 2}')
    notes = format_notes(Json(schema, any_order=True))
    assert {note.what for note in notes if note.effect is Effect.RELAXED} == {"unique", "required"}


@pytest.mark.parametrize(
    ("schema", "wrong"),
    [
        ({"type": "integer", "multipleOf": 2}, "3"),
        ({"type": "integer", "minimum": 5, "exclusiveMaximum": 9}, "9"),
        ({"type": "array", "contains": {"type": "string"}}, "[1]"),
        ({"type": "array", "items": NUMBER, "minItems": 2}, "[1]"),
        ({"type": "string", "minLength": 2}, '"a"'),
        ({"type": "string", "pattern": "^[a-z]+$"}, '"A"'),
        ({"type": "string", "format": "date"}, '"x"'),
        ({"type": "object", "additionalProperties": NUMBER, "maxProperties": 1}, '{"a": 1, "b": 2}'),
        ({"type": "object", "propertyNames": {"pattern": "^x$"}}, '{"a": 1}'),
        ({"type": "object", "patternProperties": {"^a$": NUMBER}}, '{"a": "x"}'),
        ({"enum": ["x", 1]}, '"y"'),
    ],
)
def test_what_xgrammar_keeps_is_not_noted(schema: dict[str, JSON], wrong: str) -> None:
    assert not compiled(Json(schema)).accepts(wrong)
    assert [note for note in format_notes(Json(schema)) if note.effect is Effect.RELAXED] == []


WEATHER: dict[str, JSON] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "units": {"enum": ["metric", "imperial"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    },
    "required": ["city"],
    "additionalProperties": False,
}

CALLS = Series(
    (
        Maybe(Tag("<think>", FreeText(("<think>",)), "</think>")),
        Triggered(
            ("<tool_call>",),
            tuple(
                Tag(f'<tool_call>\n{{"name": "{name}", "arguments": ', Json(WEATHER, whitespace=2), "}\n</tool_call>")
                for name in ("get_weather", "get-weather")
            ),
            excludes=("<think>", "</think>"),
        ),
    )
)


@pytest.mark.parametrize("name", VOCABULARIES)
def test_what_is_sampled_through_masks_is_accepted_as_text_and_as_tokens(name: str) -> None:
    grammar = compiled(CALLS, name)
    random = Random(f"calls in {name}")
    hints = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool", "\n", '"')
    calls = 0
    for _ in range(40):
        ids = grammar.sample(random, hints)
        text = grammar.text(ids)
        calls += text.count('"arguments": ')
        assert grammar.accepts(text), text
        assert grammar.accepts_ids(ids), text
    assert calls > 10, "hardly any sample has a call"
