"""Character classes as grammars write them, between brackets, as ranges of code points."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sequence
from functools import cache

from .classes import LAST, one_of
from .rules import Chars

__all__ = ["class_of"]

_KINDS = re.compile(r"\\[sSdDwW]")
_atoms = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{1,3}|.)|.", re.DOTALL).findall


@cache
def class_of(cls: str) -> Chars:
    """The characters that a regular expression's class matches, in the shorter of the two ways to say it.

    It is found out by asking the expression about each character at which it can change its mind.
    """
    if {r"\s", r"\S"} <= set(_KINDS.findall(cls)):
        return Chars((), negated=True)
    asked: Sequence[int] = range(LAST + 1) if _KINDS.search(cls) else _edges(cls)
    found: list[tuple[int, int]] = []
    for run in re.finditer(f"[{cls}]+", "".join(map(chr, asked))):
        last = asked[run.end()] - 1 if run.end() < len(asked) else LAST
        found.append((asked[run.start()], last))
    return one_of(tuple(found)) or Chars(())


def _edges(cls: str) -> list[int]:
    edges = {0}
    for atom in _atoms(cls):
        plain = len(atom) == 2 and not atom[1].isalnum()
        char = atom[1] if plain else literal_eval(f'"{atom}"') if atom[0] == "\\" else atom
        edges.update((ord(char), ord(char) + 1))
    return sorted(edges - {LAST + 1})
