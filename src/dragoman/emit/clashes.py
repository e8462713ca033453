"""Where a lexer would read on past the end of a lexeme, because another that may stand there goes on.

A lexer that takes the longest text never tries a shorter one. So where one lexeme ends, and what follows it can begin
with a character with which another, begun at the same place, goes on, texts of the grammar would be refused. Which
lexemes may begin at one place is taken from what can follow what, whatever stands around: that is more than can be
(rules used in several places are followed by what follows them anywhere), so a clash may be found that is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .heads import Left, Ranges, heads, nullable, overlap
from .lexemes import Grouping, Terminal, Token, nodes
from .rules import AnyOrder, Choice, Expr, Lexeme, Ref, Repeat, Sequence, Text

__all__ = ["Clashes", "settle"]

STATES = 20_000
"""States of the lexer after which everything in doubt is taken apart."""

Path = tuple[int, ...]


def settle(grouping: Grouping, root: str) -> None:
    """Take lexemes apart until none clash; single characters never do."""
    while places := Clashes(grouping.rules, grouping.plain, root).find():
        grouping.split(places)


class Flow:
    """What can follow what: `firsts` of rules and `follows` of leaves, which are numbered; `spots` says where one is."""

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
            case AnyOrder(members=members):
                return all(not member.required or self.is_empty(member.item) for member in members)
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
        parts = nodes(expr)
        walked = [self._walk(part, rule, (*path, at)) for at, part in enumerate(parts)]
        match expr:
            case Sequence():
                return self._sequence(parts, walked)
            case Repeat(high=high):
                first, last = walked[0]
                if high != 1:
                    self._link(last, first)
                return first, last
            case AnyOrder(members=members):
                size = len(members)
                items = [*walked[:size], *walked[size + 1 :]]
                between = walked[size] if parts[size] != Sequence(()) else (frozenset[int](), frozenset[int]())
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
        self._heads: dict[Left, tuple[bool, list[tuple[Ranges, Left]]]] = {}
        leaves = self.flow.leaves
        self._starts: list[Left] = [(leaf.item,) if isinstance(leaf, Terminal) else () for leaf in leaves]
        self._begin = [self._begins(leaf, start) for leaf, start in zip(leaves, self._starts, strict=True)]
        none = frozenset[int]()
        self._behind: list[Ranges] = [
            tuple({each for at in after for each in self._begin[at]}) if after != none else ()
            for after in self.flow.follows
        ]

    def _begins(self, leaf: Expr, start: Left) -> Ranges:
        if isinstance(leaf, Ref):
            return ()
        if isinstance(leaf, Token):
            return ((0x110000 + leaf.id, 0x110000 + leaf.id),)
        return tuple(each for first, _ in self._read(start)[1] for each in first)

    def _read(self, left: Left) -> tuple[bool, list[tuple[Ranges, Left]]]:
        if left not in self._heads:
            self._heads[left] = nullable(left, self.plain), heads(left, self.plain)
        return self._heads[left]

    def find(self) -> dict[tuple[str, Path], int]:
        """The places of terminals that read on where they should not, and after how many characters if a text does."""
        found: dict[tuple[str, Path], int] = {}
        start = self.flow.firsts[self.root]
        pending, seen = [start], {start}
        while pending:
            for after in self._lex(pending.pop(), found):
                if after not in seen:
                    seen.add(after)
                    pending.append(after)
        return found

    def _lex(self, expected: frozenset[int], found: dict[tuple[str, Path], int]) -> Iterator[frozenset[int]]:
        """What may be expected behind one of these leaves."""
        leaves, follows = self.flow.leaves, self.flow.follows
        for at in expected:
            if isinstance(leaves[at], Token):
                yield follows[at]
        start = frozenset((at, self._starts[at]) for at in expected if isinstance(leaves[at], Terminal))
        pending, seen = [start], {start}
        while pending:
            for state in self._step(pending.pop()):
                if state in seen:
                    continue
                ended = [at for at, left in state if self._read(left)[0]]
                if ended:
                    self._compare(ended, state, found)
                    yield frozenset[int]().union(*(follows[at] for at in ended))
                seen.add(state)
                pending.append(state)
            if len(seen) > STATES:
                found.update(
                    (self.flow.spots[at], 1) for at, left in start if any(more for _, more in self._read(left)[1])
                )
                return

    def _step(self, state: frozenset[tuple[int, Left]]) -> list[frozenset[tuple[int, Left]]]:
        """The states that one more character leads to."""
        ways = [(first, (at, more)) for at, left in state for first, more in self._read(left)[1]]
        if len(ways) == 1:
            return [frozenset((ways[0][1],))]
        targets: dict[tuple[tuple[int, int], ...], set[tuple[int, Left]]] = {}
        for first, target in ways:
            targets.setdefault(first, set()).add(target)
        if len(targets) == 1:
            return [frozenset(each) for each in targets.values()]
        edges = sorted({bound for first in targets for low, high in first for bound in (low, high + 1)})
        begun: dict[int, list[set[tuple[int, Left]]]] = {edge: [] for edge in edges}
        places = {edge: at for at, edge in enumerate(edges)}
        for first, target_set in targets.items():
            for low, high in first:
                for at in range(places[low], places[high + 1]):
                    begun[edges[at]].append(target_set)
        return list({frozenset[tuple[int, Left]]().union(*each) for each in begun.values() if each})

    def _compare(
        self, ended: list[int], state: frozenset[tuple[int, Left]], found: dict[tuple[str, Path], int]
    ) -> None:
        for at, left in state:
            on = tuple(each for first, _ in self._read(left)[1] for each in first)
            leaf = self.flow.leaves[at]
            assert isinstance(leaf, Terminal)
            for end in ended:
                # Of a lexeme that was declared as one, the longest text is meant.
                if on and not (end == at and isinstance(leaf.item, Lexeme)) and overlap(on, self._behind[end]):
                    rest = left[0]
                    size = (
                        len(leaf.item.text) - len(rest.text)
                        if isinstance(leaf.item, Text) and isinstance(rest, Text)
                        else 0
                    )
                    found[self.flow.spots[at]] = size
                    break
