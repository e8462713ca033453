"""First sets: what a match can start with, and whether two things can start alike.

Where that is hard to tell the answer is the safe one, that they can.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TypeAlias

from msgspec import Struct

__all__ = [
    "ANYTHING",
    "AT_END",
    "NOTHING",
    "AtEnd",
    "Atom",
    "First",
    "NotAt",
    "OneOf",
    "Text",
    "disjoint",
    "followed_by",
]


class Text(Struct, frozen=True):
    """What starts with these very characters."""

    text: str


class OneOf(Struct, frozen=True):
    """What starts with a character of this class."""

    cls: str


class NotAt(Struct, frozen=True):
    """What starts with any character, but not where one of these delimiters stands."""

    delimiters: tuple[str, ...]


class AtEnd(Struct, frozen=True):
    """What starts, and ends, at the end of the input."""


Atom: TypeAlias = Text | OneOf | NotAt | AtEnd


class First(Struct, frozen=True, cache_hash=True):
    """What a match can start with, and whether it can be empty."""

    atoms: frozenset[Atom]
    empty: bool


ANYTHING = First(frozenset([NotAt(())]), True)
AT_END = First(frozenset([AtEnd()]), False)
NOTHING = First(frozenset(), True)


@cache
def _class_of(cls: str) -> re.Pattern[str]:
    return re.compile(f"[{cls}]")


@cache
def _ascii_members(cls: str) -> frozenset[str] | None:
    """The members of a class that has none beyond ASCII, ``None`` where that can't be told from its text."""
    if cls.startswith("^") or not cls.isascii() or re.search(r"\\[swdSWDuUxN]", cls):
        return None
    return frozenset(char for char in map(chr, range(128)) if _class_of(cls).match(char))


def _apart(a: Atom, b: Atom) -> bool:
    """Whether no input starts as both say; when in doubt, no."""
    match a, b:
        case (AtEnd(), AtEnd()):
            return False
        case (AtEnd(), _) | (_, AtEnd()):
            return True
        case (Text(x), Text(y)):
            return not x.startswith(y) and not y.startswith(x)
        case (Text(text), OneOf(cls)) | (OneOf(cls), Text(text)):
            return _class_of(cls).match(text) is None
        case (Text(text), NotAt(delimiters)) | (NotAt(delimiters), Text(text)):
            return text.startswith(delimiters)
        case (OneOf(x), OneOf(y)):
            members = _ascii_members(x)
            if members is None:
                members, y = _ascii_members(y), x
            return members is not None and not any(_class_of(y).match(char) for char in members)
        case _:
            return False


def disjoint(a: First, b: First) -> bool:
    return all(_apart(x, y) for x in a.atoms for y in b.atoms)


def followed_by(first: First, follow: First) -> First:
    """What a sequence of the two can start with."""
    return First(first.atoms | follow.atoms, follow.empty) if first.empty else first
