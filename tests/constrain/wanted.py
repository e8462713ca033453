"""Tools, calls that satisfy them, and messages made of such calls: what a constraint has to let through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from json import dumps, loads
from typing import Any

from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from dragoman.constrain.layout import CALL, layout_of, native_call
from dragoman.dialect import Dialect
from dragoman.events import CallEnd, Event, Problem
from dragoman.parse.assemble import assemble
from dragoman.parse.parser import Parser
from dragoman.types import Message, Part, TextPart, ThinkingPart, Tool

WEATHER = Tool(
    "get_weather",
    "",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 14}},
        "required": ["city"],
    },
)
SEARCH = Tool(
    "search",
    "",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1},
            "unit": {"type": "string", "enum": ["metric", "imperial"]},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
            "deep": {"type": "boolean"},
            "score": {"type": "number"},
        },
        "required": ["query", "unit"],
    },
)
NESTED = Tool(
    "place-order",
    "",
    {
        "type": "object",
        "properties": {
            "item": {
                "type": "object",
                "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}},
                "required": ["sku", "count"],
            },
            "note": {"type": ["string", "null"]},
        },
        "required": ["item"],
    },
)
PING = Tool("ping", "", {"type": "object", "properties": {}})
TWIN = Tool("place_order", "", {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]})

TOOLS = (WEATHER, SEARCH, NESTED, PING, TWIN)
"""Two of the names look alike once what grammars can't have in names is taken out."""

TEXTS = (
    "Let me look.",
    "naïve 日本 🙂",
    "a < b, x > y",
    "it's <b>bold</b>",
    'say "hi" and {"a": 1}',
    "1.5 | 2",
    "two\nlines\n\nand more",
    "use `x` here",
    "```py\nprint(1)\n```\nso",
)

words = st.sampled_from(("Paris", "São Paulo", "a < b", "x\ny", 'q"uote', "it's", "日本", "1.5", "{}", "back\\slash"))

_arguments: Mapping[str, st.SearchStrategy[dict[str, Any]]] = {
    "get_weather": st.fixed_dictionaries({"city": words}, optional={"days": st.integers(1, 14)}),
    "search": st.fixed_dictionaries(
        {"query": words, "unit": st.sampled_from(("metric", "imperial"))},
        optional={
            "tags": st.lists(words, min_size=1, max_size=3),
            "deep": st.booleans(),
            "score": st.sampled_from((0.5, -2, 1e-07, 12.25)),
        },
    ),
    "place-order": st.fixed_dictionaries(
        {"item": st.fixed_dictionaries({"sku": words, "count": st.integers(-3, 300)})}, optional={"note": words}
    ),
    "ping": st.just({}),
    "place_order": st.fixed_dictionaries({"id": st.integers()}),
}


def tools_of(dialect: Dialect) -> tuple[Tool, ...]:
    """The tools, where the dialect has calls and can name them."""
    if CALL not in layout_of(dialect).kinds:
        return ()
    if "Python calls" in dialect.kind:
        return (WEATHER, SEARCH, PING, TWIN)
    return TOOLS


@st.composite
def messages(draw: st.DrawFn, dialect: Dialect) -> Message:
    """A message of thoughts, texts and calls of the tools; the dialect may not be able to say it."""
    tools = tools_of(dialect)
    parts: list[Part] = []
    kinds = ("text", "thought", "call", "call") if tools else ("text", "thought")
    for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4)):
        if kind == "call":
            tool = draw(st.sampled_from(tools))
            given = draw(_arguments[tool.name])
            keys = draw(st.permutations(list(given)))
            ascii_only, indent = draw(st.booleans()), draw(st.sampled_from((None, None, 2)))
            arguments = dumps({key: given[key] for key in keys}, ensure_ascii=ascii_only, indent=indent)
            parts.append(native_call(dialect, tool.name, arguments, _calls(parts)))
        else:
            part = TextPart if kind == "text" else ThinkingPart
            parts.append(part(draw(st.sampled_from(TEXTS))))
    return Message("assistant", tuple(parts))


def _calls(parts: Sequence[Part]) -> int:
    return sum(not isinstance(part, TextPart | ThinkingPart) for part in parts)


def read(dialect: Dialect, text: str, tools: Sequence[Tool], start: str = "content") -> tuple[list[Event], Message]:
    """What the parser makes of an output that the model ended."""
    parser = Parser(dialect, tools, start=start)
    events = [*parser.feed(text), *parser.finish("stop")]
    return events, assemble(events)


def malformed(events: Sequence[Event]) -> list[object]:
    """What does not follow the dialect's grammar."""
    found: list[object] = [event for event in events if isinstance(event, Problem)]
    return found + [event for event in events if isinstance(event, CallEnd) and event.status != "complete"]


def problems(events: Sequence[Event]) -> list[object]:
    """All that the parser reports, calls' own problems included."""
    return [*malformed(events), *(one for event in events if isinstance(event, CallEnd) for one in event.problems)]


def wrong(message: Message, tools: Sequence[Tool]) -> list[str]:
    """What of its calls does not satisfy the tools."""
    known = {tool.name: tool for tool in tools}
    found: list[str] = []
    for call in message.tool_calls:
        if call.name not in known:
            found.append(f"no tool {call.name}")
            continue
        schema = known[call.name].parameters or {"type": "object"}
        errors = Draft202012Validator(schema).iter_errors(loads(call.arguments))
        found += [f"{call.name}: {error.message}" for error in errors]
    return found
