"""Messages made up at random, in a dialect's reach or not, and outputs with their markers moved about.

What the kit in `dragoman.testing` feeds its promises with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from random import Random

from .dialect import Dialect
from .types import JSON, Message, Part, TextPart, ThinkingPart, Tool, ToolCall

__all__ = ["made_up_message", "mutations"]

_WORDS = (
    "the",
    "answer",
    "naïve",
    "日本",
    "🙂",
    "a < b",
    "x > y",
    "{}",
    '{"a": 1}',
    "</b>",
    "<br>",
    "it's",
    "`x`",
    "it`s",
    "\n```\n",
    "\t",
    "1.5",
    "|>",
)
_ITEMS: tuple[JSON, ...] = (1, "two", None, {"k": [True]})
_SCALARS: dict[str, tuple[JSON, ...]] = {
    "integer": (0, -7, 9007199254740993, 12345678901234567890),
    "number": (0.5, -2.25, 1e-07, 1.0),
    "boolean": (True, False),
    "array": tuple(list(_ITEMS[:k]) for k in range(5)),
    "object": ({}, {"k": "v", "ö": []}, {"k": {"k": None}}),
}


def _text(random: Random, marks: Sequence[str] = ()) -> str:
    """Prose with what might be mistaken for markup: operators, tags, JSON, and beginnings of the dialect's markers."""
    pieces = list(_WORDS) + [mark[: random.randint(1, max(1, len(mark) - 1))] for mark in marks]
    words = [random.choice(pieces) for _ in range(random.randint(1, 8))]
    return random.choice(("", "\n", " ")) + random.choice((" ", "\n", "")).join(words) + random.choice(("", "\n", "."))


def made_up_message(dialect: Dialect, random: Random) -> tuple[Message, tuple[Tool, ...]]:
    """A message with parts of every kind in any order, and the tools it calls; the dialect may not express it."""
    parts: list[Part] = []
    tools: dict[str, Tool] = {}
    for _ in range(random.randint(1, 4)):
        kind = random.choice(("text", "thinking", "call", "call"))
        if kind == "call":
            call, tool = _call(dialect, random, len(tools), sum(isinstance(part, ToolCall) for part in parts))
            parts.append(call)
            tools[tool.name] = tool
        elif kind == "thinking":
            parts.append(ThinkingPart(_text(random, dialect.marks)))
        else:
            parts.append(TextPart(_text(random, dialect.marks)))
    return Message("assistant", tuple(parts)), tuple(tools.values())


def _call(dialect: Dialect, random: Random, number: int, index: int) -> tuple[ToolCall, Tool]:
    name = random.choice(("get", "get_weather", "ns-tool_", "f")) + str(number)
    kinds = random.choices(["string", *_SCALARS], k=random.randint(0, 3))
    arguments: dict[str, JSON] = {
        f"{kind[:3]}_{k}": random.choice(_SCALARS[kind]) if kind in _SCALARS else _text(random)
        for k, kind in enumerate(kinds)
    }
    properties: dict[str, JSON] = {
        key: {**_schema(value), "type": kind} for (key, value), kind in zip(arguments.items(), kinds, strict=True)
    }
    schema: dict[str, JSON] = {"type": "object", "properties": properties, "required": list(properties)}
    native = dialect.native_id(name, index) if dialect.native_id is not None else None
    return ToolCall(name, dumps(arguments, ensure_ascii=False), native), Tool(name, "", schema)


def _schema(value: JSON) -> dict[str, JSON]:
    """What a tool would declare for this value, all the way down: some dialects write types nowhere."""
    match value:
        case Mapping():
            return {"type": "object", "properties": {key: _schema(inner) for key, inner in value.items()}}
        case list():
            return {"type": "array", "items": {"anyOf": [_schema(inner) for inner in value]} if value else {}}
        case bool() | None:
            return {"type": "null" if value is None else "boolean"}
        case str():
            return {"type": "string"}
        case _:
            return {"type": "integer" if isinstance(value, int) else "number"}


def mutations(text: str, marks: Sequence[str], random: Random) -> Iterator[str]:
    """The text with a marker deleted, doubled, moved, or cut in two, and the text cut short."""
    places = [(text.find(mark), mark) for mark in marks if mark in text]
    for at, mark in places:
        without = text[:at] + text[at + len(mark) :]
        yield without
        yield text[:at] + mark + text[at:]
        to = random.randint(0, len(without))
        yield without[:to] + mark + without[to:]
        yield text[: at + len(mark) // 2] + text[at + len(mark) // 2 + 1 :]
    yield text[: random.randint(0, len(text))]
