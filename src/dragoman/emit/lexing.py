"""What a lexer that takes the longest text makes of lexemes that may begin at one place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from .heads import Left, Ranges, heads, nullable
from .rules import Expr, Text

__all__ = ["Ended", "Lexer"]

STATES = 2_000
"""States after which one looks no further."""


class Going(Struct, frozen=True):
    """A lexeme that may go on: with which characters, and after how many if it is a text."""

    item: int
    on: Ranges
    size: int


class Ended(Struct, frozen=True):
    """Lexemes that may end behind the same characters, and all that may go on there."""

    items: frozenset[int]
    going: tuple[Going, ...]


class Read(Struct, frozen=True):
    """What an expression reads: whether it may end, its ways on, and the characters that they begin with."""

    may_end: bool
    ways: tuple[tuple[Ranges, Left], ...]
    on: Ranges


State: TypeAlias = frozenset[tuple[int, Left]]
"""Lexemes that are being read, and what is left of each."""


class Lexer:
    """Numbers expressions and remembers what was found about them; `plain` has the rules that they refer to."""

    def __init__(self, plain: Mapping[str, Expr]) -> None:
        self.plain = plain
        self.items: list[Expr] = []
        self._numbers: dict[Expr, int] = {}
        self._reads: dict[Left, Read] = {}
        self._ends: dict[frozenset[int], tuple[Ended, ...] | None] = {}

    def number(self, item: Expr) -> int:
        known = self._numbers.get(item)
        if known is None:
            known = self._numbers[item] = len(self.items)
            self.items.append(item)
        return known

    def begins(self, item: int) -> Ranges:
        """The characters that a lexeme can begin with."""
        return self._read((self.items[item],)).on

    def is_long(self, item: int) -> bool:
        """Whether a lexeme can have more than one character."""
        return any(more for _, more in self._read((self.items[item],)).ways)

    def ends(self, items: frozenset[int]) -> tuple[Ended, ...] | None:
        """Which of these may end together, other than at once; ``None`` if that is too much to tell."""
        if items not in self._ends:
            self._ends[items] = self._lex(items)
        return self._ends[items]

    def _read(self, left: Left) -> Read:
        known = self._reads.get(left)
        if known is None:
            ways = tuple(heads(left, self.plain))
            on = tuple({each: None for first, _ in ways for each in first})
            known = self._reads[left] = Read(nullable(left, self.plain), ways, on)
        return known

    def _lex(self, items: frozenset[int]) -> tuple[Ended, ...] | None:
        start: State = frozenset((item, (self.items[item],)) for item in items)
        pending, seen = [start], {start}
        found: dict[Ended, None] = {}
        while pending:
            for state in self._step(pending.pop()):
                if state in seen:
                    continue
                seen.add(state)
                pending.append(state)
                ended = frozenset(item for item, left in state if self._read(left).may_end)
                if ended:
                    found[Ended(ended, tuple(self._going(state)))] = None
            if len(seen) > STATES:
                return None
        return tuple(found)

    def _step(self, state: State) -> Iterable[State]:
        """The states that one more character leads to."""
        if len(state) == 1:
            ((item, left),) = state
            if len(left) == 1 and isinstance(left[0], Text):
                return (frozenset(((item, ()),)),)  # nothing happens before its end
        targets: dict[Ranges, set[tuple[int, Left]]] = {}
        for item, left in state:
            for first, more in self._read(left).ways:
                targets.setdefault(first, set()).add((item, more))
        if len(targets) < 2:
            return map(frozenset, targets.values())
        bounds = sorted({bound for first in targets for low, high in first for bound in (low, high + 1)})
        places = {bound: at for at, bound in enumerate(bounds)}
        between: list[set[tuple[int, Left]]] = [set() for _ in bounds]
        for first, reached in targets.items():
            for low, high in first:
                for at in range(places[low], places[high + 1]):
                    between[at] |= reached
        return {frozenset(reached) for reached in between if reached}

    def _going(self, state: State) -> Iterable[Going]:
        for item, left in state:
            on = self._read(left).on
            if on:
                match self.items[item], left[0]:
                    case Text(text=whole), Text(text=rest):
                        yield Going(item, on, len(whole) - len(rest))
                    case _:
                        yield Going(item, on, 0)
