"""Schemas as rules: what satisfies a schema passes in every layout, and what passes satisfies the schema."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman import Tool, parse
from dragoman.emit.book import Book
from dragoman.emit.forms import JSON, PYTHON, Form, bare_form
from dragoman.emit.generate import generate
from dragoman.emit.matcher import Matcher, matches
from dragoman.emit.schema import Lowering, Members, Property
from dragoman.errors import InvalidTool
from tests.emit.schemas import Pair, accepts, lowered, made_schemas, notes, samples, satisfies

LAYOUTS: tuple[dict[str, Any], ...] = (
    {},
    {"separators": (",", ":")},
    {"indent": 2},
    {"indent": 4, "ensure_ascii": False},
    {"indent": "\t"},
)

CARRIERS: tuple[tuple[str, str, str, Form], ...] = (
    ("hermes", '<tool_call>\n{"name": "f", "arguments": {"x": ', "}}\n</tool_call>", JSON),
    ("llama_pythonic", "[f(x=", ")]", PYTHON),
    ("gemma4", "<|tool_call>call:f{x:", "}<tool_call|>", bare_form('<|"|>', null="None")),
)
"""Dialects whose values are in one of the forms, with what stands before and behind a value."""


def everything_passes(pair: Pair, data: st.DataObject) -> None:
    schema, values = pair
    rules, _ = lowered(schema)
    matcher, value = Matcher(rules), data.draw(values)
    for layout in LAYOUTS:
        assert matcher.fault(json.dumps(value, **layout)) is None


def nothing_else_passes(schema: Any, seed: int) -> None:
    rules, _ = lowered(schema)
    text = generate(rules, random.Random(seed).randrange, size=80)
    assert satisfies(json.loads(text), schema)


def it_is_read_back(schema: Any, seed: int) -> None:
    parameters = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    for dialect, before, behind, form in CARRIERS:
        book = Book()
        rules = book.close(Lowering(book, parameters, "f", form=form).value(schema))
        text = generate(rules, random.Random(seed).randrange, size=60)
        (call,) = parse(before + text + behind, dialect, [Tool("f", "", parameters)]).tool_calls
        assert satisfies(json.loads(call.arguments), parameters)


@given(made_schemas, st.data())
def test_what_satisfies_a_schema_passes_in_every_layout(pair: Pair, data: st.DataObject) -> None:
    everything_passes(pair, data)


@given(made_schemas, st.integers(0, 1 << 30))
def test_what_passes_satisfies_the_schema(pair: Pair, seed: int) -> None:
    nothing_else_passes(pair[0], seed)


@given(made_schemas, st.integers(0, 1 << 30))
def test_what_passes_in_a_form_is_read_back_as_a_value_of_the_schema(pair: Pair, seed: int) -> None:
    it_is_read_back(pair[0], seed)


@pytest.mark.slow
@settings(max_examples=400)
@given(made_schemas, st.data(), st.integers(0, 1 << 30))
def test_all_of_it_holds_for_many_schemas(pair: Pair, data: st.DataObject, seed: int) -> None:
    everything_passes(pair, data)
    nothing_else_passes(pair[0], seed)
    it_is_read_back(pair[0], seed)


OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a"]}

CASES: tuple[tuple[Any, str, str], ...] = (
    (OBJECT, '{"a": 1} {"b": "", "a": 1}', '{} {"b": ""} {"a": 1, "a": 2} {"a": 1, "c": 1} {"a": "1"} [] '),
    ({**OBJECT, "additionalProperties": {"type": "null"}}, '{"a": 1, "c": null, "aa": null}', '{"a": 1, "c": 1}'),
    ({**OBJECT, "additionalProperties": True}, '{"a": 1, "": [{}]}', '{"a": 1, "b": 1}'),
    ({"type": "object", "required": ["x"]}, '{"x": 1} {"x": [], "y": 1}', '{} {"y": 1}'),
    ({"type": "object"}, '{} {"a": {"b": []}}', "[] 1"),
    ({"type": "object", "properties": {}}, "{}", '{"a": 1}'),
    ({"properties": {"a": False, "b": {}}}, '{} {"b": 1}', '{"a": 1}'),
    ({"anyOf": [False, {"type": "null"}]}, "null", "1"),
    ({"type": "array", "items": {"type": "integer"}, "maxItems": 2}, "[] [1] [1,2]", "[1,2,3] [null]"),
    ({"type": "array", "items": {"type": "null"}, "minItems": 2}, "[null,null] [null,null,null]", "[] [null]"),
    ({"type": "array", "items": False}, "[]", "[1]"),
    ({"type": "array", "minItems": 1, "maxItems": 1}, "[{}]", "[] [1,1]"),
    ({"type": "array", "maxItems": 0}, "[]", "[1]"),
    (
        {"prefixItems": [{"type": "null"}, {"const": 1}], "items": {"const": 2}},
        "[] [null] [null,1] [null,1,2,2]",
        "[1] ",
    ),
    ({"prefixItems": [{}, {}], "minItems": 1}, "[1] [1,2]", "[] [1,2,3]"),
    ({"items": [{"const": 1}], "additionalItems": {"const": 2}, "minItems": 3}, "[1,2,2] [1,2,2,2]", "[1,2]"),
    ({"prefixItems": [{"const": 1}, {"const": 2}], "maxItems": 1}, "[] [1]", "[1,2]"),
    ({"prefixItems": [{"const": 1}, False], "items": {}}, "[] [1]", "[1,2]"),
    ({"type": ["string", "null"]}, '"" null', "1"),
    ({"type": "string", "nullable": True}, '"" null', "1"),
    ({"enum": ["a"], "nullable": True}, '"a" null', "1"),
    ({"anyOf": [{"const": 1}], "nullable": True}, "1 null", "2"),
    ({"type": ["integer", "number"], "minimum": 1}, "1 1.5", "0"),
    ({"type": "integer", "enum": [1, "a", 2.0]}, "1 2.0 2", '"a" 2.5'),
    ({"enum": [{"a": [1, "é"]}, []]}, '{"a":[1,"é"]} {"a":[1,"\\u00e9"]} []', "{} [1]"),
    ({"enum": [1, 2, 3], "const": 2}, "2", "1 3"),
    ({"enum": [{"a": 1, "b": None}]}, '{"b":null,"a":1}', '{"a":1}'),
    ({"const": None}, "null", "0"),
    ({"type": "integer", "format": "int32"}, "2147483647 -2147483648", "2147483648"),
    ({"type": "number", "format": "double"}, "1.5", "null"),
    ({"type": "integer", "minimum": 0, "exclusiveMinimum": True}, "1", "0"),
    ({"type": "integer", "minimum": 1, "exclusiveMinimum": 3}, "4", "3 1"),
    ({"type": "string", "minLength": 2, "maxLength": 3}, '"ab" "\\n\\"" "\\u00e9\\ud83d\\ude00" "abc"', '"a" "abcd" '),
    ({"type": "string", "pattern": "^[a-z]+$", "maxLength": 2}, '"a" "ab"', '"" "abc" "A"'),
    ({"type": "string", "pattern": '^["\\\\\n]\u0001?$'}, '"\\"" "\\\\" "\\n" "\\n\\u0001"', '"n" "\\u0002"'),
    ({"type": "string", "format": "date"}, '"2024-02-29"', '"2023-02-29"'),
    ({"allOf": [OBJECT, {"required": ["b"]}]}, '{"a": 1, "b": ""}', '{"a": 1}'),
    ({"allOf": [{"properties": {"a": {"type": "number"}}}, OBJECT]}, '{"a": 1}', '{"a": 1.5}'),
    ({"allOf": [{**OBJECT, "additionalProperties": False}, {"properties": {"c": {}}}]}, '{"a": 1}', '{"a": 1, "c": 1}'),
    ({"allOf": [{"minimum": 1, "type": "integer"}, {"minimum": 3, "maximum": 4}]}, "3 4", "1 5"),
    ({"allOf": [{"enum": [1, 2]}, {"enum": [2, 3]}]}, "2", "1 3"),
    ({"allOf": [True, {"type": "null"}]}, "null", "1"),
    ({"allOf": [{"anyOf": [{"const": 1}, {"const": 2}]}, {"anyOf": [{"const": 2}, {"const": 3}]}]}, "2", "1 3"),
    ({"allOf": [{"items": {"minimum": 1}}, {"items": {"type": "integer"}}]}, "[1]", "[0] [1.5]"),
    ({**OBJECT, "required": [], "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, '{"a": 1} {"b": ""}', "{}"),
    ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, '1 "a"', "null"),
)
"""Schemas, with texts that pass and texts that don't."""


