"""Classes of characters as ranges of code points, and what can be done with them."""

from __future__ import annotations

from typing import TypeAlias

from .rules import Chars, chars, joined

__all__ = ["ALL", "ANY", "DIGIT", "LAST", "Ranges", "complement", "minus", "one_of", "ranges_of", "size"]

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points, both ends included, ascending and apart."""

LAST = 0x10FFFF

ALL: Ranges = ((0, LAST),)


def complement(ranges: Ranges) -> Ranges:
    """All other characters."""
    others: list[tuple[int, int]] = []
    start = 0
    for low, high in ranges:
        if start < low:
            others.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        others.append((start, LAST))
    return tuple(others)


def minus(ranges: Ranges, others: Ranges) -> Ranges:
    """The characters of the first that are not among the others."""
    return complement(joined([*complement(ranges), *others]))


def ranges_of(given: Chars | str) -> Ranges:
    """The characters that a class stands for, or that are in a text."""
    if isinstance(given, str):
        return joined([(ord(char), ord(char)) for char in given])
    return complement(given.ranges) if given.negated else given.ranges


def one_of(ranges: Ranges) -> Chars | None:
    """One of these characters, in the shorter way to say it; ``None`` for no character at all."""
    if not ranges:
        return None
    return Chars(complement(ranges), negated=True) if ranges[-1][1] == LAST else Chars(ranges)


def size(ranges: Ranges) -> int:
    """How many characters there are."""
    return sum(high - low + 1 for low, high in ranges)


ANY = Chars((), negated=True)
DIGIT = chars("0-9")
