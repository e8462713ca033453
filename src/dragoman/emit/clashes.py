"""Where a lexer would read on past the end of a lexeme, because another that may stand there goes on.

A lexer that takes the longest text never tries a shorter one. So where one lexeme ends, and what follows it can begin
with a character with which another, begun at the same place, goes on, texts of the grammar would be refused. Which
lexemes may begin at one place is taken from what can follow what, whatever stands around: that is more than can be
(rules used in several places are followed by what follows them anywhere), so a clash may be found that is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from .heads import Left, Ranges, heads, nullable, overlap
from .lexemes import Grouping, Members, Terminal, Token
from .rules import Choice, Expr, Lexeme, Ref, Repeat, Sequence, Text

__all__ = ["Clashes", "settle"]

STATES = 4_000
"""States of the lexer after which all lexemes that may begin at a place are taken apart."""

SETS = 4_000
"""Sets of lexemes that are told apart."""

ENOUGH = 200
"""Sets after which one looks no further, if there are clashes."""

TOKENS = 0x110000
"""Control tokens count as characters from here on."""

Path: TypeAlias = tuple[int, ...]
Expected: TypeAlias = frozenset[int]
State: TypeAlias = frozenset[tuple[int, Left]]
"""Leaves that are being read, and what is left of each."""


class Read(Struct, frozen=True):
    """What an expression reads: whether it may end, its ways on, and the characters that they begin with."""

    may_end: bool
    ways: tuple[tuple[Ranges, Left], ...]
    on: Ranges


def settle(grouping: Grouping, root: str) -> None:
    """Take lexemes apart until none clash; single characters never do."""
    while places := Clashes(grouping.rules, grouping.plain, root).find():
        grouping.split(places)


class Flow:
    """What can follow what: the numbers of leaves that rules begin with, and that follow a leaf; `spots` says where."""

    def __init__(self, rules: Mapping[str, Expr], plain: Mapping[str, Expr]) -> None:
        self.rules, self.plain = rules, plain
        self.leaves: list[Expr] = []
        self.spots: list[tuple[str, Path]] = []
        self._next: list[set[int]] = []
        self._empty: set[str] = set()
        size = -1
        while size < len(self._empty):
            size = len(self._empty)
            self._empty |= {name for name, rule in rules.items() if self.is_empty(rule)}
        self._ends: dict[str, frozenset[int]] = {}
        self._first: dict[str, frozenset[int]] = {}
        for name, rule in rules.items():
            self._first[name], self._ends[name] = self._walk(rule, name, ())
        self.firsts = {name: self._resolved(first) for name, first in self._first.items()}
        self.follows = self._followed()

    def is_empty(self, expr: Expr) -> bool:
        """Whether nothing matches."""
        match expr:
            case Terminal(item=item):
                return nullable((item,), self.plain)
            case Sequence(items=items):
                return all(map(self.is_empty, items))
            case Choice(items=items):
                return any(map(self.is_empty, items))
            case Repeat(item=item, low=low):
                return low == 0 or self.is_empty(item)
            case Members(items=items, size=size, required=required, some=some):
                return all(map(self.is_empty, items[:required])) and (
                    not some or required > 0 or any(self.is_empty(item) for at, item in enumerate(items) if at != size)
                )
            case Ref(name=name):
                return name in self._empty
        return False

    def _walk(self, expr: Expr, rule: str, path: Path) -> tuple[frozenset[int], frozenset[int]]:
        """The leaves and references that it can begin and end with; what follows what inside is put down."""
        if isinstance(expr, Terminal | Token | Ref):
            self.leaves.append(expr)
            self.spots.append((rule, path))
            self._next.append(set())
            alone = frozenset((len(self.leaves) - 1,))
            return alone, alone
        parts = expr.children()
        walked = [self._walk(part, rule, (*path, at)) for at, part in enumerate(parts)]
        match expr:
            case Sequence():
                return self._sequence(parts, walked)
            case Repeat(high=high):
                first, last = walked[0]
                if high != 1:
                    self._link(last, first)
                return first, last
            case Members(size=size):
                items = [*walked[:size], *walked[size + 1 :]]
                between = walked[size]
                first = frozenset[int]().union(*(each for each, _ in items))
                last = frozenset[int]().union(*(each for _, each in items))
                self._link(last, between[0])
                self._link(between[1], first)
                if self.is_empty(parts[size]):
                    self._link(last, first)
                return first, last
        none = frozenset[int]()
        return none.union(*(each for each, _ in walked)), none.union(*(each for _, each in walked))

    def _sequence(
        self, parts: tuple[Expr, ...], walked: list[tuple[frozenset[int], frozenset[int]]]
    ) -> tuple[frozenset[int], frozenset[int]]:
        first, last = frozenset[int](), frozenset[int]()
        empty = True
        for part, (begins, ends) in zip(parts, walked, strict=True):
            self._link(last, begins)
            can_be_empty = self.is_empty(part)
            first = first | begins if empty else first
            last = last | ends if can_be_empty else ends
            empty = empty and can_be_empty
        return first, last

    def _link(self, before: Iterable[int], behind: frozenset[int]) -> None:
        for each in before:
            self._next[each] |= behind

    def _resolved(self, given: Iterable[int]) -> frozenset[int]:
        """The leaves that these are or begin with."""
        found, pending, seen = set[int](), list(given), set[str]()
        while pending:
            leaf = self.leaves[at := pending.pop()]
            if not isinstance(leaf, Ref):
                found.add(at)
            elif leaf.name not in seen:
                seen.add(leaf.name)
                pending += self._first[leaf.name]
        return frozenset(found)

    def _followed(self) -> list[frozenset[int]]:
        ended_by: dict[int, str] = {each: name for name, ends in self._ends.items() for each in ends}
        calls: dict[str, list[int]] = {}
        for at, leaf in enumerate(self.leaves):
            if isinstance(leaf, Ref):
                calls.setdefault(leaf.name, []).append(at)
        behind: dict[str, frozenset[int]] = {}
        for name in self.rules:
            found, pending, seen = set[int](), [name], {name}
            while pending:
                for call in calls.get(pending.pop(), ()):
                    found |= self._next[call]
                    outer = ended_by.get(call)
                    if outer is not None and outer not in seen:
                        seen.add(outer)
                        pending.append(outer)
            behind[name] = self._resolved(found)
        none = frozenset[int]()
        return [
            none if isinstance(leaf, Ref) else self._resolved(self._next[at]) | behind.get(ended_by.get(at, ""), none)
            for at, leaf in enumerate(self.leaves)
        ]


class Clashes:
    """Looks through all sets of lexemes that may begin at one place."""

    def __init__(self, rules: Mapping[str, Expr], plain: Mapping[str, Expr], root: str) -> None:
        self.flow, self.plain, self.root = Flow(rules, plain), plain, root
        self._reads: dict[Left, Read] = {}
        leaves = self.flow.leaves
        self._starts: list[Left] = [(leaf.item,) if isinstance(leaf, Terminal) else () for leaf in leaves]
        begin = [self._begins(leaf, start) for leaf, start in zip(leaves, self._starts, strict=True)]
        self._behind = [tuple({each for at in after for each in begin[at]}) for after in self.flow.follows]
        self._found: dict[tuple[str, Path], int] = {}

    def _begins(self, leaf: Expr, start: Left) -> Ranges:
        if isinstance(leaf, Token):
            return ((TOKENS + leaf.id, TOKENS + leaf.id),)
        return self._read(start).on

    def _read(self, left: Left) -> Read:
        known = self._reads.get(left)
        if known is None:
            ways = tuple(heads(left, self.plain))
            on = tuple({each: None for first, _ in ways for each in first})
            known = self._reads[left] = Read(nullable(left, self.plain), ways, on)
        return known

    def find(self) -> dict[tuple[str, Path], int]:
        """The places of terminals that read on where they should not, and after how many characters if a text does.

        Not all, if there are any; another look shows more.
        """
        start = self.flow.firsts[self.root]
        pending, seen = [start], {start}
        wide: Expected = frozenset()
        while pending and not (self._found and len(seen) > ENOUGH):
            for after in self._lex(pending.pop()):
                if len(seen) > SETS:
                    after = wide = wide | after  # so that there is an end, at the price of clashes that are none
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        return self._found

    def _lex(self, expected: Expected) -> Iterator[Expected]:
        """What may be expected behind one of these leaves."""
        leaves, follows = self.flow.leaves, self.flow.follows
        yield from {follows[at] for at in expected if isinstance(leaves[at], Token)}
        start = frozenset((at, self._starts[at]) for at in expected if isinstance(leaves[at], Terminal))
        pending, seen = [start], {start}
        while pending:
            for state in self._step(pending.pop()):
                if state in seen:
                    continue
                seen.add(state)
                pending.append(state)
                ended = [at for at, left in state if self._read(left).may_end]
                if ended:
                    self._compare(ended, state)
                    yield frozenset[int]().union(*(follows[at] for at in ended))
            if len(seen) > STATES:
                for at, left in start:
                    if any(more for _, more in self._read(left).ways):
                        self._found.setdefault(self.flow.spots[at], 1)
                return

    def _step(self, state: State) -> Iterable[State]:
        """The states that one more character leads to."""
        if len(state) == 1:
            ((at, left),) = state
            if len(left) == 1 and isinstance(left[0], Text):
                return (frozenset(((at, ()),)),)  # nothing happens before its end
        targets: dict[Ranges, set[tuple[int, Left]]] = {}
        for at, left in state:
            for first, more in self._read(left).ways:
                targets.setdefault(first, set()).add((at, more))
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

    def _compare(self, ended: list[int], state: State) -> None:
        for at, left in state:
            on, leaf = self._read(left).on, self.flow.leaves[at]
            if not on or not isinstance(leaf, Terminal):
                continue
            # Of a lexeme that was declared as one, the longest text is meant.
            others = [end for end in ended if end != at or not isinstance(leaf.item, Lexeme)]
            if any(overlap(on, self._behind[end]) for end in others):
                match leaf.item, left[0]:
                    case Text(text=whole), Text(text=rest):
                        self._found[self.flow.spots[at]] = len(whole) - len(rest)
                    case _:
                        self._found[self.flow.spots[at]] = 0