def texts(listed: str) -> list[str]:
    """The values of a list, which may hold spaces themselves."""
    found, decoder, at = [], json.JSONDecoder(), 0
    while at < len(listed.rstrip()):
        _, end = decoder.raw_decode(listed, at)
        found.append(listed[at:end])
        at = end + 1
    return found


@pytest.mark.parametrize(("schema", "right", "wrong"), CASES)
def test_a_keyword_lets_through_what_it_should(schema: Any, right: str, wrong: str) -> None:
    rules, _ = lowered(schema)
    assert [text for text in texts(right) if not matches(rules, text)] == []
    assert [text for text in texts(wrong) if matches(rules, text)] == []


NODE = {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}, "required": ["v"]}
LOOPS = {
    "$defs": {
        "node": NODE,
        "a": {"anyOf": [{"$ref": "#/$defs/b"}, {"const": "a"}]},
        "b": {"anyOf": [{"$ref": "#/$defs/a"}, {"const": "b"}]},
    }
}


def test_a_schema_may_hold_itself() -> None:
    schema = {**LOOPS, "$ref": "#/$defs/node"}
    assert accepts(schema, '{"v": 1, "next": {"next": {"v": 3}, "v": 2}}', '{"v": 1, "next": {}}') == [True, False]
    assert accepts({"anyOf": [{"type": "array", "items": {"$ref": "#"}}, {"const": 1}]}, "[[1,[]]]", "[2]") == [
        True,
        False,
    ]


