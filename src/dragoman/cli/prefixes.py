"""How `render --stability` tells what becomes of a format's prompts as a conversation goes on.

One table a reason: what the model says, what follows, and behind which earlier turns that rewrites the prompt; then one
case of it, with what stands there before and after.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..render.stability import Case, Stability
from .output import Ink, table

__all__ = ["show_stability"]

ROW = tuple[str | Text, ...]


def show_stability(console: Console, name: str, found: Stability) -> None:
    """Write the verdict, and the cases by what becomes of them."""
    ink = Ink(console)
    whole, kept = len(found.cases), [case for case in found.cases if case.kept]
    if not whole:
        ink.line(f"{name} can say none of the short conversations that are tried, so that nothing is known", "yellow")
        return
    if found.stable:
        ink.line(f"{name} is stable: in all of {whole} short conversations, what follows is only added", "green")
        return
    ink.line(f"{name} rewrites its prompts: in {whole - len(kept)} of {whole} short conversations", "bold")
    earlier = tuple(dict.fromkeys(case.earlier for case in found.cases))
    for reason, cases in _by_reason(found.witnesses).items():
        ink.line("")
        ink.line(f"{reason} ({len(cases)} of {whole})", "bold yellow")
        _show_cases(console, cases, earlier)
        behind = "" if cases[0].earlier == "nothing" else f" behind {cases[0].earlier}"
        ink.line(f"for instance, {cases[0].turn}{behind}, followed by {cases[0].follows}:")
        ink.line(f"  - {cases[0].expected!r}", "red")
        ink.line(f"  + {cases[0].found!r}", "green")
    if kept:
        ink.line("")
        ink.line(f"all stays in place ({len(kept)} of {whole})", "bold green")
        _show_cases(console, kept, earlier)


def _show_cases(console: Console, cases: Sequence[Case], earlier: Sequence[str]) -> None:
    groups: dict[tuple[str, str], list[str]] = {}
    for case in cases:
        groups.setdefault((case.turn, case.follows), []).append(case.earlier)
    rows: list[ROW] = [(turn, follows, _listed(behind, earlier)) for (turn, follows), behind in groups.items()]
    table(console, ("  the model says", "followed by", "where it said before"), [(f"  {r[0]}", *r[1:]) for r in rows])


def _listed(behind: Sequence[str], earlier: Sequence[str]) -> str:
    if len(behind) == len(earlier):
        return "anything"
    missing = [each for each in earlier if each not in behind]
    if len(missing) < len(behind):
        return f"anything but {' / '.join(missing)}"
    return " / ".join(behind)


def _by_reason(cases: Sequence[Case]) -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.reason, []).append(case)
    return groups
