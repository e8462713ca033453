"""Values that a JSON Schema allows and that look as if somebody had meant them: what replayed calls are made with.

Not a validator: what comes out is held against the grammar that constrains real models, and where a schema asks for
more than is known here (a pattern, say), that grammar writes the value itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps, loads
from math import ceil
from random import Random

from ...constrain import ToolChoice, constrain
from ...emit.generate import generate
from ...emit.matcher import Matcher
from ...emit.rules import Rules
from ...registry import get_dialect
from ...types import JSON, Tool

__all__ = ["arguments_for", "satisfies", "value_for"]

DEEPEST = 12
"""Schemas within schemas that are followed; deeper ones are recursive."""

SIZE = 400
"""Characters after which a grammar brings a value to its end."""

FORMATS = {
    "date": "2026-11-21",
    "date-time": "2026-11-21T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "P1D",
    "email": "ada@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.7",
    "ipv6": "2001:db8::7",
    "uri": "https://example.org/",
    "url": "https://example.org/",
    "uuid": "6f1c2a52-8d2e-4c0a-9d57-3f1f0b6f7a10",
}
NAMED = (
    (("city", "location", "place", "town"), ("Paris", "Oslo", "Kyoto")),
    (("country",), ("France", "Norway", "Japan")),
    (("query", "search", "question", "topic"), ("the tallest bridge", "weather in spring", "open models")),
    (("path", "file"), ("notes.txt", "README.md", "src/main.py")),
    (("url", "link"), ("https://example.org/", "https://example.org/news", "https://example.org/help")),
    (("mail", "recipient"), ("ada@example.org", "grace@example.org", "alan@example.org")),
    (("date", "day"), ("2026-11-21", "2026-11-22", "2026-11-23")),
    (("command",), ("ls", "date", "uname -a")),
    (("code", "expression"), ("1 + 1", "2 * 21", "sum(range(10))")),
    (("name",), ("Ada", "Grace", "Alan")),
)
"""What is said for names that have one of these words in them."""


def arguments_for(tool: Tool, seed: int = 0) -> str:
    """Arguments of a call as JSON; the same for the same seed. Raises `InvalidTool` for a schema that can't be read."""
    schema: JSON = tool.parameters or {"type": "object"}
    text = dumps(value_for(schema, seed), ensure_ascii=False)
    rules = _rules(tool)
    return text if Matcher(rules).matches(text) else generate(rules, Random(seed).randrange, size=SIZE)


def satisfies(tool: Tool, arguments: str) -> bool:
    """Whether these arguments are what the tool's schema asks for. Raises `InvalidTool` as above."""
    return Matcher(_rules(tool)).matches(dumps(loads(arguments), ensure_ascii=False))


def value_for(schema: JSON, seed: int = 0) -> JSON:
    """A value that this schema asks for, as far as that can be told from types, bounds and names."""
    return _Values(schema, seed).value(schema, "", 0)


def _rules(tool: Tool) -> Rules:
    choice = ToolChoice("required", (tool.name,))
    return constrain(get_dialect("guided_json"), [tool], tool_choice=choice, scope="arguments").rules


