"""The page of a dialect: its layout in colours, what becomes of it, facts, recoveries, grammar."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from dragoman import Dialect, Example, Message, TextPart, ThinkingPart, ToolCall
from dragoman.cli.sheet import (
    Fact,
    Paragraph,
    Recovery,
    facts,
    paragraphs,
    recoveries,
    signature,
    suite_beside,
)
from dragoman.cli.spans import Span, example_spans
from dragoman.grammar.rules import grammar_text

from .markdown import code, columns, fenced, filled, listed, prose, rows

NOTATION = filled(
    "In [this notation](../grammar.md#the-notation); `_` is layout, up to 64 characters of whitespace. What is used "
    "more than once stands in a rule of its own."
)


def page(dialect: Dialect) -> str:
    """The page of one dialect."""
    suite = suite_beside(dialect)
    whole = [
        f"<!-- Written by `make docs` from src/dragoman/dialects/{dialect.name}.py: change that. -->",
        f"# {dialect.name}",
        filled(prose(f"{dialect.title}.")),
        f"![The layout, each part in its colour]({dialect.name}.svg)",
        *layout(dialect, dialect.examples[0]),
        *map(words, paragraphs(dialect)),
        table_of(facts(dialect)),
        *(told(recoveries(suite)) if suite is not None else ()),
        *(text for example in dialect.examples[1:] for text in further(dialect, example)),
        "## Grammar",
        NOTATION,
        fenced(grammar_text(dialect.grammar)),
    ]
    return "\n\n".join(whole) + "\n"


def words(paragraph: Paragraph) -> str:
    return fenced(paragraph.text) if paragraph.literal else filled(prose(paragraph.text))


def table_of(known: Sequence[Fact]) -> str:
    return rows(("", ""), [(fact.title, listed(fact.names) or prose(fact.words)) for fact in known])


def layout(dialect: Dialect, example: Example) -> Iterator[str]:
    """The first example: its text to copy, what it is read as, what became of which characters."""
    yield fenced(example.text)
    tools = ", ".join(code(signature(tool)) for tool in example.tools)
    yield f"With the tools {tools} it is read as" if tools else "It is read as"
    yield parts(example.message)
    yield "Which characters became what:"
    yield spans(example.text, example_spans(dialect, example))


def further(dialect: Dialect, example: Example) -> Iterator[str]:
    yield f"## Example: {example.title}"
    if example.start != dialect.starts[0]:
        yield f'The prompt has begun it: `start="{example.start}"`.'
    yield fenced(example.text)
    yield "is read as"
    yield parts(example.message)


def spans(text: str, found: Sequence[Span]) -> str:
    """Which characters of a text became what."""
    return fenced(
        columns([(f"{span.start}-{span.end}", span.look.word, visible(text[span.start : span.end])) for span in found])
    )


def parts(message: Message) -> str:
    """The parts of a message, one a line."""
    lines: list[tuple[str, ...]] = []
    for part in message.parts:
        match part:
            case TextPart(text=text, channel=channel):
                lines.append((f"text on {channel}" if channel else "text", visible(text)))
            case ThinkingPart(text=text):
                lines.append(("thought", visible(text)))
            case ToolCall(name=name, arguments=arguments, id=None):
                lines.append(("call", f"{name} {arguments}"))
            case ToolCall(name=name, arguments=arguments, id=known):
                lines.append(("call", f"{name} {arguments}, id {known}"))
            case _:
                lines.append(("unread", visible(part.raw)))
    return fenced(columns(lines))


def told(cases: Sequence[Recovery]) -> Iterator[str]:
    """The table of what becomes of other outputs."""
    if cases:
        yield "## What else is read"
        yield filled(
            "Outputs that are cut off, broken, or in another layout, from the [conformance suite]"
            "(../add-a-dialect.md#write-its-cases). `↵` is a line feed, ` … ` stands for characters left out; what is "
            "wrong is said in italics."
        )
        yield rows(("case", "written", "becomes"), map(line, cases))


def line(case: Recovery) -> tuple[str, ...]:
    problems = [f"*{', '.join(case.problems)}*"] if case.problems else []
    return prose(case.heading), code(case.written), "<br>".join([*map(code, case.becomes), *problems])


def visible(text: str) -> str:
    """A text on one line, as JSON writes it."""
    return msgspec.json.encode(text).decode()
