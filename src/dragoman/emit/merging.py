"""Schemas made plain: without references and ``allOf`` at their top, what several say of one value said by one.

What can't be said by one schema is kept from one of them, and noted as relaxed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from json import dumps
from typing import TypeAlias

from ..errors import InvalidTool
from ..grammar.schema import KINDS, resolve
from ..types import JSON
from .book import Book

__all__ = [
    "ARRAY",
    "KEYWORDS",
    "NUMBER",
    "OBJECT",
    "REF_DEPTH",
    "STRING",
    "Schema",
    "Schemas",
    "kind_of",
    "spelled_out",
]

Schema: TypeAlias = Mapping[str, JSON]

FALSE: Schema = {"enum": []}
"""The schema that nothing satisfies."""

OBJECT = frozenset(
    [
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"),
        *("maxProperties", "dependencies", "dependentRequired", "dependentSchemas", "unevaluatedProperties"),
    ]
)
ARRAY = frozenset(
    [
        *("items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "contains"),
        *("minContains", "maxContains", "unevaluatedItems"),
    ]
)
STRING = frozenset(["minLength", "maxLength", "pattern", "format"])
NUMBER = frozenset(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"])
ANY_TYPE = frozenset(
    ["type", "enum", "const", "anyOf", "oneOf", "allOf", "not", "if", "then", "else", "nullable", "$ref"]
)
KEYWORDS = OBJECT | ARRAY | STRING | NUMBER | ANY_TYPE
"""What narrows a value; all else is for people."""

REF_DEPTH = 64
BRANCHES = 32
"""Combinations of alternatives of two schemas that are written out."""


class Schemas:
    """The schemas of one document."""

    def __init__(self, book: Book, root: Schema, tool: str) -> None:
        self.book, self.root, self.tool = book, root, tool

    def target(self, ref: object, where: str) -> JSON:
        """What a reference leads to; raises `InvalidTool`."""
        return resolve(self.root, ref, where, self.tool)

    def plain(self, schema: JSON, where: str, depth: int = 0) -> Schema:
        """The schema without ``$ref``, ``allOf``, ``nullable`` and ``const``; raises `InvalidTool`."""
        if schema is True:
            return {}
        if schema is False:
            return FALSE
        if not isinstance(schema, Mapping):
            raise InvalidTool(where, "a JSON Schema", schema, tool=self.tool)
        if depth > REF_DEPTH:
            raise InvalidTool(where, "a schema whose references lead to an end", schema, tool=self.tool)
        own = {word: value for word, value in schema.items() if word in KEYWORDS}
        if "format" in own and own.keys() & {"type"} and own["type"] in ("integer", "number"):
            own = _sized(own)
        if "const" in own:
            const = own.pop("const")
            listed = self.listed(own, "enum", where) if "enum" in own else [const]
            own["enum"] = [value for value in listed if spelled_out(value) == spelled_out(const)]
        nullable = own.pop("nullable", False) is True
        ref, parts = own.pop("$ref", None), own.pop("allOf", ())
        inner: list[tuple[JSON, str]] = [(self.target(ref, where), where)] if ref is not None else []
        inner += [(part, where) for part in (self.listed({"allOf": parts}, "allOf", where) if parts else ())]
        if nullable and not inner and ("type" in own or "enum" in own):
            own, nullable = self._with_null(own, where), False
        merged: Schema = own
        for part, place in inner:
            merged = self.merge(merged, self.plain(part, place, depth + 1), where)
        return {"anyOf": [merged, {"type": "null"}]} if nullable and merged else merged

    def kinds(self, schema: Schema, where: str) -> frozenset[str] | None:
        """The types that a plain schema names; ``None`` if it names none."""
        kind = schema.get("type")
        if kind is None:
            return None
        kinds = (kind,) if isinstance(kind, str) else kind
        if not isinstance(kinds, (list, tuple)) or not all(isinstance(item, str) and item in KINDS for item in kinds):
            raise InvalidTool(f"{where}.type", "one or several JSON types", kind, tool=self.tool)
        return frozenset(map(str, kinds))

    def listed(self, schema: Schema, word: str, where: str) -> list[JSON]:
        """A keyword's list; raises `InvalidTool`."""
        value = schema.get(word, ())
        if not isinstance(value, (list, tuple)):
            raise InvalidTool(f"{where}.{word}", "a list", value, tool=self.tool)
        return list(value)

    def mapping(self, schema: Schema, word: str, where: str) -> Schema:
        """A keyword's object; raises `InvalidTool`."""
        value = schema.get(word, {})
        if not isinstance(value, Mapping):
            raise InvalidTool(f"{where}.{word}", "an object", value, tool=self.tool)
        return value

    def merge(self, a: Schema, b: Schema, where: str) -> Schema:
        """What satisfies both of two plain schemas."""
        if not a or not b:
            return a or b
        both: dict[str, JSON] = {}
        for word in dict.fromkeys([*a, *b]):
            if word not in a or word not in b:
                both[word] = a.get(word, b.get(word))
            elif word not in _OBJECT_WORDS:
                self._merge_word(both, word, a, b, where)
        if _OBJECT_WORDS & (a.keys() | b.keys()):
            both |= self._merge_members(a, b, where)
        return both

    def _merge_word(self, both: dict[str, JSON], word: str, a: Schema, b: Schema, where: str) -> None:
        one, other = a[word], b[word]
        choose = _CHOICES.get(word)
        if word == "type":
            both[word] = [*sorted(common(self.kinds(a, where), self.kinds(b, where)))]
        elif word == "enum":
            known = set(map(spelled_out, self.listed(b, word, where)))
            both[word] = [value for value in self.listed(a, word, where) if spelled_out(value) in known]
        elif word == "required":
            both[word] = list(dict.fromkeys([*self.listed(a, word, where), *self.listed(b, word, where)]))
        elif choose is not None and _numeric(one) and _numeric(other):
            both[word] = choose(one, other)
        elif word in ("anyOf", "oneOf"):
            both[word] = self._product(self.listed(a, word, where), self.listed(b, word, where), word, where)
        elif (
            word in ("items", "contains")
            and not isinstance(one, (list, tuple))
            and not isinstance(other, (list, tuple))
        ):
            both[word] = _both(one, other)
        else:
            both[word] = one
            if spelled_out(one) != spelled_out(other):
                self.book.relaxed(word, where, "of several that have to hold, one is enforced")

    def _product(self, one: list[JSON], other: list[JSON], word: str, where: str) -> list[JSON]:
        if len(one) * len(other) > BRANCHES:
            self.book.relaxed(word, where, "of several that have to hold, one is enforced")
            return one
        return [_both(first, second) for first in one for second in other]

    def _merge_members(self, a: Schema, b: Schema, where: str) -> dict[str, JSON]:
        """Members that both schemas allow: what one does not name is for its ``additionalProperties`` to say."""
        mine, others = self.mapping(a, "properties", where), self.mapping(b, "properties", where)
        found: dict[str, JSON] = {}
        members: dict[str, JSON] = {}
        for name in dict.fromkeys([*mine, *others]):
            said = [
                own[name] if name in own else schema.get("additionalProperties", True)
                for own, schema in ((mine, a), (others, b))
                if name in own or "patternProperties" not in schema
            ]
            members[name] = False if False in said else _both(*said) if len(said) == 2 else said[0]
        if members or "properties" in a or "properties" in b:
            found["properties"] = members
        if "additionalProperties" in a or "additionalProperties" in b:
            extra = [schema.get("additionalProperties", True) for schema in (a, b)]
            found["additionalProperties"] = False if False in extra else _both(*extra)
        return found

    def _with_null(self, own: dict[str, JSON], where: str) -> dict[str, JSON]:
        """A schema that also lets ``null`` pass."""
        kinds = self.kinds(own, where)
        if kinds is not None:
            own["type"] = [*sorted(kinds | {"null"})]
        if "enum" in own:
            listed = self.listed(own, "enum", where)
            own["enum"] = listed if None in listed else [*listed, None]
        return own


