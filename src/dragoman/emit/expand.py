"""Free text and members in any order as plain rules, for engines that know nothing else.

Text up to a word becomes the states of `automaton`, one right-recursive rule each, whose completing edges go on with
what follows the word. Equal texts share their states: wherever all words go on alike, that is taken out of them first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from .automaton import TICKS_LIMIT, State, Target, Word, automaton
from .guarantees import Guarantees, Note
from .orders import any_order
from .rewriting import Rewriting
from .rules import (
    EMPTY,
    AnyOrder,
    Expr,
    Ref,
    Rules,
    Scan,
    chars,
    choice,
    sequence,
)

__all__ = ["SUBSET_LIMIT", "expand"]

SUBSET_LIMIT = 5
"""Members of an object that may come in any order, each once: 31 rules for five, twice as many for one more."""


def expand(rules: Rules, *, subset_limit: int = SUBSET_LIMIT) -> tuple[Rules, tuple[Note, ...]]:
    """The same language without `Scan` and `AnyOrder`, and what of it was relaxed or narrowed, by the rule's name.

    Up to `subset_limit` members come in any order, each once. Of more, optional ones may come again, as long as at most
    one more than that is required; with more required ones, all stand in their declared order. Of Markdown
    code, what more than four backticks open is left out.
    """
    expansion = _Expansion(rules, subset_limit)
    return expansion.whole(), Guarantees.sorted(expansion.book.notes)


class _Expansion(Rewriting):
    def __init__(self, rules: Rules, subset_limit: int) -> None:
        super().__init__(rules)
        self.subset_limit = subset_limit
        self.known: dict[Expr, Expr] = {}

    def plain(self, part: Expr, where: str) -> Expr:
        """The part of the rule named `where`, as plain rules."""
        match part:
            case Scan() | AnyOrder():
                known = self.known.get(part)
                if known is None:
                    known = self._scan(part, where) if isinstance(part, Scan) else self._any_order(part, where)
                    self.known[part] = known
                return known
            case _:
                return super().plain(part, where)

    def _any_order(self, order: AnyOrder, where: str) -> Expr:
        plain = super().plain(order, where)
        assert isinstance(plain, AnyOrder)
        return any_order(self.book, plain, where, self.subset_limit)

    def _scan(self, scan: Scan, where: str) -> Expr:
        follows = scan.children()
        if not scan.open and len(follows) == 1 and follows[0] != EMPTY:
            ended = tuple((word, None if then is None else EMPTY) for word, then in scan.words)
            return sequence(self.plain(Scan(ended, code=scan.code), where), self.plain(follows[0], where))
        if scan.code:
            self.book.narrowed("code", where, f"more than {TICKS_LIMIT} backticks open no code, so none are written")
        words = tuple(dict.fromkeys(word for word, _ in scan.words))
        states = _states(words, scan.code)
        hint = f"to {words[0]}" if words else f"{where}-text"
        start = self.book.name(hint)
        names = {state: self.book.name(f"{start}-{state}") if state != "0" else start for state in states}
        thens: dict[Target, Expr] = {state: Ref(name) for state, name in names.items()}
        for word, then in scan.words:
            if then is not None:
                plain = self.plain(then, where)
                thens[Word(word)] = choice(thens[Word(word)], plain) if Word(word) in thens else plain
        for state, name in names.items():
            ways = (sequence(on, thens[to]) for on, to in states[state] if to in thens)
            self.book.define(name, choice(*([EMPTY] if scan.open else []), *ways))
        return Ref(start)


@lru_cache(maxsize=256)
def _states(words: tuple[str, ...], code: bool) -> Mapping[str, tuple[tuple[Expr, Target], ...]]:
    """The states of the automaton with the ways on from each; a dialect has the same ones for all tools."""
    return {name: tuple(_edges(state)) for name, state in automaton(words, code).items()}


def _edges(state: State) -> Iterator[tuple[Expr, Target]]:
    """The ways on from a state, those with the same end as one; any character without one of its own comes last."""
    special = {c: to for c, to in state.on.items() if to != state.other}
    for target in dict.fromkeys(special.values()):
        yield _one_of(c for c, to in special.items() if to == target), target
    yield _one_of(special, negated=True), state.other


def _one_of(characters: Iterable[str], negated: bool = False) -> Expr:
    return chars("".join(sorted(characters, key=lambda c: (c != "-", c))), negated)
