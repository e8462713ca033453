"""JSON Schemas as the types of TypeScript, which is how Harmony declares functions.

Which type a schema becomes, and where its title, description, examples and default stand as comments, is openai-harmony
0.0.8's choice (`json_schema_to_typescript`), oddities included: models were trained on its output. What it has no type
for is ``any``. Indents grow for the lines of an object within an object only.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal

from ..types import JSON
from .values import tojson

__all__ = ["declared", "lines", "type_of"]

NAMED = {"string": "string", "number": "number", "integer": "number", "boolean": "boolean"}


def declared(name: str, description: str, parameters: JSON) -> Iterator[str]:
    """The lines that declare a function; `parameters` are ``None`` where it has none."""
    yield from (f"// {line}" for line in lines(description))
    arguments = f"_: {type_of(parameters)}" if parameters is not None else ""
    yield f"type {name} = ({arguments}) => any;\n"


def type_of(schema: JSON, indent: str = "") -> str:
    """The type of a value; the first line has no indent of its own."""
    variants = _get(schema, "oneOf")
    if isinstance(variants, list | tuple):
        return "".join([f"\n{indent} | {_variant(one, indent)}" for one in variants])
    kind = _get(schema, "type")
    if isinstance(kind, list | tuple):
        names = ["number" if name == "integer" else name for name in kind if isinstance(name, str)]
        if names:
            return " | ".join(names)
    match kind:
        case "object":
            return _object(schema, indent)
        case "array":
            items = _get(schema, "items")
            return f"{type_of(items, indent)}[]" if _has(schema, "items") else "Array<any>"
        case "string":
            return " | ".join([f'"{value}"' for value in _texts(_get(schema, "enum"))]) or "string"
        case str():
            return NAMED.get(kind, "any")
    return "any"


def lines(text: str) -> list[str]:
    """The lines of a text: only a newline ends one, and a carriage return before it is part of the end."""
    *ended, last = text.split("\n")
    return [line.removesuffix("\r") for line in ended] + ([last] if last else [])


def _object(schema: JSON, indent: str) -> str:
    description = _get(schema, "description")
    comment = f"{indent}// {description}\n" if isinstance(description, str) else ""
    properties = _get(schema, "properties")
    required = frozenset(_texts(_get(schema, "required")))
    inside = "".join(
        _property(f"{name}{'' if name in required else '?'}", value, indent)
        for name, value in (properties.items() if isinstance(properties, Mapping) else ())
    )
    return f"{comment}{{\n{inside}{indent}}}"


def _property(name: str, schema: JSON, indent: str) -> str:
    """The lines of a property, comments first."""
    title, examples, description = _get(schema, "title"), _get(schema, "examples"), _get(schema, "description")
    comments = [title, None] if isinstance(title, str) else []
    out = "".join([f"{indent}//{f' {text}' if text is not None else ''}\n" for text in comments])
    about = f"{indent}// {description}\n" if isinstance(description, str) else ""
    if not _has(schema, "oneOf"):
        out += about
    if isinstance(examples, list | tuple) and examples:
        out += f"{indent}// Examples:\n" + "".join([f'{indent}// - "{text}"\n' for text in _texts(examples)])
    variants = _get(schema, "oneOf")
    if isinstance(variants, list | tuple):
        return out + _union(name, schema, variants, indent)
    default = f" // {_default(schema)}" if _has(schema, "default") and not _has(schema, "oneOf") else ""
    return f"{out}{indent}{name}: {_nullable(schema, f'{indent}    ')},{default}\n"


def _union(name: str, schema: JSON, variants: list[JSON] | tuple[JSON, ...], indent: str) -> str:
    """A property of several types, each on its own line; the first one's description does not stand twice."""
    description = _get(schema, "description")
    above = isinstance(description, str) and not (variants and _get(variants[0], "description") == description)
    out = f"{indent}// {description}\n" if above else ""
    if _has(schema, "default"):
        out += f"{indent}// {_default(schema)}\n"
    out += f"{indent}{name}:\n"
    for number, variant in enumerate(variants):
        told = description if number or not above else _get(variant, "description")
        out += f"{indent} | {_commented(variant, indent, told, quoted=False)}\n"
    return f"{out}{indent},\n"


def _variant(schema: JSON, indent: str) -> str:
    return _commented(schema, indent, None, quoted=True)


def _commented(schema: JSON, indent: str, told: JSON, *, quoted: bool) -> str:
    """One of several types, with its description behind it unless that was `told` already."""
    description = _get(schema, "description")
    comments = [description] if isinstance(description, str) and description != told else []
    comments += [_default(schema, quoted=quoted)] if _has(schema, "default") else []
    written = _nullable(schema, f"{indent}   ")
    return f"{written} // {' '.join(comments)}" if comments else written


def _nullable(schema: JSON, indent: str) -> str:
    written = type_of(schema, indent)
    return f"{written} | null" if _get(schema, "nullable") is True and "null" not in written else written


def _default(schema: JSON, *, quoted: bool = False) -> str:
    """A default; that of an enumeration is bare, unless it is to be `quoted` there as JSON."""
    value = _get(schema, "default")
    choices = _get(schema, "enum")
    if isinstance(value, str) and not (isinstance(choices, list | tuple) and choices):
        return f'default: "{value}"'
    return f"default: {value}" if isinstance(value, str) and not quoted else f"default: {_compact(value)}"


def _compact(value: JSON) -> str:
    match value:
        case float():
            return _number(value)
        case bool() | None | str():
            return tojson(value)
        case int():
            return str(value) if -(2**63) <= value < 2**64 else _number(float(value))
        case Mapping():
            return f"{{{','.join([f'{tojson(key)}:{_compact(one)}' for key, one in value.items()])}}}"
    return f"[{','.join(map(_compact, value))}]"


def _number(value: float) -> str:
    """The shortest decimal of a number, in plain notation up to sixteen digits, as serde_json writes it."""
    if not math.isfinite(value):
        return "null"
    _, places, exponent = Decimal(repr(value)).as_tuple()
    point = len(places) + int(exponent)  # where the point is, counted from the first digit
    digits = "".join(map(str, places)).rstrip("0") or "0"
    sign = "-" if math.copysign(1, value) < 0 else ""
    if 0 < point <= 16:
        return f"{sign}{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    if -5 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    return f"{sign}{digits[0]}{f'.{digits[1:]}' if digits[1:] else ''}e{point - 1}"


def _get(schema: JSON, key: str) -> JSON:
    return schema.get(key) if isinstance(schema, Mapping) else None


def _has(schema: JSON, key: str) -> bool:
    return isinstance(schema, Mapping) and key in schema


def _texts(values: JSON) -> list[str]:
    return [value for value in values if isinstance(value, str)] if isinstance(values, list | tuple) else []
