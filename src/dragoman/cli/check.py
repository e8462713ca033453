"""``dragoman check``: does a dialect keep its promises, and read the suite's cases as they say?

For the built-in dialects, and for a user's own file; the cases of ``my_dialect.py`` are in ``my_dialect.toml``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from ..conformance import Suite, check_suite, read_suite, suite_of
from ..dialect import Dialect
from ..errors import DragomanError, InvalidSuite
from ..registry import dialects
from ..testing import Result, check_dialect
from .inputs import dialect_named, positive
from .matrix import Checked, show_lists, show_matrix
from .output import open_console

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman check my_dialect.py             a dialect of your own
  dragoman check harmony --examples 1000   a built-in one, more thoroughly
  dragoman check --all                     every built-in one against every scenario

exit codes: 0 all is as it should be, 1 something is not, 2 a mistake in the call of this command
"""

_MANY, _FEW = 100, 5
"""Cases for each promise, of one dialect and of all."""


class Nothing(DragomanError):
    """Neither a name nor --all, or both."""

    def __str__(self) -> str:
        return "check what? Give a file, a name, or --all"


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "check",
        help="check that a dialect keeps its promises",
        description="Check that a dialect keeps its promises (total, lossless, chunk-invariant, two-way, and so on), "
        "and that it reads the cases of the conformance suite as they say.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="FILE|NAME", help="a file that defines a dialect, or a name")
    parser.add_argument("--all", action="store_true", help="every built-in dialect, as a matrix")
    parser.add_argument("--examples", type=positive, metavar="N", help=f"cases for each promise ({_MANY}; all: {_FEW})")
    parser.add_argument("--json", action="store_true", help="the reports as JSON")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if args.all == bool(args.names):
        raise Nothing
    named = [(dialect, "") for dialect in dialects()] if args.all else [(dialect_named(n), n) for n in args.names]
    checked = _checked(named, args.examples or (_FEW if args.all else _MANY))
    if args.json:
        sys.stdout.write(msgspec.json.encode(checked).decode() + "\n")
    else:
        show = show_matrix if args.all else show_lists
        show(open_console(), checked)
    return 0 if all(each.ok for each in checked) else 1


def _checked(named: Sequence[tuple[Dialect, str]], examples: int) -> list[Checked]:
    """Check the dialects one by one; a terminal on the standard error sees how far it is."""
    columns = (BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    console = open_console(sys.stderr)
    checked = []
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=2 * len(named))
        for k, (dialect, name) in enumerate(named):
            progress.update(task, description=dialect.name)
            advance = partial(_advance, progress=progress, task=task, done=2 * k)
            results = check_dialect(dialect, max_examples=examples, progress=advance).results
            scenarios = _scenarios(dialect, name, partial(advance, done=2 * k + 1))
            checked.append(Checked(dialect.name, results, scenarios))
    return checked


def _advance(share: float, *, progress: Progress, task: TaskID, done: int) -> None:
    progress.update(task, completed=done + share)


def _scenarios(dialect: Dialect, name: str, progress: Callable[[float], None]) -> tuple[Result, ...]:
    try:
        suite = _suite(dialect, name)
    except InvalidSuite as error:
        return (Result("suite", "failed", str(error), 0),)
    return check_suite(dialect, suite, progress=progress).results if suite is not None else ()


def _suite(dialect: Dialect, name: str) -> Suite | None:
    """The cases of a built-in dialect, or those beside a user's own file, if there are any."""
    if not name.endswith(".py"):
        return suite_of(dialect)
    beside = Path(name).with_suffix(".toml")
    return read_suite(beside, dialect) if beside.is_file() else None
