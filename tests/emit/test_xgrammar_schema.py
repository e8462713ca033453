"""Where xgrammar's converter differs from a schema; `test_xgrammar` holds each kind of difference against it."""

from __future__ import annotations

import pytest

from dragoman.emit.xgrammar_schema import schema_notes
from dragoman.types import JSON

NUMBER: JSON = {"type": "integer"}
PAIR: JSON = {"a": NUMBER, "b": NUMBER}


def told(schema: JSON, any_order: bool = False) -> list[str]:
    return [f"{note.effect} {note.where}:{note.what}" for note in schema_notes(schema, "f", any_order=any_order)]


@pytest.mark.parametrize(
    ("schema", "notes"),
    [
        (True, []),
        ({"type": "array", "items": NUMBER, "uniqueItems": True}, ["relaxed f:uniqueItems"]),
        ({"oneOf": [NUMBER, {"not": {}}]}, ["relaxed f:oneOf", "relaxed f/oneOf/1:not"]),
        ({"allOf": [NUMBER]}, []),
        ({"allOf": [NUMBER, NUMBER]}, ["relaxed f:allOf"]),
        ({"type": "integer", "anyOf": [NUMBER], "minimum": 7, "title": "t"}, ["relaxed f:minimum"]),
        ({"type": "array", "prefixItems": [NUMBER]}, ["narrowed f:items"]),
        ({"type": "string", "format": "colour", "minLength": 2}, ["relaxed f:format"]),
        ({"type": "string", "format": "date", "minLength": 2}, ["relaxed f:minLength"]),
        ({"type": "string", "pattern": "^a$", "maxLength": 2}, ["relaxed f:maxLength"]),
        ({"type": "string", "pattern": "a"}, ["narrowed f:pattern"]),
        ({"type": "object", "properties": PAIR, "additionalProperties": False}, ["narrowed f:order"]),
        ({"properties": {"a": NUMBER}}, ["narrowed f:additionalProperties"]),
        ({"type": "object", "required": ["z"]}, ["relaxed f:required"]),
        ({"$defs": {"x": {"items": {"pattern": "x"}}}}, ["narrowed f/$defs/x/items:pattern"]),
    ],
)
def test_differences_are_told_where_they_are(schema: JSON, notes: list[str]) -> None:
    assert told(schema) == notes


def test_in_any_order_members_are_neither_sure_nor_single() -> None:
    schema: JSON = {"type": "object", "properties": PAIR, "required": ["a"], "additionalProperties": False}
    assert told(schema, any_order=True) == ["relaxed f:unique", "relaxed f:required"]
    assert told({"type": "object"}, any_order=True) == []


def test_at_the_top_a_path_begins_with_the_keyword() -> None:
    assert [note.where for note in schema_notes({"items": {"pattern": "x"}})] == ["items"]
