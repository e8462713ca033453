"""What is emitted for tools, dialect by dialect: the one place from which the benchmark of constraints has it.

The rules are written by hand, in the forms that the dialects' own constraints have: calls in free text, arguments in
the order of the schema, as JSON or as marked values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from dragoman import Tool
from dragoman.emit.book import Book
from dragoman.emit.rules import EMPTY, Expr, Repeat, Rules, Scan, Text, chars, choice, sequence
from dragoman.types import JSON

__all__ = ["EMITTED", "Emission", "emission"]

Schema = Mapping[str, JSON]


class Emission(Struct, frozen=True):
    """A dialect: what xgrammar calls its own tag for it, and how its rules are written."""

    name: str
    builtin: str
    write: Callable[[Book, Tool], Expr]
    opener: str
    closer: str


def emission(given: Emission, tools: Sequence[Tool]) -> Rules:
    """The constraint for these tools."""
    book = Book()
    prose = book.name("prose")
    calls = [book.rule(tool.name, given.write(book, tool)) for tool in tools]
    then = sequence(choice(*calls), given.closer, book.define(prose, EMPTY))
    return book.close(book.define(prose, Scan(((given.opener, then),), open=True)))


def _json_call(book: Book, tool: Tool) -> Expr:
    return sequence(f'\n{{"name": "{tool.name}", "arguments": ', _json(book, tool.parameters or {}), "}\n")


def _named_call(book: Book, tool: Tool) -> Expr:
    return sequence(tool.name, "<｜tool▁sep｜>", _json(book, tool.parameters or {}))


def _marked_call(book: Book, tool: Tool) -> Expr:
    schema = tool.parameters or {}
    properties, required = schema.get("properties"), schema.get("required")
    assert isinstance(properties, Mapping)
    assert isinstance(required, list)
    parts: list[Expr | str] = [f"\n<function={tool.name}>\n"]
    for name, inner in properties.items():
        member = sequence(f"<parameter={name}>\n", _marked(book, inner), "\n")
        parts.append(member if name in required else Repeat(member, 0, 1))
    return sequence(*parts, "</function>\n")


def _marked(book: Book, schema: JSON) -> Expr:
    closer = "\n</parameter>"
    if isinstance(schema, Mapping) and schema.get("type") == "string":
        return book.rule("raw", Scan(((closer, EMPTY),)))
    return sequence(_json(book, schema), closer)


def _json(book: Book, schema: JSON) -> Expr:
    """A JSON value in one layout, by the keywords that the tools have."""
    assert isinstance(schema, Mapping)
    match schema:
        case {"enum": [*values]}:
            return choice(*(f'"{value}"' for value in values))
        case {"type": "object", "properties": properties}:
            assert isinstance(properties, Mapping)
            return book.rule("object", _object(book, properties, schema.get("required")))
        case {"type": "array", "items": items}:
            item = _json(book, items)
            return book.rule("array", sequence("[", Repeat(sequence(item, Repeat(sequence(", ", item))), 0, 1), "]"))
        case {"type": "string"}:
            return _string(book)
        case {"type": "boolean"}:
            return choice("true", "false")
        case {"type": "integer"}:
            return sequence(Repeat(Text("-"), 0, 1), Repeat(chars("0-9"), 1))
        case _:
            return choice(_string(book), "null", sequence(Repeat(chars("0-9"), 1), ".", Repeat(chars("0-9"), 1)))


def _string(book: Book) -> Expr:
    escape = sequence("\\", chars('"\\/bfnrt'))
    return book.rule("string", sequence('"', Repeat(choice(chars('"\\\x00-\x1f', negated=True), escape)), '"'))


def _object(book: Book, properties: Schema, required: JSON) -> Expr:
    """Members in the order of the schema; the first of them is required, or none is."""
    names = required if isinstance(required, list) else []
    members = [(sequence(f'"{name}": ', _json(book, inner)), name in names) for name, inner in properties.items()]
    (first, needed), *others = members
    rest = [sequence(", ", item) if must else Repeat(sequence(", ", item), 0, 1) for item, must in others]
    whole = sequence(first, *rest)
    return sequence("{", whole if needed else Repeat(whole, 0, 1), "}")


EMITTED = (
    Emission("hermes", "qwen_3", _json_call, "<tool_call>", "</tool_call>"),
    Emission("qwen3_coder", "qwen_3_coder", _marked_call, "<tool_call>", "</tool_call>"),
    Emission("deepseek_v3_1", "deepseek_v3_1", _named_call, "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
)
