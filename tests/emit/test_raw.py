"""Values as raw text: whatever is let through is read back as a value of the schema."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import Tool, parse
from dragoman.emit.book import Book
from dragoman.emit.generate import generate
from dragoman.emit.matcher import matches
from dragoman.emit.raw import Ending
from dragoman.emit.rules import Rules, Scan, Text
from dragoman.emit.schema import Lowering
from dragoman.errors import InvalidTool
from tests.emit.schemas import Pair, made_schemas, satisfies

FRAMED = Ending(("</parameter>",), "\n</parameter>")
TIGHT = Ending(("</arg_value>",), "</arg_value>")
CARRIERS = (
    ("qwen3_coder", "<tool_call>\n<function=f>\n<parameter=x>\n", FRAMED, "\n</function>\n</tool_call>"),
    ("glm45", "\n<tool_call>f\n<arg_key>x</arg_key>\n<arg_value>", TIGHT, "\n</tool_call>"),
)

SCHEMAS: tuple[Any, ...] = (
    {"type": "string"},
    {"type": ["string", "null"]},
    {"type": ["string", "integer"], "pattern": r"^\d+$", "minimum": 100},
    {"type": ["string", "integer"], "pattern": "^[0-9a-f]{2}$", "minimum": 100},
    {"type": ["string", "integer"], "minimum": 100},
    {"type": ["string", "integer"], "maximum": 5, "minLength": 1},
    {"anyOf": [{"type": "string", "minLength": 2}, {"properties": {"a": {}}, "required": ["a"]}]},
    {"anyOf": [{"minLength": 3}, {"type": "integer"}]},
    {
        "$defs": {"t": {"anyOf": [{"type": "integer"}, {"const": "a"}]}},
        "anyOf": [{"$ref": "#/$defs/t"}, {"const": "b"}],
    },
    {"enum": ["5", 7, "a", None, "null"]},
    {"enum": ["a</parameter></arg_value>", "\n", "a\nb", "<", {"a": "</parameter></arg_value>"}]},
    {"type": "string", "minLength": 3},
    {"type": "string", "minLength": 1},
    {"type": "string", "maxLength": 3},
    {"type": "string", "pattern": "^<b>[^a]*</b>$"},
    {"type": "string", "pattern": "^(<|[a-z]*)$"},
    {"type": "string", "format": "date"},
    {"type": "array", "items": {"type": "string"}},
    {"type": ["array", "string"], "items": {"enum": ["</parameter>", "a"]}},
    {"type": ["string", "boolean", "null", "object"], "required": ["a"], "pattern": r"^([{tn\d].*)?$"},
)


def raw(schema: Any, ending: Ending) -> tuple[Rules, Book]:
    book = Book()
    root = {"$defs": schema["$defs"]} if "$defs" in schema else {}
    return book.close(Lowering(book, root, "f").raw(schema, ending)), book


def accepts(schema: Any, *texts: str, ending: Ending = FRAMED) -> list[bool]:
    rules, _ = raw(schema, ending)
    return [matches(rules, text) for text in texts]


def it_is_read_back(schema: Any, seed: int) -> None:
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"], **_definitions(schema)}
    for dialect, before, ending, behind in CARRIERS:
        rules, _ = raw(schema, ending)
        text = generate(rules, random.Random(seed).randrange, size=60)
        (call,) = parse(before + text + behind, dialect, [Tool("f", "", parameters)]).tool_calls
        assert satisfies(json.loads(call.arguments), parameters), text


def _definitions(schema: Any) -> dict[str, Any]:
    return {"$defs": schema["$defs"]} if "$defs" in schema else {}


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
@given(seed=st.integers(0, 1 << 30))
def test_what_passes_is_read_back_as_a_value_of_the_schema(schema: Any, seed: int) -> None:
    it_is_read_back(schema, seed)


@pytest.mark.slow
@settings(max_examples=300)
@given(made_schemas, st.integers(0, 1 << 30))
def test_that_holds_for_many_schemas(pair: Pair, seed: int) -> None:
    with suppress(InvalidTool):  # where all that is listed looks like something else
        it_is_read_back(pair[0], seed)


def test_any_string_ends_at_the_first_closer() -> None:
    rules, book = raw({"type": ["string", "null"]}, FRAMED)
    assert isinstance(rules.rules["root"], Scan)
    assert book.notes == []
    assert accepts({}, "a</parameter>", "a < b\n</parameter>", "</parameter></parameter>") == [True, True, False]


def test_a_value_that_is_no_string_is_written_as_json() -> None:
    ended = ["5\n</parameter>", "-1\n</parameter>", "x\n</parameter>", "5</parameter>"]
    assert accepts({"type": "integer", "minimum": 0}, *ended) == [True, False, False, False]
    assert accepts({"type": "boolean"}, "true\n</parameter>", "True\n</parameter>") == [True, False]


def test_a_string_inside_a_value_may_begin_a_closer_but_not_hold_it() -> None:
    inside = ['["a<b </p> <"]', r'["\u003c/parameter>"]', '["</parameter>"]', '["</paramet\\"er></"]']
    schema = {"type": "array", "items": {"type": "string"}}
    assert accepts(schema, *(f"{text}\n</parameter>" for text in inside)) == [True, True, False, True]
    two = Ending(("<a/>", "</a>"), "\n</a>")
    inside = ['["<<a <b/>"]', '["<a/>"]', '["</a>"]', '["<</a>"]', '["</b><a></"]']
    assert accepts(schema, *(f"{text}\n</a>" for text in inside), ending=two) == [True, False, False, False, True]


def test_a_closer_that_repeats_its_beginning_keeps_that_out_of_strings() -> None:
    ending = Ending(("<<x",), "<<x")
    inside = ['["a"]', '["<"]', r'["\u003c"]']
    assert accepts({"items": {"type": "string"}}, *(f"{text}<<x" for text in inside), ending=ending) == [
        True,
        False,
        True,
    ]


def test_what_follows_the_closer_and_whether_it_is_a_marker_is_passed_on() -> None:
    ending = Ending(("</v>",), "\n</v>", tail="\n", marks=frozenset(["</v>"]))
    for schema in ({}, {"type": "integer"}, {"enum": ["5"]}, {"pattern": "^.$"}, {"maxLength": 2}, {"minLength": 1}):
        rules, _ = raw(schema, ending)
        assert matches(rules, "5\n</v>\n")
        assert not matches(rules, "5\n</v>")
        assert any(
            part == Text("</v>", mark=True) or (isinstance(part, Scan) and part.marks == {"</v>"})
            for part in rules.walk()
        )


def test_what_looks_like_another_type_is_left_out_where_that_would_be_refused() -> None:
    schema = {"type": ["string", "integer"], "minimum": 100}
    ended = ["five\n</parameter>", "5\n</parameter>", "500\n</parameter>", "\n</parameter>"]
    assert accepts(schema, *ended) == [True, False, True, True]


def test_without_strictness_any_text_passes() -> None:
    lowering = Lowering(Book(), {}, "f", strict=False)
    assert lowering.raw({"type": "integer"}, FRAMED) == FRAMED.scan


def test_what_no_raw_text_can_be_is_the_callers_mistake() -> None:
    with pytest.raises(InvalidTool, match="a schema that something satisfies as raw text"):
        raw({"enum": ["</parameter>"]}, FRAMED)
    with pytest.raises(InvalidTool, match="whose references lead to an end"):
        raw({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"}, FRAMED)


@pytest.mark.parametrize(
    ("schema", "noted"),
    [
        ({"type": "string", "minLength": 1}, ["narrowed minLength f"]),
        ({"type": "string", "maxLength": 1}, ["narrowed string f"]),
        ({"type": "string", "pattern": "^[a-z]*$"}, []),
        ({"type": "string", "pattern": "^(<|a<[b<])$"}, ["relaxed pattern f"]),
        ({"enum": ["5", 7]}, ["narrowed enum f"]),
        ({"type": "string", "not": {}}, ["relaxed not f"]),
    ],
)
def test_what_is_lost_is_noted(schema: Any, noted: list[str]) -> None:
    _, book = raw(schema, FRAMED)
    assert sorted({f"{note.effect} {note.what} {note.where}" for note in book.notes}) == noted
