"""What can follow what in rules over lexemes, told apart by the calls that led there.

A `Config` is a leaf and a stack of calls, as a parser has it. Two kinds of calls put nothing on the stack, so that it
stays as deep as brackets are nested: one at the very end of a rule, which returns to where the rule does; and one that
a rule, or those it calls, may begin with again and again. Of those it is not remembered how often they were called.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

from .heads import nullable
from .lexemes import Members, Terminal, Token
from .rules import Choice, Expr, Ref, Repeat, Sequence

__all__ = ["BASE", "Config", "Configs", "Flow", "Path", "Spot", "Stack"]

Path: TypeAlias = tuple[int, ...]
Spots: TypeAlias = frozenset[int]
Stack: TypeAlias = tuple[tuple[int, str], ...]
"""Calls, outer first, each with the rule whose end returns from it."""
Config: TypeAlias = tuple[int, Stack]
Configs: TypeAlias = frozenset[Config]

BASE = -1
"""The call of what one begins with."""

NONE: frozenset[int] = frozenset()


class Spot(Struct, frozen=True):
    """A leaf or call in the rules: what stands there, the rule, and the way down from its root."""

    leaf: Expr
    rule: str
    path: Path


class Flow:
    """The spots of rules, by number, and what follows them; if `flat`, whatever the calls that led there."""

    def __init__(self, rules: Mapping[str, Expr], plain: Mapping[str, Expr], flat: bool = False) -> None:
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
        begins = {name: dict.fromkeys(self._called(first)) for name, first in self._first.items()}
        self._groups = dict.fromkeys(rules, 0) if flat else _components(begins)
        sizes = Counter(self._groups.values())
        self._alone = {name for name in rules if sizes[self._groups[name]] == 1 and name not in begins[name]}
        self._follow: dict[Config, tuple[Configs, bool]] = {}
        self._behind: dict[int, Spots] = {}

    def start(self, root: str) -> Configs:
        """What a text begins at."""
        return self._reached(self._first[root], ((BASE, root),))

    def follow(self, config: Config) -> tuple[Configs, bool]:
        """What comes behind a leaf, and whether the call that the stack begins with may return there."""
        known = self._follow.get(config)
        if known is None:
            known = self._follow[config] = self._behind_spot(*config)
        return known

    def returned(self, call: int, base: tuple[int, str]) -> tuple[Configs, bool]:
        """What comes behind a call, and whether the one around it may return there."""
        return self.follow((call, (base,)))

    def behind(self, spot: int) -> Spots:
        """The leaves that may stand behind one, whatever the calls that led to it."""
        known = self._behind.get(spot)
        if known is None:
            found = set[int](self._next[spot])
            pending = [self.spots[spot].rule] if spot in self._last[self.spots[spot].rule] else []
            seen = set(pending)
            while pending:
                for call in self._calls.get(pending.pop(), ()):
                    found |= self._next[call]
                    outer = self.spots[call].rule
                    if call in self._last[outer] and outer not in seen:
                        seen.add(outer)
                        pending.append(outer)
            known = self._behind[spot] = frozenset(self._leaves(found))
        return known

    def _leaves(self, spots: Iterable[int]) -> Iterator[int]:
        pending, seen = list(spots), set(spots)
        while pending:
            leaf = self.spots[at := pending.pop()].leaf
            if isinstance(leaf, Ref):
                more = self._first[leaf.name] - seen
                seen |= more
                pending += more
            else:
                yield at

    def _called(self, spots: Iterable[int]) -> Iterator[str]:
        for spot in spots:
            leaf = self.spots[spot].leaf
            if isinstance(leaf, Ref):
                yield leaf.name

    def _reached(self, spots: Iterable[int], stack: Stack) -> Configs:
        """The leaves that stand here, or that the rules called from here begin with."""
        found = set[Config]()
        pending = [(spot, stack) for spot in spots]
        seen = set[tuple[str, Stack]]()
        while pending:
            at, stack = pending.pop()
            spot = self.spots[at]
            if not isinstance(spot.leaf, Ref):
                found.add((at, stack))
                continue
            name = spot.leaf.name
            if self._groups[name] != self._groups[spot.rule]:
                last = not self._next[at] and spot.rule in self._alone
                stack = (*stack[:-1], (stack[-1][0], name)) if last else (*stack, (at, name))
            if (name, stack) not in seen:
                seen.add((name, stack))
                pending += ((each, stack) for each in self._first[name])
        return frozenset(found)

    def _behind_spot(self, spot: int, stack: Stack) -> tuple[Configs, bool]:
        found, returns = set(self._reached(self._next[spot], stack)), False
        rule = self.spots[spot].rule
        pending = [(rule, stack)] if spot in self._last[rule] else []
        seen = set(pending)
        while pending:
            rule, stack = pending.pop()
            within = ((call, stack) for call in self._calls.get(rule, ()) if self._is_within(call, rule))
            call, entered = stack[-1]
            returns = returns or (entered == rule and call == BASE)
            out = ((call, stack[:-1]),) if entered == rule and call != BASE else ()
            for call, outer in (*within, *out):
                found |= self._reached(self._next[call], outer)
                caller = (self.spots[call].rule, outer)
                if call in self._last[caller[0]] and caller not in seen:
                    seen.add(caller)
                    pending.append(caller)
        return frozenset(found), returns

    def _is_within(self, call: int, rule: str) -> bool:
        return self._groups[self.spots[call].rule] == self._groups[rule]

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
                self._link(last, between[0] | (first if _is_empty(parts[size], self._empty, self.plain) else NONE))
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
            can_be_empty = _is_empty(part, self._empty, self.plain)
            first = first | begins if empty else first
            last = last | ends if can_be_empty else ends
            empty = empty and can_be_empty
        return first, last

    def _link(self, before: Iterable[int], behind: Spots) -> None:
        for each in before:
            self._next[each] |= behind


def _is_empty(expr: Expr, empty: set[str], plain: Mapping[str, Expr]) -> bool:
    """Whether nothing matches, if it does for these rules."""
    match expr:
        case Terminal(item=item):
            return nullable((item,), plain)
        case Sequence(items=items):
            return all(_is_empty(item, empty, plain) for item in items)
        case Choice(items=items):
            return any(_is_empty(item, empty, plain) for item in items)
        case Repeat(item=item, low=low):
            return low == 0 or _is_empty(item, empty, plain)
        case Members(items=items, size=size, required=required, some=some):
            members = items[:required] if required or not some else (*items[:size], *items[size + 1 :])
            found = [_is_empty(item, empty, plain) for item in members]
            return all(found) if required or not some else any(found)
        case Ref(name=name):
            return name in empty
    return False


def _empty_rules(rules: Mapping[str, Expr], plain: Mapping[str, Expr]) -> set[str]:
    empty: set[str] = set()
    size = -1
    while size < len(empty):
        size = len(empty)
        empty |= {name for name, rule in rules.items() if _is_empty(rule, empty, plain)}
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
