"""What can follow what in rules over lexemes.

Where a rule was called from is remembered, so that its last lexeme is followed by what stands behind that call and not
by what stands behind another. Rules that call each other share one memory, which makes the places finitely many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from msgspec import Struct

from .heads import nullable
from .lexemes import Members, Terminal, Token
from .rules import Choice, Expr, Ref, Repeat, Sequence

__all__ = ["Flow", "Path", "Places", "Spot"]

CONTEXTS = 20_000
"""Calls of rules, each with those that led to it, over which it is not remembered where one came from."""

Path: TypeAlias = tuple[int, ...]
Spots: TypeAlias = frozenset[int]
Places: TypeAlias = frozenset[int]
"""Leaves, each with the calls that led to it, by number."""

NONE: frozenset[int] = frozenset()


class Spot(Struct, frozen=True):
    """A leaf or call in the rules: what stands there, the rule, and the way down from its root."""

    leaf: Expr
    rule: str
    path: Path


class Flow:
    """`start` has the places that a text begins at, `follow` those that come behind one; `spot` says what is there."""

    def __init__(self, rules: Mapping[str, Expr], plain: Mapping[str, Expr], root: str) -> None:
        self.rules, self.plain = rules, plain
        self.spots: list[Spot] = []
        self._next: list[set[int]] = []
        self._empty = _empty_rules(rules, plain)
        self._first: dict[str, Spots] = {}
        self._last: dict[str, Spots] = {}
        for name, rule in rules.items():
            self._first[name], self._last[name] = self._walk(rule, name, ())
        self._calls: dict[str, list[int]] = {}
        for at, spot in enumerate(self.spots):
            if isinstance(spot.leaf, Ref):
                self._calls.setdefault(spot.leaf.name, []).append(at)
        self._groups = self._grouped(root)
        self._contexts: list[tuple[int, int]] = [(-1, -1)]
        self._context_ids: dict[tuple[int, int], int] = {}
        self._places: list[tuple[int, int]] = []
        self._place_ids: dict[tuple[int, int], int] = {}
        self._behind: dict[tuple[str, int], Places] = {}
        self._follow: dict[int, Places] = {}
        self.start = self._reached(self._first[root], 0)

    def where(self, place: int) -> tuple[int, int]:
        """The numbers of the spot of a place and of the calls that led to it."""
        return self._places[place]

    def spot(self, place: int) -> Spot:
        return self.spots[self._places[place][0]]

    def follow(self, place: int) -> Places:
        """The places behind this one."""
        known = self._follow.get(place)
        if known is None:
            spot, context = self._places[place]
            rule = self.spots[spot].rule
            known = self._reached(self._next[spot], context)
            if spot in self._last[rule]:
                known |= self._after(rule, context)
            self._follow[place] = known
        return known

    # Within one rule: positions, and which may come behind which (Glushkov, 1961).

    def _walk(self, expr: Expr, rule: str, path: Path) -> tuple[Spots, Spots]:
        """The leaves and calls that it can begin and end with; what follows what inside is put down."""
        if isinstance(expr, Terminal | Token | Ref):
            self.spots.append(Spot(expr, rule, path))
            self._next.append(set())
            alone = frozenset((len(self.spots) - 1,))
            return alone, alone
        parts = expr.children()
        walked = [self._walk(part, rule, (*path, at)) for at, part in enumerate(parts)]
        match expr:
            case Sequence():
                return self._sequence(parts, walked)
            case Members(size=size):
                between = walked.pop(size)
                first, last = NONE.union(*(each for each, _ in walked)), NONE.union(*(each for _, each in walked))
                self._link(last, between[0] | (first if is_empty(parts[size], self._empty, self.plain) else NONE))
                self._link(between[1], first)
                return first, last
        first, last = NONE.union(*(each for each, _ in walked)), NONE.union(*(each for _, each in walked))
        if isinstance(expr, Repeat):
            self._link(last, first)
        return first, last

    def _sequence(self, parts: tuple[Expr, ...], walked: list[tuple[Spots, Spots]]) -> tuple[Spots, Spots]:
        first, last, empty = NONE, NONE, True
        for part, (begins, ends) in zip(parts, walked, strict=True):
            self._link(last, begins)
            can_be_empty = is_empty(part, self._empty, self.plain)
            first = first | begins if empty else first
            last = last | ends if can_be_empty else ends
            empty = empty and can_be_empty
        return first, last

    def _link(self, before: Iterable[int], behind: Spots) -> None:
        for each in before:
            self._next[each] |= behind

    # Across rules.

    def _grouped(self, root: str) -> dict[str, int]:
        """The rules that call each other, by the number of their group; all in one, if there are too many ways."""
        called = {name: dict.fromkeys(ref.name for ref in _calls(rule)) for name, rule in self.rules.items()}
        groups = _components(called)
        ways = {groups[root]: 1}
        for name in sorted(self.rules, key=lambda name: -groups[name]):  # callers have the higher numbers
            for at in (ref.name for ref in _calls(self.rules[name])):
                if groups[at] != groups[name]:
                    ways[groups[at]] = ways.get(groups[at], 0) + ways.get(groups[name], 0)
        return groups if sum(ways.values()) <= CONTEXTS else dict.fromkeys(self.rules, 0)

    def _place(self, spot: int, context: int) -> int:
        key = (spot, context)
        known = self._place_ids.get(key)
        if known is None:
            known = self._place_ids[key] = len(self._places)
            self._places.append(key)
        return known

    def _reached(self, spots: Iterable[int], context: int) -> Places:
        """The leaves that stand here, or that the rules called from here begin with."""
        found = set[int]()
        pending = [(spot, context) for spot in spots]
        seen = set[tuple[str, int]]()
        while pending:
            at, context = pending.pop()
            spot = self.spots[at]
            if not isinstance(spot.leaf, Ref):
                found.add(self._place(at, context))
                continue
            name = spot.leaf.name
            inner = context if self._groups[name] == self._groups[spot.rule] else self._enter(context, at)
            if (name, inner) not in seen:
                seen.add((name, inner))
                pending += ((each, inner) for each in self._first[name])
        return frozenset(found)

    def _enter(self, context: int, call: int) -> int:
        key = (context, call)
        known = self._context_ids.get(key)
        if known is None:
            known = self._context_ids[key] = len(self._contexts)
            self._contexts.append(key)
        return known

    def _after(self, rule: str, context: int) -> Places:
        """The places behind a rule."""
        known = self._behind.get((rule, context))
        if known is None:
            found = set[int]()
            pending = [(rule, context)]
            seen = {(rule, context)}
            while pending:
                name, at = pending.pop()
                for call, outer in self._callers(name, at):
                    found |= self._reached(self._next[call], outer)
                    caller = (self.spots[call].rule, outer)
                    if call in self._last[caller[0]] and caller not in seen:
                        seen.add(caller)
                        pending.append(caller)
            known = self._behind[rule, context] = frozenset(found)
        return known

    def _callers(self, rule: str, context: int) -> Iterable[tuple[int, int]]:
        group = self._groups[rule]
        for call in self._calls.get(rule, ()):
            if self._groups[self.spots[call].rule] == group:
                yield call, context
        outer, call = self._contexts[context]
        if call >= 0 and self.spots[call].leaf == Ref(rule):
            yield call, outer


def _calls(rule: Expr) -> Iterable[Ref]:
    return (part for part in rule.walk() if isinstance(part, Ref))


def is_empty(expr: Expr, empty: set[str], plain: Mapping[str, Expr]) -> bool:
    """Whether nothing matches, if it does for these rules."""
    match expr:
        case Terminal(item=item):
            return nullable((item,), plain)
        case Sequence(items=items):
            return all(is_empty(item, empty, plain) for item in items)
        case Choice(items=items):
            return any(is_empty(item, empty, plain) for item in items)
        case Repeat(item=item, low=low):
            return low == 0 or is_empty(item, empty, plain)
        case Members(items=items, size=size, required=required, some=some):
            members = items[:required] if required or not some else (*items[:size], *items[size + 1 :])
            found = [is_empty(item, empty, plain) for item in members]
            return all(found) if required or not some else any(found)
        case Ref(name=name):
            return name in empty
    return False


def _empty_rules(rules: Mapping[str, Expr], plain: Mapping[str, Expr]) -> set[str]:
    empty: set[str] = set()
    size = -1
    while size < len(empty):
        size = len(empty)
        empty |= {name for name, rule in rules.items() if is_empty(rule, empty, plain)}
    return empty


def _components(called: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """The strongly connected components (Tarjan, 1972), numbered from the innermost."""
    groups: dict[str, int] = {}
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    for root in called:
        if root in order:
            continue
        order[root] = low[root] = len(order)
        stack.append(root)
        work = [(root, iter(called[root]))]
        while work:
            name, rest = work[-1]
            for other in rest:
                if other not in order:
                    order[other] = low[other] = len(order)
                    stack.append(other)
                    work.append((other, iter(called[other])))
                    break
                if other not in groups:
                    low[name] = min(low[name], order[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == order[name]:
                    number = len(set(groups.values()))
                    while name not in groups:
                        groups[stack.pop()] = number
    return groups
