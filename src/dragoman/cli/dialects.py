"""``dragoman dialects``: which there are, and what one of them looks like."""

from __future__ import annotations

import argparse
import sys

import msgspec
from rich.console import Console

from ..dialect import Dialect
from ..grammar.show import ebnf
from ..registry import dialects
from .inputs import dialect_named
from .output import Ink, open_console, table

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman dialects               all of them, a line each
  dragoman dialects harmony       one of them: marks, grammar, examples
"""


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "dialects",
        help="list the dialects, or describe one",
        description="List the dialects, or describe one: its layout, models, grammar and examples.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", nargs="?", metavar="NAME", help="a dialect, or a file that defines one")
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    chosen = (dialect_named(args.name),) if args.name else dialects()
    if args.json:
        facts = [_facts(dialect) for dialect in chosen]
        sys.stdout.write(msgspec.json.encode(facts[0] if args.name else facts).decode() + "\n")
    elif args.name:
        _describe(open_console(), chosen[0])
    else:
        rows = [(dialect.name, dialect.title, ", ".join(dialect.models)) for dialect in chosen]
        table(open_console(), ("name", "what it is", "models"), rows)
    return 0


def _facts(dialect: Dialect) -> dict[str, object]:
    return {
        "name": dialect.name,
        "title": dialect.title,
        "models": dialect.models,
        "aliases": dialect.aliases,
        "starts": dialect.starts,
        "stops": dialect.stops,
        "hold_bound": dialect.hold_bound,
        "source": dialect.source,
    }


def _describe(console: Console, dialect: Dialect) -> None:
    ink = Ink(console)
    ink.line(f"{dialect.name}: {dialect.title}", "bold")
    ink.line("")
    for field, value in _facts(dialect).items():
        if field not in ("name", "title"):
            shown = ", ".join(value) if isinstance(value, tuple) else str(value)
            ink.write(f"{field.replace('_', ' '):<12}", "dim")
            ink.write(f"{shown or '-'}\n")
    ink.line("")
    ink.line("grammar", "bold")
    ink.line(ebnf(dialect.grammar), "cyan")
    for example in dialect.examples:
        ink.line("")
        ink.line(f"example: {example.title}", "bold")
        for line in example.text.split("\n"):
            ink.line(f"    {line}".rstrip())
