"""Makes a failing case small: leaves out what the failure does not need."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from msgspec import structs

from .case import Case

__all__ = ["shorten", "shrink"]

Piece = TypeVar("Piece", str, bytes)

PLAIN = frozenset('ax {}[]<>"\\\n,:')
"""Characters that are as simple as can be."""


def shrink(case: Case, fails: Callable[[Case], bool], *, seconds: float = 10.0) -> Case:
    """A case that still `fails` and from which nothing more can be left out, if time allows."""
    until = monotonic() + seconds
    while True:
        before = case
        for name in ("tools", "policy", "reason", "start"):
            usual = structs.replace(case, **{name: getattr(Case(case.dialect, ""), name)})
            if usual != case and fails(usual):
                case = usual
        settled = case
        text = shorten(case.text, lambda text, at=settled: fails(structs.replace(at, text=text)), until)  # type: ignore[misc]
        case = structs.replace(case, text=text)
        for k, character in enumerate(case.text):
            simpler = structs.replace(case, text=f"{case.text[:k]}a{case.text[k + 1 :]}")
            if character not in PLAIN and monotonic() < until and fails(simpler):
                case = simpler
        if case == before or monotonic() > until:
            return case


def shorten(text: Piece, fails: Callable[[Piece], bool], until: float) -> Piece:
    """The text without what its failure does not need: halves, quarters, ... and at last single characters."""
    size = max(1, len(text) // 2)
    while size and monotonic() < until:
        at = 0
        while at < len(text) and monotonic() < until:
            without = text[:at] + text[at + size :]
            if fails(without):
                text = without
            else:
                at += size
        size //= 2
    return text
