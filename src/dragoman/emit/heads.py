"""What a regular expression can begin with, and what is then left of it (Antimirov's partial derivatives, 1996).

Expressions are read as a lexer's automaton without building one: its states are what is left to be matched, a tuple of
parts. Large counts are read as "or more", so an automaton may go on where the expression would not; who asks whether
texts can clash is told of too many, never of too few.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from .rules import Chars, Choice, Expr, Lexeme, Ref, Repeat, Sequence, Text
from .stretches import Place, Stretch, edges, is_end

__all__ = ["Heads", "Left", "Ranges", "heads", "inside", "nullable", "overlap", "ranges"]

COUNTED = 8
"""Repetitions that are told apart."""

TOP = 0x10FFFF

Ranges: TypeAlias = tuple[tuple[int, int], ...]
Left: TypeAlias = tuple[Expr, ...]
"""What is left to be matched, in order."""
Heads: TypeAlias = list[tuple[Ranges, Left]]


class Rest(Expr, frozen=True, cache_hash=True):
    """What is left of a stretch of text."""

    stretch: Stretch
    place: Place


def ranges(item: Chars) -> Ranges:
    """The code points of a class, negated or not."""
    if not item.negated:
        return item.ranges
    found, low = [], 0
    for first, last in item.ranges:
        if low < first:
            found.append((low, first - 1))
        low = last + 1
    if low <= TOP:
        found.append((low, TOP))
    return tuple(found)


def overlap(one: Ranges, other: Ranges) -> bool:
    """Whether two classes share a character."""
    return any(low <= end and start <= high for low, high in one for start, end in other)


def inside(expr: Expr, rules: Mapping[str, Expr]) -> tuple[Expr, ...]:
    """The parts of an expression, a reference's rule among them."""
    return (rules[expr.name],) if isinstance(expr, Ref) else expr.children()


def nullable(left: Left, rules: Mapping[str, Expr]) -> bool:
    """Whether nothing more needs to come."""
    return all(_empty(part, rules) for part in left)


def _empty(part: Expr, rules: Mapping[str, Expr]) -> bool:
    match part:
        case Text(text=text):
            return not text
        case Rest(stretch=stretch, place=place):
            return is_end(stretch, place)
        case Stretch():
            return is_end(part, Place())
        case Choice(items=items):
            return any(_empty(item, rules) for item in items)
        case Repeat(item=item, low=low):
            return low == 0 or _empty(item, rules)
        case Sequence() | Lexeme() | Ref():
            return all(_empty(item, rules) for item in inside(part, rules))
    return False


def heads(left: Left, rules: Mapping[str, Expr]) -> Heads:
    """The classes of characters that can come next, each with what is left behind it."""
    found: Heads = []
    for at, part in enumerate(left):
        rest = left[at + 1 :]
        found += ((first, more + rest) for first, more in _heads(part, rules))
        if not _empty(part, rules):
            break
    return found


def _heads(part: Expr, rules: Mapping[str, Expr]) -> Heads:
    match part:
        case Text(text=text):
            code = ord(text[0]) if text else 0
            return [(((code, code),), (Text(text[1:]),) if text[1:] else ())] if text else []
        case Chars():
            return [(ranges(part), ())]
        case Sequence(items=items):
            return heads(items, rules)
        case Choice(items=items):
            return [head for item in items for head in _heads(item, rules)]
        case Repeat(item=item, low=low, high=high):
            low = min(low, COUNTED)
            high = high if high is not None and high <= COUNTED else None
            if high == 0:
                return []
            again = Repeat(item, max(low - 1, 0), high - 1 if high is not None else None)
            rest = () if again.high == 0 else (again,)
            return [(first, more + rest) for first, more in _heads(item, rules)]
        case Stretch():
            return _heads(Rest(part, Place()), rules)
        case Rest(stretch=stretch, place=place):
            ways = edges(stretch, place)
            return [(ranges(item), (Rest(stretch, to),) if to is not None else ()) for item, to in ways]
    return [head for item in inside(part, rules) for head in _heads(item, rules)]