def kind_of(value: JSON) -> str:
    """The JSON type of a value."""
    match value:
        case bool():
            return "boolean"
        case None:
            return "null"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def spelled_out(value: JSON) -> str:
    """A text that only equal values have."""
    return dumps(value, sort_keys=True)


_OBJECT_WORDS = frozenset(["properties", "additionalProperties"])
_CHOICES: dict[str, Callable[..., JSON]] = {
    "minimum": max,
    "exclusiveMinimum": max,
    "minLength": max,
    "minItems": max,
    "minProperties": max,
    "minContains": max,
    "maximum": min,
    "exclusiveMaximum": min,
    "maxLength": min,
    "maxItems": min,
    "maxProperties": min,
    "maxContains": min,
}
_SIZES = {"int32": 31, "int64": 63}


def _sized(own: dict[str, JSON]) -> dict[str, JSON]:
    """The formats of OpenAPI's numbers as bounds, where they are any."""
    name = own.pop("format")
    bits = _SIZES.get(name) if isinstance(name, str) else None
    if bits is None or own.keys() & {"minimum", "maximum"} or own["type"] != "integer":
        return own if name in ("float", "double") or bits else own | {"format": name}
    return own | {"minimum": -(1 << bits), "maximum": (1 << bits) - 1}


def _both(one: JSON, other: JSON) -> JSON:
    if one is True or other is True:
        return other if one is True else one
    return one if one is other or one == other else {"allOf": [one, other]}


def common(a: frozenset[str] | None, b: frozenset[str] | None) -> frozenset[str]:
    """The types that both allow; an integer is a number."""
    a, b = a or frozenset(), b or frozenset()
    both = a & b
    return both | {"integer"} if ("integer" in a and "number" in b) or ("integer" in b and "number" in a) else both


def _numeric(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
