"""Recursion at the end of rules turned into recursion at the beginning.

A turn goes on from text to a call, from the call to text, and so on: rules that end in one another. Earley's parser
keeps all of them open until the last ends (and closes all of them wherever it may), so that what a token costs grows
with what was written, up to the limits of an engine. The same texts, told from their beginning: for each such rule,
all that may stand before it. That is to a right-linear grammar what reading its automaton backwards is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from .book import Book, closed
from .rules import EMPTY, Choice, Expr, Ref, Rules, Scan, Sequence, choice, sequence

__all__ = ["without_tails"]

Ways: TypeAlias = dict[str | None, list[Expr]]
"""What stands before each rule that an expression may end in; before ``None``, all that ends in no such rule."""


def without_tails(rules: Rules) -> Rules:
    """The rules with the recursion at the end of the root, and of what it ends in, at the beginning; or as they are."""
    chain = _chain(rules)
    book = Book()
    for name in rules.rules:
        book.keep(name)
    named = {name: Ref(book.name(f"before-{name}")) for name in chain}
    before: dict[str, list[Expr]] = {name: [] for name in chain}
    last: list[Expr] = []
    for name in chain:
        for target, parts in _ways(rules.rules[name], chain).items():
            reached = last if target is None else before[target]
            reached += (sequence(named[name], part) for part in parts)
    if not last:
        return rules
    before[rules.root].append(EMPTY)
    made = {ref.name: choice(*before[name]) for name, ref in named.items()}
    # The root stays for those who refer to it in the midst of something.
    return closed({**rules.rules, **made}, choice(*last), book.name("whole"))


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
    ways: dict[str | None, dict[str, list[Expr]]] = {None: {}} if scan.open else {}
    for word, then in scan.words:
        if then is not None:
            for target, parts in _ways(then, chain).items():
                ways.setdefault(target, {}).setdefault(word, []).extend(parts)
    for target, thens in ways.items():
        words = {word: choice(*thens[word]) if word in thens else None for word, _ in scan.words}
        yield Scan(tuple(words.items()), scan.open and target is None, scan.code, scan.marks), target
