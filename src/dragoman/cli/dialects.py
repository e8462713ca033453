"""``dragoman dialects``: which there are, and what one of them looks like.

The generated pages under `docs/dialects` say the same; what both say is in `sheet`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill

import msgspec
from rich.console import Console
from rich.text import Text

from ..conformance.notation import write_part
from ..dialect import Dialect, Example
from ..grammar.rules import grammar_text
from ..registry import dialects
from .inputs import dialect_named
from .output import Ink, open_console, table
from .sheet import Recovery, by_kind, facts, matching, on_line, paragraphs, recoveries, signature, suite_beside
from .spans import draw, example_spans, legend, span_table

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman dialects               all of them, by what their calls look like
  dragoman dialects qwen          those with qwen in a name or a model
  dragoman dialects harmony       one of them: layout, models, recoveries, grammar
"""

_MODELS = 3
"""Models that a list in a terminal shows of each dialect."""

_WIDTH = 110
"""Characters of a line of prose."""

_PART = 160
"""Characters that are shown of a part."""

_INDENT = "    "


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "dialects",
        help="list the dialects, or describe one",
        description="List the dialects, or describe one: its layout, models, recoveries and grammar.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a dialect, a file that defines one, or a part of names and models"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    found = dialects() if args.name is None else _chosen(args.name)
    if args.name is None or len(found) > 1:
        if args.json:
            _write_json([_facts(dialect) for dialect in found])
        else:
            _list(open_console(), found)
        return 0
    (dialect,) = found
    suite = suite_beside(dialect, Path(args.name) if args.name.endswith(".py") else None)
    cases = recoveries(suite) if suite is not None else []
    if args.json:
        _write_json(_whole(dialect, cases))
    else:
        _describe(open_console(), dialect, cases)
    return 0


def _chosen(name: str) -> tuple[Dialect, ...]:
    """The one dialect that is so named, else those that match; raises `UnknownDialect` if there are none."""
    known = dialects()
    found = [] if any(name == dialect.name for dialect in known) else matching(name, known)
    return tuple(found) if found else (dialect_named(name),)


def _write_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")


def _facts(dialect: Dialect) -> dict[str, object]:
    return {
        "name": dialect.name,
        "title": dialect.title,
        "kind": dialect.kind,
        "models": dialect.models,
        "aliases": dialect.aliases,
        "shared": dialect.shared,
        "tokens": dialect.tokens,
        "signatures": dialect.signatures,
        "lacks": dialect.lacks,
        "starts": dialect.starts,
        "turns": dialect.turns,
        "stops": dialect.stops,
        "own_ids": dialect.native_id is not None,
        "source": dialect.source,
    }


def _whole(dialect: Dialect, cases: Sequence[Recovery]) -> dict[str, object]:
    examples = [
        {"title": example.title, "start": example.start, "text": example.text, "spans": example_spans(dialect, example)}
        for example in dialect.examples
    ]
    return _facts(dialect) | {
        "hold_bound": dialect.hold_bound,
        "doc": dialect.doc,
        "examples": examples,
        "recoveries": cases,
        "grammar": grammar_text(dialect.grammar),
    }


def _list(console: Console, found: Sequence[Dialect]) -> None:
    """The dialects by kind: below headings in a terminal, else one a line."""
    if not console.is_terminal:
        rows = [
            (each.name, kind, each.title, ", ".join((*each.aliases, *each.shared)), ", ".join(each.models))
            for kind, group in by_kind(found).items()
            for each in group
        ]
        table(console, ("name", "calls are", "what it is", "other names", "models"), rows)
        return
    lines: list[tuple[str | Text, ...]] = []
    for kind, group in by_kind(found).items():
        lines.append(("", Text(f"{kind[:1].upper()}{kind[1:]}", style="bold underline"), ""))
        lines += [(each.name, each.title, _models(each)) for each in group]
    table(console, ("name", "what it is", "models"), lines)


def _models(dialect: Dialect) -> Text:
    shown = ", ".join(dialect.models[:_MODELS])
    return Text(f"{shown}, …" if len(dialect.models) > _MODELS else shown, style="dim")


def _describe(console: Console, dialect: Dialect, cases: Sequence[Recovery]) -> None:
    ink = Ink(console)
    ink.line(f"{dialect.name}: {dialect.title}", "bold")
    for k, example in enumerate(dialect.examples):
        _show_example(console, ink, dialect, example, "layout" if k == 0 else f"example: {example.title}")
    for paragraph in paragraphs(dialect):
        ink.line("")
        for line in paragraph.text.split("\n") if paragraph.literal else [_filled(console, paragraph.text)]:
            ink.line(f"{_INDENT}{line}".rstrip() if paragraph.literal else line)
    _heading(ink, "facts")
    for fact in facts(dialect):
        ink.write(f"{fact.title:<25}", "dim")
        ink.write(f"{_plain(fact.words) or ', '.join(fact.names)}\n")
    if cases:
        _heading(ink, "what else is read")
        for case in cases:
            _show_case(ink, case)
    _heading(ink, "grammar")
    ink.line(grammar_text(dialect.grammar))


def _heading(ink: Ink, text: str) -> None:
    ink.line("")
    ink.line(text, "bold")


def _plain(text: str) -> str:
    """Text of a docstring without its marks of code."""
    return text.replace("``", "")


def _filled(console: Console, text: str) -> str:
    """A paragraph in lines that fit a terminal; piped, in lines of a page."""
    width = min(console.width, _WIDTH) if console.is_terminal else _WIDTH
    return fill(_plain(text), width, break_long_words=False, break_on_hyphens=False)


def _show_example(console: Console, ink: Ink, dialect: Dialect, example: Example, title: str) -> None:
    """The output itself in colours, or with a table of its spans when piped; and what it is read as."""
    found = example_spans(dialect, example)
    _heading(ink, title)
    if example.start != dialect.starts[0]:
        ink.line(f"(start: {example.start})", "dim")
    if ink.styled:
        legend(ink, found)
    draw(ink, example.text, found, _INDENT)
    ink.line("")
    for tool in example.tools:
        ink.line(f"{_INDENT}tool: {signature(tool)}", "dim")
    for part in example.message.parts:
        ink.line(f"{_INDENT}{on_line(write_part(part), _PART)}", "dim")
    if not ink.styled:
        ink.line("")
        span_table(console, example.text, found)


def _show_case(ink: Ink, case: Recovery) -> None:
    ink.line(case.heading)
    ink.line(f"{_INDENT}{case.written}", "dim")
    for line in case.becomes:
        ink.line(f"{_INDENT}= {line}", "green")
    if case.problems:
        ink.line(f"{_INDENT}! {', '.join(case.problems)}", "yellow")
