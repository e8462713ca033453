"""Rules: the context-free grammars that engines enforce, as frozen values.

What is emitted is built of these first, whatever the engine; the printers (`gbnf`, `ebnf`, `lark`) and the reference
matcher read them. They describe characters, not tokens, and no priorities: a choice is a union, a repetition takes any
of its counts. Three nodes say more than a plain grammar would, so that each engine can be told in its own best way:
`Scan` (free text up to a marker), `AnyOrder` (members in any order) and `Lexeme` (what a lexer may take as one token).
`expand` turns the first two into plain rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from msgspec import Struct

__all__ = [
    "EMPTY",
    "AnyOrder",
    "Chars",
    "Choice",
    "Expr",
    "Exprs",
    "Lexeme",
    "Member",
    "Ref",
    "Repeat",
    "Rules",
    "Scan",
    "Sequence",
    "Text",
    "chars",
    "choice",
    "joined",
    "sequence",
]


class Expr(Struct, frozen=True, cache_hash=True):
    """A part of a rule."""

    def children(self) -> Exprs:
        """The parts directly inside this one, in order."""
        return ()

    def walk(self) -> Iterator[Expr]:
        """This part and all below it, outer first; references are not followed."""
        pending: list[Expr] = [self]
        while pending:
            part = pending.pop()
            yield part
            if below := part.children():
                pending.extend(reversed(below))


Exprs: TypeAlias = tuple[Expr, ...]


class Text(Expr, frozen=True, cache_hash=True):
    """These characters; with `mark`, a marker, which is one control token where the tokenizer has one so spelled."""

    text: str
    mark: bool = False


class Chars(Expr, frozen=True, cache_hash=True):
    """One character of these ranges of code points, both ends included, ascending and apart; or of all others."""

    ranges: tuple[tuple[int, int], ...]
    negated: bool = False


class Sequence(Expr, frozen=True, cache_hash=True):
    """All items in order; none match the empty text."""

    items: Exprs

    def children(self) -> Exprs:
        return self.items


class Choice(Expr, frozen=True, cache_hash=True):
    """Any one of the items; there is at least one."""

    items: Exprs

    def children(self) -> Exprs:
        return self.items


class Repeat(Expr, frozen=True, cache_hash=True):
    """From `low` to `high` times the item; ``None`` is without end."""

    item: Expr
    low: int = 0
    high: int | None = None

    def children(self) -> Exprs:
        return (self.item,)


class Ref(Expr, frozen=True, cache_hash=True):
    """The rule of that name."""

    name: str


class Lexeme(Expr, frozen=True, cache_hash=True):
    """The item, a regular expression: no `Ref`, `Scan` or `AnyOrder` is in it.

    What may stand behind it can't go on with it: after the longest text that it matches, nothing else is to be tried.
    """

    item: Expr

    def children(self) -> Exprs:
        return (self.item,)


class Scan(Expr, frozen=True, cache_hash=True):
    """Any text up to and including the first of these `words`, then what goes on from that word.

    Each word is a (text, continuation) pair; ``None`` for one that must not come. Of two that end at once the longer
    counts. `marks` are words that are markers (see `Text`). Where it is `open`, the text may also end before any of
    them. In `code`, Markdown code hides words, as `dragoman.grammar.prose` reads it: what stands in code is text.
    """

    words: tuple[tuple[str, Expr | None], ...]
    open: bool = False
    code: bool = False
    marks: frozenset[str] = frozenset()

    def children(self) -> Exprs:
        return tuple(dict.fromkeys(then for _, then in self.words if then is not None))


class Member(Struct, frozen=True, cache_hash=True):
    """A member of an object: its key and value as they are written, and whether it has to be there."""

    item: Expr
    required: bool = True


class AnyOrder(Expr, frozen=True, cache_hash=True):
    """Each required member once and each other at most once, in any order, with `between` between two of them.

    Members that begin alike differ before they end. `extra` is any further member, as often as one likes. With
    `declared`, they stand in the order in which they are given, `extra` ones last.
    """

    members: tuple[Member, ...]
    between: Expr
    extra: Expr | None = None
    declared: bool = False

    def children(self) -> Exprs:
        extra = (self.extra,) if self.extra is not None else ()
        return (*(member.item for member in self.members), self.between, *extra)


class Rules(Struct, frozen=True):
    """A grammar: rules by name and the name of the one that all output must match.

    Names are made of ``a-z``, ``0-9`` and ``-`` and begin with a letter, which every engine takes.
    """

    rules: Mapping[str, Expr]
    root: str = "root"

    def walk(self) -> Iterator[Expr]:
        """All parts of all rules."""
        for rule in self.rules.values():
            yield from rule.walk()


EMPTY = Sequence(())


def sequence(*items: Expr | str) -> Expr:
    """The items in order, flat, neighbouring plain texts as one."""
    flat: list[Expr] = []
    for item in items:
        part = Text(item) if isinstance(item, str) else item
        for inner in part.items if isinstance(part, Sequence) else (part,):
            last = flat[-1] if flat else None
            if isinstance(inner, Text) and not inner.mark and isinstance(last, Text) and not last.mark:
                flat[-1] = Text(last.text + inner.text)
            elif not isinstance(inner, Text) or inner.text or inner.mark:
                flat.append(inner)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def choice(*items: Expr | str) -> Expr:
    """Any of the items, flat, each once."""
    flat: dict[Expr, None] = {}
    for item in items:
        part = Text(item) if isinstance(item, str) else item
        flat.update(dict.fromkeys(part.items if isinstance(part, Choice) else (part,)))
    return next(iter(flat)) if len(flat) == 1 else Choice(tuple(flat))


def chars(given: str, negated: bool = False) -> Chars:
    """One of the characters of a class, written as single ones and ranges: ``a-z0-9_``; or any other.

    A hyphen stands first or last, a backslash for itself.
    """
    codes: list[tuple[int, int]] = []
    k = 0
    while k < len(given):
        if k + 2 < len(given) and given[k + 1] == "-":
            codes.append((ord(given[k]), ord(given[k + 2])))
            k += 3
        else:
            codes.append((ord(given[k]), ord(given[k])))
            k += 1
    return Chars(joined(codes), negated)


def joined(ranges: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The ranges ascending and apart."""
    together: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if together and low <= together[-1][1] + 1:
            together[-1] = (together[-1][0], max(high, together[-1][1]))
        else:
            together.append((low, high))
    return tuple(together)
