"""JSON Schema, as far as reading a call needs it: which arguments a tool has, and of which JSON types.

Read are ``type`` (one or several), ``properties``, ``required``, ``additionalProperties``, ``enum``, ``const``,
``nullable`` (OpenAPI), ``anyOf``, ``oneOf``, ``allOf`` and ``$ref`` into the same document. What only narrows values
(bounds, patterns, formats) is left to whoever executes the call.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct, json

from ..errors import InvalidTool
from ..types import JSON, Tool

__all__ = [
    "ANYWHERE",
    "KINDS",
    "NO_TOOLS",
    "Shape",
    "ToolShape",
    "Toolbox",
    "allowed",
    "kinds_of",
    "resolve",
    "shape_of",
]

KINDS = frozenset(["string", "integer", "number", "boolean", "null", "object", "array"])
REF_DEPTH = 64
"""Nested references and combinations that are followed; deeper ones count as any type."""


SHAPES_LIMIT = 1 << 12
"""Places that are remembered for one tool; more are described anew each time."""


class Shape:
    """What a schema says of one place in a call's arguments, and of those inside it, which it describes when asked.

    `kinds` are the JSON types there, ``None`` for any. Where several schemas speak of it, it has the types of each.
    What can't be read says nothing, since it is a model's output that leads here. Equal if the schemas are.
    """

    __slots__ = ("_known", "_parts", "_root", "_schemas", "kinds")

    def __init__(
        self, root: Mapping[str, JSON], schemas: tuple[object, ...], known: dict[tuple[int, ...], Shape]
    ) -> None:
        self._root, self._known = root, known
        self._schemas = schemas  # known by identity, so they have to stay
        reader = _Reader("", root)
        self._parts = reader.all_parts(schemas)
        told = [kinds for schema in schemas if (kinds := reader.readable_kinds(schema)) is not None]
        self.kinds: frozenset[str] | None = frozenset[str]().union(*told) if told else None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and (self._root, self._schemas) == (other._root, other._schemas)

    __hash__ = None  # type: ignore[assignment]

    def member(self, name: str) -> Shape:
        """The place of an object's member."""
        named = [part["properties"][name] for part in self._parts if name in _mapping(part.get("properties"))]
        others = (part.get("additionalProperties") for part in self._parts)
        return self._inside(named or [schema for schema in others if isinstance(schema, Mapping)])

    def item(self, index: int) -> Shape:
        """The place of an array's item."""
        found: list[object] = []
        for part in self._parts:
            first, rest = part.get("prefixItems"), part.get("items")
            if isinstance(rest, (list, tuple)):  # as it was written before 2020
                first, rest = rest, part.get("additionalItems")
            if isinstance(first, (list, tuple)) and index < len(first):
                found.append(first[index])
            elif isinstance(rest, Mapping):
                found.append(rest)
        return self._inside(found)

    def _inside(self, schemas: list[object]) -> Shape:
        if not schemas:
            return ANYWHERE
        key = tuple(map(id, schemas))
        shape = self._known.get(key)
        if shape is None:
            shape = Shape(self._root, tuple(schemas), self._known)
            if len(self._known) < SHAPES_LIMIT:
                self._known[key] = shape
        return shape


class ToolShape(Struct, frozen=True):
    """A tool's arguments: JSON types by name (``None``: any), which are required, and whether others may come.

    `inside` says the same of every place in them.
    """

    name: str
    arguments: Mapping[str, frozenset[str] | None]
    required: frozenset[str]
    open: bool
    inside: Shape


class Toolbox(Struct, frozen=True):
    """The shapes of the tools of a request, by name; `known` is false where no tools were given at all."""

    shapes: Mapping[str, ToolShape]
    known: bool

    @classmethod
    def of(cls, tools: Iterable[Tool]) -> Toolbox:
        """Read the tools' schemas; raises `InvalidTool` for one that can't be read."""
        shapes: dict[str, ToolShape] = {}
        for tool in tools:
            if tool.name in shapes:
                raise InvalidTool("name", "a name that no other tool has", tool.name, tool=tool.name)
            shapes[tool.name] = shape_of(tool)
        return cls(shapes, True)


