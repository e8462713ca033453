"""Made-up schemas with values that satisfy them, and what ``jsonschema`` says of a value: the oracle of these tests."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dragoman.emit.book import Book
from dragoman.emit.generate import generate
from dragoman.emit.matcher import matches
from dragoman.emit.rules import Rules
from dragoman.emit.schema import Lowering
from dragoman.types import JSON

Schema = dict[str, Any]

_checker = Draft202012Validator.FORMAT_CHECKER


def satisfies(value: JSON, schema: Any) -> bool:
    """Whether the value is one that the schema allows, formats included."""
    return Draft202012Validator(schema, format_checker=_checker).is_valid(value)


def lowered(schema: Any, **options: Any) -> tuple[Rules, Book]:
    """The rules of a schema's values, and the book with the notes."""
    book = Book()
    root = schema if isinstance(schema, Mapping) else {}
    return book.close(Lowering(book, root, "tool", **options).value(schema)), book


def accepts(schema: Any, *texts: str, **options: Any) -> list[bool]:
    """Which of the texts the schema's rules match."""
    rules, _ = lowered(schema, **options)
    return [matches(rules, text) for text in texts]


def samples(schema: Any, count: int = 20, size: int = 120, **options: Any) -> list[str]:
    """Texts that the schema's rules let through."""
    rules, _ = lowered(schema, **options)
    draw = random.Random(count).randrange
    return [generate(rules, draw, size=size) for _ in range(count)]


def notes(schema: Any, **options: Any) -> list[str]:
    """What the book has noted, as ``effect keyword place``."""
    _, book = lowered(schema, **options)
    return sorted({f"{note.effect} {note.what} {note.where}" for note in book.notes})


_texts = st.text(st.sampled_from("ab1 -\"\\/\n\té€😀{}<'"), max_size=6)
_keys = st.sampled_from(["a", "ab", "b", 'q"', "é", "c d", "$x"])
_numbers = st.one_of(st.integers(-300, 300), st.floats(-50, 50).map(lambda number: round(number, 3)))
_values = st.recursive(
    st.one_of(st.none(), st.booleans(), _numbers, _texts),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(_keys, inner, max_size=2)),
    max_leaves=4,
)


@st.composite
def _strings(draw: st.DrawFn) -> tuple[Schema, st.SearchStrategy[JSON]]:
    low, extra = draw(st.integers(0, 3)), draw(st.one_of(st.none(), st.integers(0, 3)))
    schema: Schema = {"type": "string"}
    if low:
        schema["minLength"] = low
    if extra is not None:
        schema["maxLength"] = low + extra
    high = low + (extra if extra is not None else 4)
    return schema, st.text(st.sampled_from('ab1"\\\né😀'), min_size=low, max_size=high)


@st.composite
def _numeric(draw: st.DrawFn) -> tuple[Schema, st.SearchStrategy[JSON]]:
    low, high = sorted((draw(st.integers(-1200, 1200)), draw(st.integers(-1200, 1200))))
    schema: Schema = {"type": draw(st.sampled_from(["integer", "number"]))}
    if draw(st.booleans()):
        schema["minimum"] = low
    if draw(st.booleans()):
        schema["maximum"] = high
    return schema, st.integers(low, high)


@st.composite
def _listed(draw: st.DrawFn) -> tuple[Schema, st.SearchStrategy[JSON]]:
    values = draw(st.lists(_values, min_size=1, max_size=3))
    return {"enum": values}, st.sampled_from(values)


Pair = tuple[Schema, "st.SearchStrategy[JSON]"]


def _arrays(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    @st.composite
    def made(draw: st.DrawFn) -> Pair:
        schema, values = draw(inner)
        low = draw(st.integers(0, 2))
        high = low + draw(st.integers(0, 2))
        return {"type": "array", "items": schema, "minItems": low, "maxItems": high}, st.lists(
            values, min_size=low, max_size=high
        )

    return made()


def _objects(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    @st.composite
    def made(draw: st.DrawFn) -> Pair:
        members = draw(st.dictionaries(_keys, inner, max_size=3))
        required = [key for key in members if draw(st.booleans())]
        schema: Schema = {"type": "object", "properties": {key: schema for key, (schema, _) in members.items()}}
        if required:
            schema["required"] = required
        needed = {key: values for key, (_, values) in members.items() if key in required}
        others = {key: values for key, (_, values) in members.items() if key not in required}
        values: st.SearchStrategy[JSON] = st.fixed_dictionaries(needed, optional=others)
        if draw(st.booleans()):
            schema["additionalProperties"] = draw(st.sampled_from([False, {"type": "boolean"}]))
            if schema["additionalProperties"]:
                values = st.tuples(values, st.dictionaries(st.sampled_from(["z", "aa"]), st.booleans())).map(
                    lambda pair: {**pair[1], **pair[0]}
                )
        return schema, values

    return made()


def _unions(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    return st.lists(inner, min_size=1, max_size=3).map(
        lambda pairs: ({"anyOf": [schema for schema, _ in pairs]}, st.one_of(*(values for _, values in pairs)))
    )


_leaves: st.SearchStrategy[Pair] = st.one_of(
    _strings(),
    _numeric(),
    _listed(),
    st.sampled_from([({"type": "boolean"}, st.booleans()), ({"type": "null"}, st.none()), ({}, _values)]),
)

made_schemas: st.SearchStrategy[Pair] = st.recursive(
    _leaves, lambda inner: st.one_of(_arrays(inner), _objects(inner), _unions(inner)), max_leaves=5
)
"""Schemas, each with a strategy for values that satisfy it."""
