"""Recursion at the end of rules turned into recursion at the beginning.

A turn goes on from text to a call, from the call to text, and so on: rules that end in one another. Earley's parser
keeps all of them open until the last ends (and closes all of them wherever it may), so that what a token costs grows
with what was written, up to the limits of an engine. The same texts, told from their beginning: for each such rule,
all that may stand before it. That is to a right-linear grammar what reading its automaton backwards is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from .rules import EMPTY, Choice, Expr, Ref, Rules, Scan, Sequence, choice, sequence

__all__ = ["without_tails"]

Ways: TypeAlias = dict[str | None, list[Expr]]
"""What stands before each rule that an expression may end in; before ``None``, all that ends in no such rule."""


def without_tails(rules: Rules) -> Rules:
    """The rules with the recursion at the end of the root, and of what it ends in, at the beginning; or as they are."""
    chain = _chain(rules)
    if not chain:
        return rules
    before: dict[str, list[Expr]] = {name: [] for name in chain}
    before[rules.root].append(EMPTY)
    last: list[Expr] = []
    for name in chain:
        for target, parts in _ways(rules.rules[name], chain).items():
            reached = last if target is None else before[target]
            reached += (sequence(Ref(_named(name)), part) for part in parts)
    made = {_named(name): choice(*found) for name, found in before.items()}
    kept = dict(rules.rules)
    top = choice(*last)
    if any(isinstance(part, Ref) and part.name == rules.root for rule in kept.values() for part in rule.walk()):
        # What is referred to elsewhere, in brackets, stays the rule that it is.
        return Rules({f"{rules.root}-all": top, **made, **kept}, f"{rules.root}-all")
    return Rules({**kept, rules.root: top, **made}, rules.root)


def _named(name: str) -> str:
    return f"before-{name}"


def _chain(rules: Rules) -> dict[str, None]:
    """The rules that the root ends in, over others or at once, from which one comes to a rule that ends in itself."""
    ends: dict[str, set[str]] = {}
    pending = [rules.root]
    while pending:
        name = pending.pop()
        if name not in ends:
            ends[name] = set(_tails(rules.rules[name]))
            pending += ends[name]
    below: dict[str, set[str]] = {name: set(found) for name, found in ends.items()}
    size = -1
    while size != (size := sum(map(len, below.values()))):
        for found in below.values():
            found.update(*(below[name] for name in tuple(found)))
    recursive = {name for name, found in below.items() if name in found}
    return {name: None for name, found in below.items() if name in recursive or found & recursive}


def _tails(expr: Expr) -> Iterator[str]:
    match expr:
        case Ref(name=name):
            yield name
        case Choice(items=items):
            for item in items:
                yield from _tails(item)
        case Sequence(items=items) if items:
            yield from _tails(items[-1])
        case Scan(words=words):
            for _, then in words:
                yield from _tails(then) if then is not None else ()


def _ways(expr: Expr, chain: dict[str, None]) -> Ways:
    found: Ways = {}
    for part, target in _split(expr, chain):
        found.setdefault(target, []).append(part)
    return found


def _split(expr: Expr, chain: dict[str, None]) -> Iterator[tuple[Expr, str | None]]:
    if chain.keys().isdisjoint(_tails(expr)):
        yield expr, None
        return
    match expr:
        case Ref(name=name):
            yield EMPTY, name
        case Choice(items=items):
            for item in items:
                yield from _split(item, chain)
        case Sequence(items=items):
            for part, target in _split(items[-1], chain):
                yield sequence(*items[:-1], part), target
        case Scan():
            yield from _scan(expr, chain)


def _scan(scan: Scan, chain: dict[str, None]) -> Iterator[tuple[Expr, str | None]]:
    """The text up to each word, apart for each rule that goes on from it; other words must not come first then."""
    ways: dict[str | None, dict[str, Expr]] = {}
    for word, then in scan.words:
        if then is not None:
            for target, parts in _ways(then, chain).items():
                ways.setdefault(target, {})[word] = choice(*parts)
    if scan.open:
        ways.setdefault(None, {})
    for target, thens in ways.items():
        words = tuple((word, thens.get(word)) for word, _ in scan.words)
        yield Scan(words, scan.open and target is None, scan.code, scan.marks), target