NO_TOOLS = Toolbox({}, False)


def shape_of(tool: Tool) -> ToolShape:
    """The shape of one tool; raises `InvalidTool` with the path to what is wrong."""
    if tool.parameters is None:
        return ToolShape(tool.name, {}, frozenset(), True, ANYWHERE)
    reader = _Reader(tool.name, tool.parameters)
    arguments: dict[str, frozenset[str] | None] = {}
    required: set[str] = set()
    is_open = True
    for where, part in reader.parts(tool.parameters, "parameters", 0):
        kind = part.get("type", "object")
        if kind != "object" and not (isinstance(kind, (list, tuple)) and "object" in kind):
            raise InvalidTool(f"{where}.type", "'object'", kind, tool=tool.name)
        properties = reader.mapping(part, "properties", where)
        for name, value in properties.items():
            arguments[name] = reader.kinds(value, f"{where}.properties.{name}", 0)
        names = part.get("required", ())
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise InvalidTool(f"{where}.required", "a list of names", names, tool=tool.name)
        required.update(str(name) for name in names)
        if part.get("additionalProperties") is False:
            is_open = False
    own = _own_copy(tool, tool.parameters)
    return ToolShape(tool.name, arguments, frozenset(required), is_open, Shape(own, (own,), {}))


def _own_copy(tool: Tool, parameters: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """What is read later must still be what it is now."""
    try:
        copy: dict[str, JSON] = json.decode(json.encode(parameters))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTool("parameters", "a value that JSON can write", str(error), tool=tool.name) from None
    return copy


def allowed(kinds: frozenset[str], kind: str) -> bool:
    """Whether a value of this type is one of these; an integer is a number."""
    return kind in kinds or (kind == "integer" and "number" in kinds)


def kinds_of(schema: Mapping[str, JSON]) -> frozenset[str] | None:
    """The JSON types that a schema allows, ``None`` where it does not say."""
    return _Reader("", schema).kinds(schema, "schema", 0)


class _Reader:
    """Reads the schemas of one document."""

    def __init__(self, tool: str, root: Mapping[str, JSON]) -> None:
        self.tool, self.root = tool, root
        # By identity: what each schema allows, any type while that is being found out (a schema may hold itself).
        self._known: dict[int, frozenset[str] | None] = {}
        self._parts: set[int] = set()

    def kinds(self, schema: object, where: str, depth: int) -> frozenset[str] | None:
        if schema is True or depth > REF_DEPTH:
            return None
        if schema is False:
            return frozenset()
        if not isinstance(schema, Mapping):
            raise InvalidTool(where, "a JSON Schema", schema, tool=self.tool)
        if id(schema) not in self._known:
            self._known[id(schema)] = None
            self._known[id(schema)] = self._kinds(schema, where, depth)
        return self._known[id(schema)]

    def _kinds(self, schema: Mapping[str, object], where: str, depth: int) -> frozenset[str] | None:
        found = self._typed(schema, where)
        if "$ref" in schema:
            found = _both(found, self.kinds(self._resolve(schema["$ref"], where), f"{where}.$ref", depth + 1))
        for word in ("anyOf", "oneOf"):
            if word in schema:
                branches = self._list(schema, word, where)
                either = [self.kinds(item, f"{where}.{word}[{k}]", depth + 1) for k, item in enumerate(branches)]
                union = None if None in either else frozenset[str]().union(*(kinds for kinds in either if kinds))
                found = _both(found, union)
        if "allOf" in schema:
            for k, item in enumerate(self._list(schema, "allOf", where)):
                found = _both(found, self.kinds(item, f"{where}.allOf[{k}]", depth + 1))
        if schema.get("nullable") is True and found is not None:
            found |= {"null"}
        return found

    def _typed(self, schema: Mapping[str, object], where: str) -> frozenset[str] | None:
        found: frozenset[str] | None = None
        if "type" in schema:
            kind = schema["type"]
            kinds = (kind,) if isinstance(kind, str) else kind
            if not isinstance(kinds, (list, tuple)) or not all(
                isinstance(item, str) and item in KINDS for item in kinds
            ):
                raise InvalidTool(f"{where}.type", "one or several JSON types", kind, tool=self.tool)
            found = frozenset(str(item) for item in kinds)
        elif "properties" in schema:
            found = frozenset(["object"])
        elif "items" in schema:
            found = frozenset(["array"])
        if "enum" in schema:
            found = _both(found, frozenset(_kind_of(item) for item in self._list(schema, "enum", where)))
        if "const" in schema:
            found = _both(found, frozenset([_kind_of(schema["const"])]))
        return found

    def parts(self, schema: Mapping[str, JSON], where: str, depth: int) -> Iterable[tuple[str, Mapping[str, JSON]]]:
        """The object schemas that together describe the arguments: through ``$ref`` and ``allOf``."""
        if depth > REF_DEPTH or id(schema) in self._parts:
            return
        self._parts.add(id(schema))
        yield where, schema
        if "$ref" in schema:
            target = self._resolve(schema["$ref"], where)
            if isinstance(target, Mapping):
                yield from self.parts(target, f"{where}.$ref", depth + 1)
        for k, item in enumerate(self._list(schema, "allOf", where) if "allOf" in schema else ()):
            if isinstance(item, Mapping):
                yield from self.parts(item, f"{where}.allOf[{k}]", depth + 1)

    def mapping(self, schema: Mapping[str, JSON], word: str, where: str) -> Mapping[str, JSON]:
        value = schema.get(word, {})
        if not isinstance(value, Mapping):
            raise InvalidTool(f"{where}.{word}", "an object", value, tool=self.tool)
        return value

    def readable_kinds(self, schema: object) -> frozenset[str] | None:
        """The types that a schema allows; any, if it can't be read."""
        try:
            return self.kinds(schema, "schema", 0)
        except InvalidTool:
            return None

    def all_parts(self, schemas: Iterable[object]) -> tuple[Mapping[str, Any], ...]:
        """The schemas that may have a say: through ``$ref``, ``allOf``, ``anyOf`` and ``oneOf``, each once."""
        found: dict[int, Mapping[str, Any]] = {}
        pending = deque(schemas)
        while pending:
            schema = pending.popleft()
            if not isinstance(schema, Mapping) or id(schema) in found:
                continue
            found[id(schema)] = schema
            if "$ref" in schema:
                with suppress(InvalidTool):
                    pending.append(self._resolve(schema["$ref"], "schema"))
            for word in ("allOf", "anyOf", "oneOf"):
                branches = schema.get(word)
                pending += branches if isinstance(branches, (list, tuple)) else ()
        return tuple(found.values())

    def _list(self, schema: Mapping[str, object], word: str, where: str) -> list[object] | tuple[object, ...]:
        value = schema[word]
        if not isinstance(value, (list, tuple)):
            raise InvalidTool(f"{where}.{word}", "a list", value, tool=self.tool)
        return value

    def _resolve(self, ref: object, where: str) -> object:
        return resolve(self.root, ref, where, self.tool)


def resolve(root: Mapping[str, JSON], ref: object, where: str, tool: str) -> JSON:
    """What a reference into a document leads to; raises `InvalidTool` if it leads nowhere."""
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        raise InvalidTool(f"{where}.$ref", "a reference into the same document ('#/...')", ref, tool=tool)
    target: JSON = root
    for step in ref[2:].split("/") if ref != "#" else ():
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping) and name in target:
            target = target[name]
        elif isinstance(target, (list, tuple)) and _index(name) < len(target):
            target = target[int(name)]
        else:
            raise InvalidTool(f"{where}.$ref", "a reference to something that is there", ref, tool=tool)
    return target


def _index(name: str) -> int:
    """A place in a list as a JSON pointer writes it; one beyond all lists for what is none."""
    return int(name) if name.isascii() and name.isdigit() and len(name) < 10 else sys.maxsize


def _both(a: frozenset[str] | None, b: frozenset[str] | None) -> frozenset[str] | None:
    """The types that both allow."""
    if a is None or b is None:
        return b if a is None else a
    both = a & b
    if "integer" in a | b and "number" in a | b:
        both |= {"integer"}
    return both


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _kind_of(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case None:
            return "null"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


ANYWHERE = Shape({}, (), {})
"""A place of which no schema speaks."""