class _Values:
    """Values within one schema, whose references lead into it."""

    def __init__(self, root: JSON, seed: int) -> None:
        self.root, self.seed = root, seed

    def value(self, schema: JSON, name: str, depth: int) -> JSON:
        if not isinstance(schema, Mapping) or depth > DEEPEST:
            return None
        match schema:
            case {"$ref": str(where)}:
                return self.value(self.found(where), name, depth + 1)
            case {"const": value}:
                return value
            case {"enum": [*values]} if values:
                return values[self.seed % len(values)]
            case {"examples": [example, *_]}:
                return example
            case {"anyOf": [*several]} | {"oneOf": [*several]} if several:
                return self.value(
                    {**_without(schema, "anyOf", "oneOf"), **_mapping(_likeliest(several))}, name, depth + 1
                )
            case {"allOf": [*several]}:
                return self.value(_joined(_without(schema, "allOf"), several), name, depth + 1)
        return self.typed(schema, name, depth)

    def typed(self, schema: Mapping[str, JSON], name: str, depth: int) -> JSON:
        match _type(schema):
            case "string":
                return self.string(schema, name)
            case "integer":
                return int(_number(schema, 3 + self.seed % 5, 1))
            case "number":
                return _number(schema, 1.5 + self.seed % 5, 0.5)
            case "boolean":
                return self.seed % 2 == 0
            case "array":
                return self.array(schema, name, depth)
            case "object":
                return self.object(schema, depth)
        return None

    def string(self, schema: Mapping[str, JSON], name: str) -> str:
        words = next((words for parts, words in NAMED if any(part in name.lower() for part in parts)), None)
        text = FORMATS.get(str(schema.get("format")), "")
        text = text or (words[self.seed % len(words)] if words else name.replace("_", " ") or "example")
        text += "." * (_count(schema.get("minLength"), 0) - len(text))
        return text[: _count(schema.get("maxLength"), len(text))]

    def array(self, schema: Mapping[str, JSON], name: str, depth: int) -> JSON:
        first = schema.get("prefixItems")
        items = [self.value(item, name, depth + 1) for item in first] if isinstance(first, list) else []
        wanted = max(1, _count(schema.get("minItems"), 1))
        wanted = min(wanted, _count(schema.get("maxItems"), wanted))
        rest = schema.get("items", {"type": "string"})
        while len(items) < wanted:
            other = _Values(self.root, self.seed + len(items))
            items.append(other.value(rest if isinstance(rest, Mapping) else {}, name.removesuffix("s"), depth + 1))
        return items

    def object(self, schema: Mapping[str, JSON], depth: int) -> JSON:
        """With what is required; where nothing is, with all."""
        properties = _mapping(schema.get("properties"))
        required = schema.get("required")
        names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
        wanted = names or (list(properties) if depth == 0 else [])
        return {name: self.value(properties.get(name, {"type": "string"}), name, depth + 1) for name in wanted}

    def found(self, where: str) -> JSON:
        """What a reference leads to, within the schema."""
        value = self.root
        for part in where.removeprefix("#").split("/")[1:]:
            part = part.replace("~1", "/").replace("~0", "~")
            value = value.get(part) if isinstance(value, Mapping) else None
        return value


def _mapping(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, Mapping) else {}


def _without(schema: Mapping[str, JSON], *names: str) -> dict[str, JSON]:
    return {name: value for name, value in schema.items() if name not in names}


def _likeliest(several: list[JSON]) -> JSON:
    """The first that is not null."""
    return next((one for one in several if _mapping(one).get("type") != "null"), several[0])


def _joined(schema: dict[str, JSON], several: list[JSON]) -> dict[str, JSON]:
    for one in map(_mapping, several):
        properties = {**_mapping(schema.get("properties")), **_mapping(one.get("properties"))}
        required = [name for part in (schema, one) for name in _listed(part.get("required"))]
        schema = {**schema, **one}
        if properties:
            schema |= {"properties": properties, "required": required}
    return schema


def _listed(value: JSON) -> list[JSON]:
    return list(value) if isinstance(value, list) else []


def _type(schema: Mapping[str, JSON]) -> JSON:
    named = schema.get("type")
    if isinstance(named, list):
        return next((one for one in named if one != "null"), "null")
    if named is None and "properties" in schema:
        return "object"
    return "string" if named is None else named


def _count(value: JSON, otherwise: int) -> int:
    return value if isinstance(value, int) else otherwise


def _number(schema: Mapping[str, JSON], usual: float, step: float) -> float:
    """The usual one, or what is nearest to it within the bounds."""
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    value = usual
    if isinstance(high, int | float):
        value = min(value, high)
    if isinstance(below, int | float) and not value < below:
        value = below - step
    if isinstance(low, int | float):
        value = max(value, low)
    if isinstance(above, int | float) and not value > above:
        value = above + step
    by = schema.get("multipleOf")
    return ceil(value / by) * by if isinstance(by, int | float) and by > 0 else value
