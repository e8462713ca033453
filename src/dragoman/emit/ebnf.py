"""Rules in the EBNF of xgrammar from 0.2.8 on, with what it can do better than plain rules.

What `gbnf` writes it takes too, but slowly: it makes a mask of the whole vocabulary for each state of free text, and
for each character of a text that is bounded. Measured with o200k on one core, plain rules against these: free text up
to ``</think>`` 540 ms and 50 ms; at most 200 characters 13,600 ms and 95 ms, or 4 s a token if a character is a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from msgspec import Struct

from ..grammar.analyze import delimiter_problem
from .automaton import TICKS_LIMIT, State, automaton
from .expand import SUBSET_LIMIT, expand
from .gbnf import body, quoted
from .guarantees import Guarantees, Note
from .rewriting import Rewriting
from .rules import (
    EMPTY,
    Chars,
    Choice,
    Expr,
    Lexeme,
    Ref,
    Repeat,
    Rules,
    Scan,
    Text,
    chars,
    choice,
    sequence,
)
from .rules import Sequence as InOrder

__all__ = ["xgrammar_ebnf"]

FEW = 4
"""Repetitions that are written as such; more of what is short get a budget of characters."""

SHORT = 16
"""Characters in one repetition, so that several of them can be in one token."""

NEWLINE = "\\n"
"""The one character that a dot of a regular expression is not."""

ASCII = 0x7F
"""Where a class goes beyond it, most tokens fit: there counts are dear, elsewhere budgets are."""

META = re.compile(r"[\\^$.|?*+()\[\]{}/]")


class Dispatch(Struct, frozen=True):
    """Text up to the first of these words, then its rule; or text that ends before. None of `excludes` is in it."""

    words: tuple[tuple[str, str], ...]
    excludes: tuple[str, ...]


class Lazy(Struct, frozen=True):
    """Text up to and including the first of these words."""

    words: tuple[str, ...]


class Budget(Struct, frozen=True):
    """The item as often as one likes, in so many characters."""

    item: Expr
    count: int


Native: TypeAlias = Dispatch | Lazy | Budget


def xgrammar_ebnf(rules: Rules, *, subset_limit: int = SUBSET_LIMIT) -> tuple[str, tuple[Note, ...]]:
    """The grammar, the rule named ``root`` first, and what of it was relaxed or narrowed, by the rule's name."""
    native = _Native(rules)
    kept = native.whole()
    natives = {name: each for name, each in native.natives.items() if name in kept.rules}
    plain, notes = expand(kept, subset_limit=subset_limit)
    swapped = {plain.root: "root", "root": plain.root}  # whoever has the root's name already takes the other
    lines = []
    for name, rule in plain.rules.items():
        known, shown = natives.get(name), swapped.get(name, name)
        lines.append(f"{shown} ::= {body(rule, swapped)}\n" if known is None else _line(known, shown, swapped))
    return "".join(lines), Guarantees.sorted((*notes, *native.book.notes))


def _line(native: Native, name: str, names: Mapping[str, str]) -> str:
    match native:
        case Dispatch(words, excludes):
            pairs = [f"({quoted(word)}, {names.get(then, then)})" for word, then in words]
            listed = ", ".join(map(quoted, excludes))
            options = ("loop_after_dispatch=false", f"excludes=({listed})")
            return f"{name} ::= TagDispatch({', '.join((*pairs, *options))})\n"
        case Lazy((word,)):
            return f"{name}[lazy] ::= [^]* {quoted(word)}\n"
        case Lazy(words):
            either = "|".join(META.sub(r"\\\g<0>", word) for word in words)
            regex = quoted(f"(.|{NEWLINE})*({either})")
            return f"{name}[lazy] ::= Regex({regex})\n"
        case Budget(item, count):
            return f"{name}[max_chars={count}] ::= {body(Repeat(item), names)}\n"
        case _:
            assert_never(native)


