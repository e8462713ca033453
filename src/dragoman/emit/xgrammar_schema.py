"""What xgrammar's own converter makes of a JSON Schema: where it lets more through than the schema says, where less.

Measured with xgrammar 0.2.8, whose converter says little of it itself. Keywords that it keeps are not named here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..types import JSON
from .guarantees import Effect, Note

__all__ = ["schema_notes"]

IGNORED = (
    *("uniqueItems", "not", "if", "dependentRequired", "dependentSchemas"),
    *("minContains", "maxContains", "unevaluatedItems"),
)
"""Keywords that say nothing to it."""

FORMATS = frozenset(
    (
        *("email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid"),
        *("uri", "uri-reference", "uri-template", "json-pointer", "relative-json-pointer"),
    )
)
"""The formats that it knows; of others it takes any string."""

BESIDE = frozenset({"$ref", "anyOf", "oneOf", "allOf", "const", "enum"})
"""Keywords beside which it reads no others."""

ANNOTATIONS = frozenset(
    (
        *("$schema", "$id", "$comment", "$defs", "definitions", "title", "description", "default", "examples"),
        *("deprecated", "readOnly", "writeOnly"),
    )
)
"""Keywords that constrain nothing."""

NESTED = ("items", "additionalProperties", "contains", "propertyNames", "unevaluatedProperties")
LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "patternProperties", "$defs", "definitions")
"""Keywords that hold a schema, a list of them, or some by name."""


def schema_notes(schema: JSON, where: str = "", *, any_order: bool = False) -> Iterator[Note]:
    """The differences by path, as the converter makes them in a structural tag; linear in the schema."""
    if not isinstance(schema, Mapping):
        return
    for effect, what, why in _differences(schema, any_order):
        yield Note(effect, what, where, why)
    for part, inner in _parts(schema):
        yield from schema_notes(inner, f"{where}/{part}" if where else part, any_order=any_order)


def _parts(schema: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    for keyword in NESTED:
        if keyword in schema:
            yield keyword, schema[keyword]
    for keyword in LISTED:
        listed = schema.get(keyword)
        if isinstance(listed, list | tuple):
            yield from ((f"{keyword}/{at}", each) for at, each in enumerate(listed))
    for keyword in NAMED:
        named = schema.get(keyword)
        if isinstance(named, Mapping):
            yield from ((f"{keyword}/{name}", each) for name, each in named.items())


def _differences(schema: Mapping[str, JSON], any_order: bool) -> Iterator[tuple[Effect, str, str]]:
    relaxed, narrowed = Effect.RELAXED, Effect.NARROWED
    for keyword in IGNORED:
        if keyword in schema:
            yield relaxed, keyword, "xgrammar ignores it"
    if "oneOf" in schema:
        yield relaxed, "oneOf", "xgrammar may take it as anyOf"
    listed = schema.get("allOf")
    if isinstance(listed, list | tuple) and len(listed) > 1:
        yield relaxed, "allOf", "xgrammar takes any value for several"
    for keyword in sorted(BESIDE & schema.keys()):
        others = schema.keys() - BESIDE - ANNOTATIONS - {"type"} - set(IGNORED)
        yield from ((relaxed, other, f"xgrammar does not read it beside {keyword}") for other in sorted(others))
    yield from _of_strings(schema)
    if "properties" in schema or schema.get("type") == "object":
        yield from _of_objects(schema, any_order)
    if "prefixItems" in schema and "items" not in schema:
        yield narrowed, "items", "xgrammar takes no others where the schema does not allow them"


def _of_strings(schema: Mapping[str, JSON]) -> Iterator[tuple[Effect, str, str]]:
    known = schema.get("format")
    if isinstance(known, str) and known not in FORMATS:
        yield Effect.RELAXED, "format", f"xgrammar does not know {known}"
    for keyword in ("minLength", "maxLength"):
        if keyword in schema and ("pattern" in schema or known in FORMATS):
            yield Effect.RELAXED, keyword, "xgrammar ignores it beside a pattern or a format"
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and not (pattern.startswith("^") and pattern.endswith("$")):
        yield Effect.NARROWED, "pattern", "xgrammar wants the whole string to match"


def _of_objects(schema: Mapping[str, JSON], any_order: bool) -> Iterator[tuple[Effect, str, str]]:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list | tuple) else []
    if any_order:
        if known:
            yield Effect.RELAXED, "unique", "xgrammar takes members in any order, each as often as one likes"
        if names:
            yield Effect.RELAXED, "required", "xgrammar counts members in any order, and does not ask which"
    elif len(known) > 1:
        yield Effect.NARROWED, "order", "xgrammar takes members in the order of the schema"
    if any(name not in known for name in names) and not any_order:
        yield Effect.RELAXED, "required", "xgrammar does not ask for members that the schema does not describe"
    if known and "additionalProperties" not in schema and "unevaluatedProperties" not in schema:
        yield Effect.NARROWED, "additionalProperties", "xgrammar takes no others where the schema does not allow them"
