"""Questions and changes to regular expressions: rules without references, scans and members in any order."""

from __future__ import annotations

from collections.abc import Iterable

from .classes import Ranges, minus, one_of, ranges_of
from .rules import EMPTY, Chars, Choice, Expr, Repeat, Sequence, Text, choice, sequence

__all__ = ["COUNT_LIMIT", "lengths", "not_beginning", "of_length", "weight"]

COUNT_LIMIT = 1000
"""The highest count that is kept track of: engines write each repetition out."""


def lengths(expr: Expr) -> tuple[int, int | None]:
    """How many characters a match has, at least and at most."""
    match expr:
        case Text(text=text):
            return len(text), len(text)
        case Sequence(items=items):
            spans = [lengths(item) for item in items]
            return sum(low for low, _ in spans), _sum(high for _, high in spans)
        case Choice(items=items):
            spans = [lengths(item) for item in items]
            highs = [high for _, high in spans if high is not None]
            return min(low for low, _ in spans), max(highs) if len(highs) == len(spans) else None
        case Repeat(item=item, low=low, high=high):
            least, most = lengths(item)
            if most == 0:
                return 0, 0
            return least * low, None if most is None or high is None else most * high
        case _:
            return 1, 1


def weight(expr: Expr) -> int:
    """How many characters and classes there are when repetitions are written out."""
    match expr:
        case Text(text=text):
            return len(text)
        case Sequence(items=items) | Choice(items=items):
            return sum(map(weight, items))
        case Repeat(item=item, low=low, high=high):
            return weight(item) * max(low, high or 0, 1)
        case _:
            return 1


def of_length(expr: Expr, low: int, high: int | None) -> Expr | None:
    """What of it has so many characters; ``None`` where that can't be said by changing one repetition."""
    if low == 0 and high is None:
        return expr
    least, most = lengths(expr)
    if least >= low and (high is None or (most is not None and most <= high)):
        return expr
    parts = expr.items if isinstance(expr, Sequence) else (expr,)
    loose = [k for k, part in enumerate(parts) if lengths(part)[0] != lengths(part)[1]]
    if len(loose) != 1:
        return None
    (k,) = loose
    part = parts[k]
    if not isinstance(part, Repeat) or lengths(part.item) != (1, 1):
        return None
    fixed = least - part.low
    lowest = max(part.low, low - fixed)
    highs = [bound for bound in (part.high, None if high is None else high - fixed) if bound is not None]
    highest = min(highs, default=None)
    if highest is not None and highest < lowest:
        return None
    return sequence(*parts[:k], Repeat(part.item, lowest, highest), *parts[k + 1 :])


def not_beginning(expr: Expr, firsts: Ranges) -> Expr | None:
    """What of it does not begin with one of these characters; ``None`` for nothing. The empty text stays in it."""
    match expr:
        case Text(text=text):
            return None if text and not minus(ranges_of(text[0]), firsts) else expr
        case Chars():
            return one_of(minus(ranges_of(expr), firsts))
        case Choice(items=items):
            left = [part for item in items if (part := not_beginning(item, firsts)) is not None]
            return choice(*left) if left else None
        case Repeat(item=item, low=low, high=high):
            some = _nonempty(item) if high != 0 else None
            begun = not_beginning(some, firsts) if some is not None else None
            skipped = low == 0 or lengths(item)[0] == 0
            if begun is not None and high != 1:
                rest = Repeat(item, 0 if skipped else low - 1, None if high is None else high - 1)
                begun = sequence(begun, rest)
            return _either(begun, skipped)
        case Sequence(items=(first, *rest)):
            begun = not_beginning(first, firsts)
            if lengths(first)[0] > 0:
                return sequence(begun, *rest) if begun is not None else None
            # Where the first item is empty, the rest begins.
            behind = not_beginning(sequence(*rest), firsts)
            through = _nonempty(begun) if begun is not None else None
            ways = [sequence(through, *rest)] if through is not None else []
            ways += [behind] if behind is not None else []
            return choice(*ways) if ways else None
        case _:
            return expr


def _either(expr: Expr | None, empty: bool) -> Expr | None:
    if not empty:
        return expr
    return Repeat(expr, 0, 1) if expr is not None else EMPTY


def _nonempty(expr: Expr) -> Expr | None:
    """What of it is not the empty text."""
    match expr:
        case Repeat(item=item, high=high):  # it can be empty: so can its item, or it need not be there
            begun = _nonempty(item)
            if begun is None or high == 0:
                return None
            return begun if high == 1 else sequence(begun, Repeat(item, 0, None if high is None else high - 1))
        case Choice(items=items):
            left = [part for item in items if (part := _nonempty(item)) is not None]
            return choice(*left) if left else None
        case Sequence(items=(first, *rest)):
            if lengths(first)[0] > 0:
                return expr
            begun, behind = _nonempty(first), _nonempty(sequence(*rest))
            ways = [sequence(begun, *rest)] if begun is not None else []
            ways += [behind] if behind is not None else []
            return choice(*ways) if ways else None
        case Sequence() | Text(text=""):
            return None
        case _:
            return expr


def _sum(highs: Iterable[int | None]) -> int | None:
    total = 0
    for high in highs:
        if high is None:
            return None
        total += high
    return total
