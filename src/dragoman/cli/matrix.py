"""How `check` shows what it found: the results of a dialect line by line, or all dialects against all scenarios.

    dialect  promises  a  b  c ...
    hermes   ok        1  1  1
    mistral  ok        2  1  -

A number counts the cases that passed; ``x`` marks a failure, ``!`` one that is known, ``-`` what a dialect can't have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import ascii_letters

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from ..conformance import SCENARIOS
from ..testing import Report, Result
from .output import Ink, table

__all__ = ["Checked", "show_lists", "show_matrix"]

_COLOURS = {"passed": "green", "failed": "bold red", "known": "yellow", "lacks": "dim"}
_SIGNS = {"failed": "x", "known": "!", "lacks": "-"}


class Checked(Struct, frozen=True):
    """How a dialect fared: its promises, and the scenarios if it has cases."""

    dialect: str
    results: tuple[Result, ...]
    scenarios: tuple[Result, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return Report(self.dialect, self.results + self.scenarios).ok


def show_lists(console: Console, checked: Sequence[Checked]) -> None:
    """Write a line for each promise and each scenario, and what failed."""
    table(console, ("dialect", "promise", "status", "inputs"), list(_rows(checked, scenarios=False)))
    scenarios = list(_rows(checked, scenarios=True))
    if scenarios:
        Ink(console).line("")
        table(console, ("dialect", "scenario", "status", "cases"), scenarios)
    _show_details(console, checked)


def show_matrix(console: Console, checked: Sequence[Checked]) -> None:
    """Write a line for each dialect, what the columns are, and what failed."""
    letters = ascii_letters[: len(SCENARIOS)]
    rows: list[tuple[str | Text, ...]] = [(each.dialect, _promises(each), *_cells(each)) for each in checked]
    table(console, ("dialect", "promises", *letters), rows)
    ink = Ink(console)
    ink.line("")
    for letter, (scenario, about) in zip(letters, SCENARIOS.items(), strict=True):
        ink.line(f"{letter}  {scenario:<22}  {about}", "dim")
    _show_details(console, checked)
    cases = sum(result.cases for each in checked for result in each.scenarios)
    failed = sum(not each.ok for each in checked)
    ink.line("")
    ink.line(f"{len(checked)} dialects, {cases} cases; {failed} failed", _COLOURS["failed" if failed else "passed"])


def _rows(checked: Sequence[Checked], *, scenarios: bool) -> Iterator[tuple[str | Text, ...]]:
    for each in checked:
        for result in each.scenarios if scenarios else each.results:
            yield each.dialect, result.name, Text(result.status, style=_COLOURS[result.status]), str(result.cases)


def _promises(each: Checked) -> Text:
    broken = sum(result.status == "failed" for result in each.results)
    return Text(f"{broken} x", style="bold red") if broken else Text("ok", style="green")


def _cells(each: Checked) -> Iterator[Text]:
    found = {result.name: result for result in each.scenarios}
    for scenario in SCENARIOS:
        result = found.get(scenario)
        if result is None:
            yield Text("x", style="bold red")
        else:
            yield Text(_SIGNS.get(result.status, str(result.cases)), style=_COLOURS[result.status])


def _show_details(console: Console, checked: Sequence[Checked]) -> None:
    """Write what failed, and what is known to fail; why something is lacking is in the suite's file."""
    ink = Ink(console)
    for each in checked:
        for result in (*each.results, *each.scenarios):
            if result.status in ("failed", "known"):
                ink.line("")
                ink.line(f"{each.dialect}: {result.name}", _COLOURS[result.status])
                ink.line(result.detail)