def test_alternatives_that_lead_back_to_themselves_add_nothing() -> None:
    schema = {**LOOPS, "type": "array", "prefixItems": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "items": False}
    assert accepts(schema, '["a","b"]', '["b","a"]', '["c"]') == [True, True, False]
    rules, _ = lowered(schema)
    assert not any("anyOf" in name for name in rules.rules)


def test_a_reference_may_have_keywords_beside_it() -> None:
    schema = {"$defs": {"n": {"type": "integer"}}, "properties": {"a": {"$ref": "#/$defs/n", "maximum": 2}}}
    assert accepts(schema, '{"a": 2}', '{"a": 3}', '{"a": null}') == [True, False, False]


def test_rules_that_are_alike_are_shared() -> None:
    book = Book()
    schema = {"properties": {"a": {"type": "string", "maxLength": 3}, "b": {"type": "string", "maxLength": 3}}}
    first = Lowering(book, schema, "one").value(schema)
    count = len(book.rules)
    assert Lowering(book, schema, "two").value(schema) == first
    assert len(book.rules) == count


def test_members_stand_in_the_order_of_the_schema_where_that_is_asked_for() -> None:
    assert accepts(OBJECT, '{"a": 1, "b": ""}', '{"b": "", "a": 1}', any_order=False) == [True, False]


def test_without_strictness_any_value_of_the_form_passes() -> None:
    assert accepts(OBJECT, '{"x": [null]}', "{", strict=False) == [True, False]


def test_half_a_character_is_not_written() -> None:
    assert accepts({"type": "string"}, '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00"') == [True, False, False]
    assert accepts({"minLength": 1}, '"\\ud83d\\ude00"', '"\\ud83d"') == [True, False]


def test_a_form_without_layout_is_written_in_one_way() -> None:
    schema = {"properties": {"a b": {"enum": [True, "it's"]}, "c": {"type": "array", "items": {"type": "null"}}}}
    assert accepts(schema, "{'a b': 'it\\'s', 'c': [None, None]}", "{'c':[]}", form=PYTHON) == [True, False]
    form = bare_form('<|"|>')
    assert accepts(schema, '{<|"|>a b<|"|>:<|"|>it\'s<|"|>,c:[null,null]}', "{c: []}", form=form) == [True, False]


@pytest.mark.parametrize(
    ("schema", "noted"),
    [
        (OBJECT, ["narrowed additionalProperties tool"]),
        ({**OBJECT, "additionalProperties": False}, []),
        ({**OBJECT, "additionalProperties": {}}, ["narrowed additionalProperties tool"]),
        (
            {"type": "object", "patternProperties": {"^x": {"const": 1}}},
            ["narrowed additionalProperties tool", "relaxed patternProperties tool"],
        ),
        (
            {"type": "object", "minProperties": 1, "maxProperties": 3},
            ["relaxed maxProperties tool", "relaxed minProperties tool"],
        ),
        ({"minimum": 1}, ["narrowed number tool", "narrowed type tool"]),
        ({"type": "integer", "multipleOf": 1}, []),
        ({"type": "integer", "multipleOf": 3}, ["relaxed multipleOf tool"]),
        ({"type": "array", "uniqueItems": True}, ["relaxed uniqueItems tool"]),
        ({"type": "array", "uniqueItems": False}, []),
        ({"type": "array", "uniqueItems": True, "maxItems": 1}, []),
        ({"type": "array", "maxItems": 5000}, ["relaxed maxItems tool"]),
        ({"type": "array", "minItems": 5000}, ["relaxed minItems tool"]),
        ({"type": "string", "format": "color"}, ["relaxed format tool"]),
        ({"type": "string", "format": "date", "maxLength": 10}, []),
        ({"type": "string", "format": "uri", "maxLength": 10}, ["relaxed maxLength tool"]),
        ({"type": "string", "format": "uri", "pattern": "x"}, ["relaxed format tool"]),
        ({"type": "string", "pattern": "(?=x)"}, ["relaxed pattern tool"]),
        ({"type": "string", "if": {}, "then": {}}, ["relaxed if tool"]),
        ({"type": "string", "not": {"const": ""}}, ["relaxed not tool"]),
        ({"enum": ["a"], "maxLength": 1}, ["relaxed enum tool"]),
        ({"type": "number", "maximum": 1e300}, ["relaxed maximum tool"]),
        ({"allOf": [{"type": "string", "pattern": "a"}, {"pattern": "b"}]}, ["relaxed pattern tool"]),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, []),
        ({"oneOf": [{"const": 1}, {"const": 2}]}, []),
        ({"oneOf": [{"type": "string"}, {"const": "a"}]}, ["relaxed oneOf tool"]),
        ({"oneOf": [{}, {"type": "string"}]}, ["relaxed oneOf tool"]),
        (
            {
                "oneOf": [
                    {
                        "type": "object",
                        "properties": {"k": {"const": k}},
                        "required": ["k"],
                        "additionalProperties": False,
                    }
                    for k in "ab"
                ]
            },
            [],
        ),
        (
            {"properties": {"a": False}},
            ["narrowed additionalProperties tool", "narrowed properties tool/properties/a", "narrowed type tool"],
        ),
        ({"type": "object", "required": ["a"], "additionalProperties": False}, ["relaxed required tool"]),
    ],
)
def test_what_is_lost_is_noted(schema: Any, noted: list[str]) -> None:
    assert notes(schema) == noted


