"""Repetitions as llama.cpp takes them.

It copies what is repeated: more than 2000 copies are refused where they must come, and silently become any number where
they may; an item that may be empty makes it search for a left recursion in time exponential in the count. So large
counts are made of blocks, each a rule, and an item that may be empty loses its empty text; the language stays the same.
Measured with llama.cpp of October 2026 (`llama_grammar_parser`); xgrammar needs none of it and takes it all.
"""

from __future__ import annotations

from .rewriting import Rewriting
from .rules import EMPTY, Chars, Choice, Expr, Lexeme, Ref, Repeat, Rules, Sequence, Text, choice, sequence

__all__ = ["BLOCK", "bounded"]

BLOCK = 1000
"""At most so many copies of an item in one repetition."""


def bounded(rules: Rules) -> Rules:
    """The same language with no count above `BLOCK`, and nothing repeated that may be empty."""
    return _Repeats(rules).whole()


class _Repeats(Rewriting):
    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self.empty = _nullable(rules)
        self.some: dict[str, Expr] = {}

    def plain(self, part: Expr, where: str) -> Expr:
        match part:
            case Lexeme(item):
                return self.plain(item, where)
            case Repeat(item, low, high):
                if _empties(item, self.empty):
                    low, item = 0, self.nonempty(item)
                return self.counted(self.plain(item, where), low, high, where)
            case _:
                return super().plain(part, where)

    def counted(self, item: Expr, low: int, high: int | None, where: str) -> Expr:
        """The item from `low` to `high` times; a composed one becomes a rule, which counts as one copy."""
        if high == 0 or item == EMPTY:
            return EMPTY
        if (low, high) == (1, 1):
            return item
        if not isinstance(item, Text | Chars | Ref) and (low > 1 or (high or 0) > 1):
            item = self.book.rule(f"{where}-item", item)
        if max(low, high or 0) <= BLOCK:
            return Repeat(item, low, high)
        more = Repeat(item) if high is None else self.up_to(item, high - low, where)
        return sequence(self.exactly(item, low, where), more)

    def exactly(self, item: Expr, count: int, where: str) -> Expr:
        if count <= BLOCK:
            return self.counted(item, count, count, where)
        blocks, left = divmod(count, BLOCK)
        block = self.book.rule(f"{where}-block", Repeat(item, BLOCK, BLOCK))
        return sequence(self.exactly(block, blocks, where), self.exactly(item, left, where))

    def up_to(self, item: Expr, count: int, where: str) -> Expr:
        """Some full blocks and less than one more; or all of them, and no more than is left."""
        if count <= BLOCK:
            return self.counted(item, 0, count, where)
        blocks, left = divmod(count, BLOCK)
        block = self.book.rule(f"{where}-block", Repeat(item, BLOCK, BLOCK))
        return choice(
            sequence(self.up_to(block, blocks - 1, where), Repeat(item, 0, BLOCK - 1)),
            sequence(self.exactly(block, blocks, where), self.up_to(item, left, where)),
        )

    def nonempty(self, part: Expr) -> Expr:
        """The same without the empty text; `EMPTY` where nothing else is left."""
        if not _empties(part, self.empty):
            return part
        match part:
            case Ref(name):
                return self._nonempty_rule(name)
            case Sequence(items):
                firsts = [sequence(self.nonempty(items[k]), *items[k + 1 :]) for k in range(len(items))]
                kept = [first for first, item in zip(firsts, items, strict=True) if self.nonempty(item) != EMPTY]
                return choice(*kept) if kept else EMPTY
            case Choice(items):
                kept = [some for some in map(self.nonempty, items) if some != EMPTY]
                return choice(*kept) if kept else EMPTY
            case Repeat(item, _, high):
                some = self.nonempty(item)
                return EMPTY if some == EMPTY or high == 0 else Repeat(some, 1, high)
            case Lexeme(item):
                return self.nonempty(item)
            case _:
                return EMPTY

    def _nonempty_rule(self, name: str) -> Expr:
        if name not in self.some:
            fresh = self.book.name(f"{name}-some")
            self.some[name] = Ref(fresh)
            rule = self.nonempty(self.rules.rules[name])
            if rule == EMPTY:
                self.some[name] = EMPTY
            else:
                self.book.define(fresh, self.plain(rule, fresh))
        return self.some[name]


def _nullable(rules: Rules) -> frozenset[str]:
    """The names of the rules that match the empty text."""
    known: frozenset[str] = frozenset()
    while True:
        more = frozenset(name for name, rule in rules.rules.items() if name in known or _empties(rule, known))
        if more == known:
            return known
        known = more


def _empties(part: Expr, rules: frozenset[str]) -> bool:
    match part:
        case Text(text):
            return not text
        case Sequence(items):
            return all(_empties(item, rules) for item in items)
        case Choice(items):
            return any(_empties(item, rules) for item in items)
        case Repeat(item, low):
            return low == 0 or _empties(item, rules)
        case Lexeme(item):
            return _empties(item, rules)
        case Ref(name):
            return name in rules
        case _:
            return False