class _Native(Rewriting):
    """Takes out of rules what xgrammar has a form of its own for, and leaves a rule that names what it needs."""

    def __init__(self, rules: Rules) -> None:
        super().__init__(rules)
        self.natives: dict[str, Native] = {}
        self.known: dict[Native, Ref] = {}
        self.prose: dict[object, Ref] = {}

    def plain(self, part: Expr, where: str) -> Expr:
        match part:
            case Lexeme(item):
                return self.plain(item, where)
            case Repeat(item, low, high):
                return self._repeat(Repeat(self.plain(item, where), low, high), where)
            case Scan():
                return self._scan(part, where)
            case _:
                return super().plain(part, where)

    def _scan(self, scan: Scan, where: str) -> Expr:
        words = tuple((word, None if then is None else self.plain(then, where)) for word, then in scan.words)
        follows = tuple(dict.fromkeys(then for _, then in words if then is not None))
        excludes = tuple(word for word, then in words if then is None)
        if not words or not _alike(words, excludes) or (scan.code and not scan.open):
            return Scan(words, scan.open, scan.code, scan.marks)
        if scan.code:
            return self._prose(words, excludes, where)
        if scan.open:
            pairs = tuple((word, self._named(then, f"{where}-then")) for word, then in words if then is not None)
            return self._native(Dispatch(pairs, excludes), f"to {words[0][0]}", [Ref(name) for _, name in pairs])
        spelled = tuple(word for word, _ in words)
        if len(follows) == 1 and not excludes:
            return sequence(self._native(Lazy(spelled), f"to {spelled[0]}"), follows[0])
        ended = [(word, then) for word, then in words if then is not None]
        if not any(_overlaps(word, end) for word in spelled for end, _ in ended):
            text = self._native(Dispatch((), spelled), f"before {spelled[0]}")
            return sequence(text, choice(*(sequence(end, then) for end, then in ended)))
        return Scan(words, scan.open, scan.code, scan.marks)

    def _prose(self, words: Sequence[tuple[str, Expr | None]], excludes: tuple[str, ...], where: str) -> Expr:
        """Free text that a backtick leaves for the states of code, and comes back to with the next character."""
        key = (tuple(words), "code")
        if key not in self.prose:
            self.book.narrowed("code", where, f"more than {TICKS_LIMIT} backticks open no code, so none are written")
            reason = "no character with which a marker begins stands right behind the backticks that close code"
            self.book.narrowed("code", where, reason)
            name = self.book.name(f"to {words[0][0]}")
            states = automaton(tuple(word for word, _ in words), True)
            names = {state: self.book.name(f"{name}-{state}") for state in states if not state.isdigit()}
            for state, own in names.items():
                self.book.define(own, choice(EMPTY, *_edges(states[state], {**names, "0": name})))
            pairs = [(word, self._named(then, f"{where}-then")) for word, then in words if then is not None]
            pairs.append(("`", names["opening-1"]))
            self.natives[name] = Dispatch(tuple(pairs), excludes)
            self.prose[key] = self.book.define(name, sequence(f"{name}: ", *(Ref(then) for _, then in pairs)))
        return self.prose[key]

    def _repeat(self, repeat: Repeat, where: str) -> Expr:
        item, low, high = repeat.item, repeat.low, repeat.high
        if high is None or high - low <= FEW:
            return repeat
        shortest, longest = self._lengths(item)
        if not 1 <= shortest <= longest <= SHORT or not self._wide(item):
            return repeat
        if longest > 1:
            why = f"what has more than one character counts as so many of the {high - low}"
            self.book.narrowed("count", where, why)
        more = self._native(Budget(item, high - low), f"{where}-most", [item])
        return sequence(item if low == 1 else Repeat(item, low, low), more) if low else more

    def _wide(self, part: Expr) -> bool:
        """Whether one of its characters may be any of most; what it refers to is short, and so it comes to an end."""
        for inner in part.walk():
            if isinstance(inner, Chars) and (inner.negated or any(high > ASCII for _, high in inner.ranges)):
                return True
            if isinstance(inner, Ref) and self._wide(self._meant(inner)):
                return True
        return False

    def _named(self, then: Expr, hint: str) -> str:
        return then.name if isinstance(then, Ref) else self.book.rule(hint, then).name

    def _native(self, native: Native, hint: str, needs: Sequence[Expr] = ()) -> Ref:
        if native not in self.known:
            name = self.book.name(hint)
            self.natives[name] = native
            # the name in it keeps this rule apart from any other
            self.known[native] = self.book.define(name, sequence(f"{name}: ", *needs))
        return self.known[native]

    def _meant(self, part: Ref) -> Expr:
        """What a reference stands for."""
        return self.rules.rules.get(part.name) or self.book.rules.get(part.name, part)

    def _lengths(self, part: Expr, depth: int = 8) -> tuple[int, int]:
        """The fewest and the most characters of a part, which count as too many where that is not plain to see."""
        match part:
            case Text(text):
                return len(text), len(text)
            case Chars():
                return 1, 1
            case Lexeme(item):
                return self._lengths(item, depth)
            case Ref(name) if depth and name not in self.natives:
                return self._lengths(self._meant(part), depth - 1)
            case InOrder(items):
                each = [self._lengths(item, depth) for item in items]
                return sum(low for low, _ in each), sum(high for _, high in each)
            case Choice(items):
                each = [self._lengths(item, depth) for item in items]
                return min(low for low, _ in each), max(high for _, high in each)
            case Repeat(item, low, high) if high is not None:
                shortest, longest = self._lengths(item, depth)
                return shortest * low, longest * high
            case _:
                return 0, SHORT + 1


def _edges(state: State, names: Mapping[str, str]) -> Iterator[Expr]:
    """The ways on from a state of code, but for those into the beginning of a word."""
    for target in dict.fromkeys(state.on.values()):
        if isinstance(target, str) and target in names:
            same = (c for c, to in state.on.items() if to == target)
            yield sequence(chars("".join(sorted(same))), Ref(names[target]))
    barred = "".join(sorted(state.on, key=lambda c: (c != "-", c)))
    yield sequence(chars(barred, negated=True), Ref(names[state.other]))


def _alike(words: Sequence[tuple[str, Expr | None]], excludes: Sequence[str]) -> bool:
    """Whether xgrammar finds the same of these words first as the rules say."""
    triggers = [word for word, then in words if then is not None]
    hidden = any(trigger.endswith(word) for trigger in triggers for word in excludes)
    return not hidden and delimiter_problem(tuple(word for word, _ in words)) is None


def _overlaps(word: str, end: str) -> bool:
    """Whether text without the word could come to hold it when this end is put behind."""
    return any(end.startswith(word[k:]) for k in range(1, len(word)))
