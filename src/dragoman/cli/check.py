"""``dragoman check``: does a dialect keep its promises? For the built-in ones, and for a user's own file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..dialect import Dialect
from ..errors import DragomanError
from ..registry import dialects
from ..testing import Report, check_dialect
from .inputs import dialect_named, positive
from .output import Ink, open_console, table

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman check my_dialect.py             a dialect of your own
  dragoman check harmony --examples 1000   a built-in one, more thoroughly

exit codes: 0 all promises kept, 1 one is broken, 2 a mistake in the call of this command
"""


class Nothing(DragomanError):
    """Neither a name nor --all, or both."""

    def __str__(self) -> str:
        return "check what? Give a file, a name, or --all"


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check",
        help="check that a dialect keeps its promises",
        description="Check that a dialect keeps its promises: total, lossless, chunk-invariant, two-way, and so on.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="FILE|NAME", help="a file that defines a dialect, or a name")
    parser.add_argument("--all", action="store_true", help="every built-in dialect")
    parser.add_argument("--examples", type=positive, default=100, metavar="N", help="cases for each promise (100)")
    parser.add_argument("--json", action="store_true", help="the reports as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if args.all == bool(args.names):
        raise Nothing
    chosen = dialects() if args.all else tuple(dialect_named(name) for name in args.names)
    reports = _reports(chosen, args.examples)
    if args.json:
        sys.stdout.write(msgspec.json.encode(reports).decode() + "\n")
    else:
        _show(open_console(), reports)
    return 0 if all(report.ok for report in reports) else 1


def _reports(chosen: Sequence[Dialect], examples: int) -> list[Report]:
    """Check the dialects one by one; a terminal on the standard error sees how far it is."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = open_console(sys.stderr)
    reports = []
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        for dialect in chosen:
            task = progress.add_task(dialect.name, total=1.0)
            report = check_dialect(
                dialect, max_examples=examples, progress=partial(_advance, progress=progress, task=task)
            )
            reports.append(report)
    return reports


def _advance(share: float, *, progress: Progress, task: TaskID) -> None:
    progress.update(task, completed=share)


def _show(console: Console, reports: Sequence[Report]) -> None:
    rows = [
        (report.dialect, result.name, _colored(result.status), str(result.cases))
        for report in reports
        for result in report.results
    ]
    table(console, ("dialect", "promise", "status", "inputs"), rows)
    ink = Ink(console)
    for report in reports:
        for result in report.results:
            if result.status != "passed":
                ink.line("")
                ink.line(f"{report.dialect}: {result.name}", "bold red")
                ink.line(result.detail)


def _colored(status: str) -> Text:
    return Text(status, style="green" if status == "passed" else "bold red")