def test_too_many_combinations_of_alternatives_are_relaxed() -> None:
    many = {"anyOf": [{"const": k} for k in range(7)]}
    assert notes({"allOf": [many, many]}) == ["relaxed anyOf tool"]


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"$ref": "#/$defs/x"}, "should be a reference to something that is there"),
        ({"$ref": "other.json"}, "should be a reference into the same document ('#/...')"),
        ({"type": "text"}, "should be one or several JSON types"),
        ({"type": "object", "properties": []}, "should be an object"),
        ({"type": "object", "required": [1]}, "should be a list of names"),
        ({"enum": 1}, "should be a list"),
        ({"items": 1}, "should be a JSON Schema"),
        (False, "should be a schema that something satisfies"),
        ({"type": "integer", "minimum": 2, "maximum": 1}, "should be a schema that something satisfies"),
        ({"type": "array", "minItems": 2, "maxItems": 1}, "should be a schema that something satisfies"),
        ({"type": "array", "items": False, "minItems": 1}, "should be a schema that something satisfies"),
        ({"properties": {"a": False}, "required": ["a"]}, "should be a schema that something satisfies"),
        ({"allOf": [{"type": "string"}, {"type": "null"}]}, "should be a schema that something satisfies"),
        ({"allOf": [{"$ref": "#"}]}, "should be a schema whose references lead to an end"),
        ({"minimum": 1, "anyOf": [{"$ref": "#"}]}, "should be a schema whose references lead to an end"),
        ({"$ref": "#"}, "should be a schema that something satisfies"),
    ],
)
def test_a_schema_that_cant_be_lowered_is_the_callers_mistake(schema: Any, message: str) -> None:
    with pytest.raises(InvalidTool, match=r"tool 'tool'") as raised:
        lowered(schema)
    assert message in str(raised.value)


def test_a_member_whose_key_cant_be_written_is_left_out() -> None:
    schema = {"properties": {'<|"|> x': {}, "y": {"enum": ['<|"|>', 1]}}, "additionalProperties": False}
    form = bare_form('<|"|>')
    assert accepts(schema, "{y:1}", "{}", form=form) == [True, True]
    assert "narrowed enum tool/properties/y" in notes(schema, form=form)
    assert "narrowed string tool" in notes({"type": "string", "maxLength": 2}, form=form)


def test_the_members_of_an_object_are_told_one_by_one() -> None:
    book = Book()
    schema = {"allOf": [{"$ref": "#/$defs/o"}, {"required": ["b"]}], "$defs": {"o": OBJECT}}
    told = Lowering(book, schema, "tool").members(schema)
    assert told == Members((Property("a", {"type": "integer"}, True), Property("b", {"type": "string"}, True)), None)
    assert Lowering(book, {}, "tool").members({}) == Members((), True)
    Lowering(book, {}, "alternatives").members({"anyOf": [{"required": ["a"]}]})
    assert "relaxed anyOf alternatives" in {f"{note.effect} {note.what} {note.where}" for note in book.notes}


def test_a_made_up_text_of_any_object_is_json() -> None:
    for text in samples({"type": "object"}):
        assert isinstance(json.loads(text), dict)
