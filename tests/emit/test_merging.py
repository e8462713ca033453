"""What several schemas say of one value, said by one."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.emit.book import Book
from dragoman.emit.merging import Schemas, kind_of


def plain(schema: Any) -> tuple[Any, list[str]]:
    book = Book()
    return Schemas(book, schema, "tool").plain(schema, "tool"), sorted(note.what for note in book.notes)


@pytest.mark.parametrize(
    ("schema", "merged", "relaxed"),
    [
        (True, {}, []),
        (False, {"enum": []}, []),
        ({"title": "t", "description": "d"}, {}, []),
        ({"const": 1, "title": "t"}, {"enum": [1]}, []),
        ({"type": ["string"], "nullable": True}, {"type": ["null", "string"]}, []),
        (
            {"type": "string", "enum": ["a", None], "nullable": True},
            {"type": ["null", "string"], "enum": ["a", None]},
            [],
        ),
        ({"nullable": True}, {}, []),
        ({"pattern": "a", "nullable": True}, {"anyOf": [{"pattern": "a"}, {"type": "null"}]}, []),
        ({"allOf": [{"type": ["integer", "null"]}], "type": "number"}, {"type": ["integer"]}, []),
        ({"allOf": [{"required": ["a"]}], "required": ["b", "a"]}, {"required": ["b", "a"]}, []),
        ({"allOf": [{"minLength": 2}], "minLength": 1, "maxLength": 5}, {"minLength": 2, "maxLength": 5}, []),
        ({"allOf": [{"format": "uri"}], "format": "uri"}, {"format": "uri"}, []),
        ({"allOf": [{"format": "date"}], "format": "uri"}, {"format": "uri"}, ["format"]),
        ({"allOf": [{"items": True}], "items": {"type": "null"}}, {"items": {"type": "null"}}, []),
        ({"allOf": [{"items": [{}]}], "items": {"type": "null"}}, {"items": {"type": "null"}}, ["items"]),
        (
            {"allOf": [{"properties": {"a": {}}, "additionalProperties": {"type": "null"}}], "properties": {"b": True}},
            {"properties": {"b": {"type": "null"}, "a": {}}, "additionalProperties": {"type": "null"}},
            [],
        ),
        (
            {"allOf": [{"properties": {"a": {}}, "patternProperties": {"b": {}}}], "additionalProperties": False},
            {"properties": {"a": False}, "additionalProperties": False, "patternProperties": {"b": {}}},
            [],
        ),
        ({"type": "integer", "format": "int32", "minimum": 0}, {"type": "integer", "minimum": 0}, []),
        ({"type": "number", "format": "money"}, {"type": "number", "format": "money"}, []),
    ],
    ids=str,
)
def test_a_schema_is_made_plain(schema: Any, merged: Any, relaxed: list[str]) -> None:
    assert plain(schema) == (merged, relaxed)


def test_every_value_is_of_one_kind() -> None:
    values = ["a", 1, 1.0, 1.5, True, None, {}, [], ()]
    kinds = ["string", "integer", "integer", "number", "boolean", "null", "object", "array", "array"]
    assert [kind_of(value) for value in values] == kinds
