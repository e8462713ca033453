"""Numbers between bounds, as JSON writes them: digit by digit, so that the bounds are exact.

How many digits a number can have is bounded as well, beyond what any program means by a number.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from msgspec import Struct

from .classes import DIGIT
from .rules import EMPTY, Expr, Repeat, Text, chars, choice, sequence

__all__ = ["DIGITS", "INTEGER", "NUMBER", "Bounds", "integer", "number"]

DIGITS = 40
"""Digits before the point, and behind it, at most; an exponent has three."""

REMEMBERED = 1024
"""Bounds of which the rules are kept."""

_NOT_ZERO = chars("1-9")
_EXPONENT = sequence(chars("eE"), Repeat(chars("+-"), 0, 1), Repeat(DIGIT, 1, 3))
_WHOLE = choice("0", sequence(_NOT_ZERO, Repeat(DIGIT, 0, DIGITS - 1)))
_FRACTION = sequence(".", Repeat(DIGIT, 1, DIGITS))

INTEGER = sequence(Repeat(Text("-"), 0, 1), _WHOLE)
"""Any integer."""

NUMBER = sequence(INTEGER, Repeat(_FRACTION, 0, 1), Repeat(_EXPONENT, 0, 1))
"""Any number."""


class Bounds(Struct, frozen=True, cache_hash=True):
    """The smallest and the largest number, each with whether it is left out itself; ``None``: no bound."""

    low: Decimal | None = None
    high: Decimal | None = None
    above: bool = False
    below: bool = False

    @property
    def exponents(self) -> bool:
        """Whether a number may have an exponent: where bounds, if there are any, tell the sign alone."""
        return self.low in (None, 0) and self.high in (None, 0)


@lru_cache(REMEMBERED)
def integer(bounds: Bounds) -> Expr | None:
    """Integers, written as such (``1.0`` is none); ``None`` if there are none between the bounds."""
    low = high = None
    if bounds.low is not None:
        low = _ceiling(bounds.low) + (bounds.above and bounds.low % 1 == 0)
    if bounds.high is not None:
        high = -_ceiling(-bounds.high) - (bounds.below and bounds.high % 1 == 0)
    if low is None and high is None:
        return INTEGER
    ways: list[Expr | None] = []
    if high is None or high >= 0:
        ways.append(_naturals(max(low or 0, 0), high))
    if low is None or low < 0:
        ways.append(_signed(_naturals(max(1, -high) if high is not None else 1, None if low is None else -low)))
    return _choice(ways)


@lru_cache(REMEMBERED)
def number(bounds: Bounds) -> Expr | None:
    """Numbers; ``None`` if there are none between the bounds. See `Bounds.exponents`."""
    low, high = bounds.low, bounds.high
    exponent = Repeat(_EXPONENT, 0, 1) if bounds.exponents else EMPTY
    if low is None and high is None:
        return NUMBER
    ways: list[Expr | None] = []
    if high is None or high >= 0:
        least, above = (low, bounds.above) if low is not None and low >= 0 else (Decimal(0), False)
        ways.append(_magnitudes(Bounds(least, high, above, bounds.below)))
    if low is None or low < 0:
        least, above = (-high, bounds.below) if high is not None and high <= 0 else (Decimal(0), True)
        most = None if low is None else -low
        ways.append(_signed(_magnitudes(Bounds(least, most, above, bounds.above))))
    found = _choice(ways)
    return sequence(found, exponent) if found is not None else None


def _ceiling(value: Decimal) -> int:
    whole = int(value)
    return whole + (value > whole)


def _signed(expr: Expr | None) -> Expr | None:
    return sequence("-", expr) if expr is not None else None


def _choice(ways: list[Expr | None]) -> Expr | None:
    left = [way for way in ways if way is not None]
    return choice(*left) if left else None


def _naturals(low: int, high: int | None) -> Expr | None:
    """The integers from `low` (not negative) to `high`."""
    most = 10**DIGITS - 1 if high is None else min(high, 10**DIGITS - 1)
    ways: list[Expr | None] = []
    full: list[int] = []  # lengths of which all numbers are in
    for length in range(len(str(low)), len(str(most)) + 1):
        least, last = 10 ** (length - 1) if length > 1 else 0, 10**length - 1
        if low <= least and last <= most and length > 1:
            full.append(length)
        elif max(low, least) <= min(most, last):
            ways.append(_between(str(max(low, least)), str(min(most, last))))
    if full:
        ways.append(sequence(_NOT_ZERO, Repeat(DIGIT, full[0] - 1, full[-1] - 1)))
    return _choice(ways)


def _between(low: str, high: str) -> Expr:
    """The digits from `low` to `high`, which are as long."""
    length = len(low)
    zeros, nines = "0" * (length - 1), "9" * (length - 1)
    if not length:
        return EMPTY
    if low == f"0{zeros}" and high == f"9{nines}":
        return Repeat(DIGIT, length, length) if length > 1 else DIGIT
    if low[0] == high[0]:
        return sequence(low[0], _between(low[1:], high[1:]))
    first, last = int(low[0]), int(high[0])
    ways: list[Expr] = []
    if low[1:] != zeros:
        ways.append(sequence(low[0], _between(low[1:], nines)))
        first += 1
    if high[1:] != nines:
        ways.append(sequence(high[0], _between(zeros, high[1:])))
        last -= 1
    if first <= last:
        digit = chars(f"{first}-{last}") if first < last else Text(str(first))
        ways.append(sequence(digit, Repeat(DIGIT, length - 1, length - 1)) if length > 1 else digit)
    return choice(*ways)


def _magnitudes(bounds: Bounds) -> Expr | None:
    """Numbers without a sign; there is a lower bound."""
    assert bounds.low is not None
    low, behind = _split(bounds.low)
    if bounds.high is None:
        high, until = 10**DIGITS, ""
    else:
        high, until = _split(bounds.high)
    if low > high:
        return None
    if low == high:
        return _with_fraction(low, behind, bounds.above, until, bounds.below)
    inner = _naturals(low + 1, high - 1) if low + 1 < high else None
    return _choice(
        [
            _with_fraction(low, behind, bounds.above, None, False),
            sequence(inner, Repeat(_FRACTION, 0, 1)) if inner is not None else None,
            _with_fraction(high, "", False, until, bounds.below),
        ]
    )


def _split(value: Decimal) -> tuple[int, str]:
    """The integer before the point and the digits behind it, without zeros at their end."""
    whole, _, behind = f"{value:f}".partition(".")
    return int(whole), behind.rstrip("0")


def _with_fraction(whole: int, low: str, above: bool, high: str | None, below: bool) -> Expr | None:
    """Numbers with this integer before the point, with a fraction between those whose digits are given."""
    bare = not low and not above and (high is None or high != "" or not below)
    digits = _digits(low, above, high, below, first=True)
    fraction = sequence(".", digits) if digits is not None else None
    if bare:
        return sequence(str(whole), Repeat(fraction, 0, 1) if fraction is not None else EMPTY)
    return sequence(str(whole), fraction) if fraction is not None else None


def _digits(low: str, above: bool, high: str | None, below: bool, *, first: bool = False) -> Expr | None:
    """Digits behind a point, as a fraction between two others; ``None`` as `high`: there is no bound.

    Both come without zeros at their end. There may be no digits, unless they are the `first` behind the point.
    """
    least = int(first)
    if high == "":
        return None if low or above or below else Repeat(Text("0"), least, DIGITS)
    if high is None and not low:
        if not above:
            return Repeat(DIGIT, least, DIGITS)
        return sequence(Repeat(Text("0"), 0, DIGITS), _NOT_ZERO, Repeat(DIGIT, 0, DIGITS))
    lowest, highest = int(low[:1] or "0"), int(high[:1]) if high is not None else 9
    upper = high[1:] if high is not None else None
    ways: list[Expr | None] = []
    if lowest == highest:
        ways.append(_led(lowest, lowest, _digits(low[1:], above, upper, below)))
    elif lowest < highest:
        ways.append(_led(lowest, lowest, _digits(low[1:], above, None, False)))
        if lowest + 1 < highest + (high is None):
            ways.append(_led(lowest + 1, highest - (high is not None), Repeat(DIGIT, 0, DIGITS)))
        if high is not None:
            ways.append(_led(highest, highest, _digits("", False, upper, below)))
    found = _choice(ways)
    if found is not None and not low and not above and not first:
        return choice(EMPTY, found)
    return found


def _led(first: int, last: int, rest: Expr | None) -> Expr | None:
    digit = chars(f"{first}-{last}") if first < last else Text(str(first))
    return sequence(digit, rest) if rest is not None else None
