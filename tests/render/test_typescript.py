"""Schemas as types; the family's tests compare thousands with openai-harmony, these show what they look like."""

from __future__ import annotations

import pytest

from dragoman.render.typescript import declared, lines, type_of
from dragoman.types import JSON


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ({"type": "integer"}, "number"),
        ({"type": ["integer", "string", "null"]}, "number | string | null"),
        ({"type": "string", "enum": ["a", 1, "b"]}, '"a" | "b"'),
        ({"type": "string", "enum": [1]}, "string"),
        ({"type": "array"}, "Array<any>"),
        ({"type": "array", "items": {"type": "string", "enum": ["p", "q"]}}, '"p" | "q"[]'),
        ({"type": "object"}, "{\n}"),
        ({"oneOf": [{"type": "string"}, {"type": "number", "nullable": True}]}, "\n | string\n | number | null"),
        ({"anyOf": [{"type": "string"}]}, "any"),
        ({}, "any"),
        (True, "any"),
    ],
)
def test_a_schema_has_a_type(schema: JSON, written: str) -> None:
    assert type_of(schema) == written


def test_comments_stand_above_a_property_and_its_default_behind_it() -> None:
    size: JSON = {
        "type": "string",
        "title": "Size",
        "description": "How large.",
        "examples": ["M", 3],
        "enum": ["S", "M"],
        "default": "M",
    }
    weight: JSON = {"oneOf": [{"type": "number", "description": "kg"}, {"type": "string"}], "default": 1.5}
    box: JSON = {"type": "object", "description": "A box.", "properties": {"of": {"type": "string", "default": "a b"}}}
    schema: JSON = {"type": "object", "properties": {"size": size, "weight": weight, "box": box}, "required": ["box"]}
    assert "\n".join(declared("order", "Order\r\n\nit.", schema)) == (
        "// Order\n// \n// it.\n"
        "type order = (_: {\n"
        '// Size\n//\n// How large.\n// Examples:\n// - "M"\nsize?: "S" | "M", // default: M\n'
        "// default: 1.5\nweight?:\n | number // kg\n | string\n,\n"
        '// A box.\nbox:     // A box.\n{\n    of?: string, // default: "a b"\n    },\n'
        "}) => any;\n"
    )


def test_a_function_without_parameters_takes_none() -> None:
    assert list(declared("now", "", None)) == ["type now = () => any;\n"]
    assert list(declared("now", "", {})) == ["type now = (_: any) => any;\n"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (0.00001, "0.00001"),
        (0.000001, "1e-6"),
        (1.25e-7, "1.25e-7"),
        (2**64, "1.8446744073709552e19"),
        (2**64 - 1, "18446744073709551615"),
        (float("inf"), "null"),
        ({"k": [True, None, "é\n"]}, '{"k":[true,null,"é\\n"]}'),
    ],
)
def test_defaults_are_compact_json_with_numbers_as_rust_writes_them(value: JSON, written: str) -> None:
    schema: JSON = {"type": "object", "properties": {"x": {"default": value}}}
    assert type_of(schema) == f"{{\nx?: any, // default: {written}\n}}"


def test_only_a_newline_ends_a_line() -> None:
    assert lines("a\r\nb\rc\u2028d\n") == ["a", "b\rc\u2028d"]
    assert lines("") == []
    assert lines("a\n\n") == ["a", ""]
