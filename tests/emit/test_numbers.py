"""Numbers between bounds: exactly those, digit by digit."""

from __future__ import annotations

import random
import re
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.generate import generate
from dragoman.emit.matcher import matches
from dragoman.emit.numbers import DIGITS, INTEGER, NUMBER, Bounds, integer, number
from dragoman.emit.rules import Expr, Rules

ends = st.one_of(st.none(), st.integers(-1200, 1200).map(Decimal))
fractions = st.one_of(st.none(), st.integers(-25000, 25000).map(lambda value: Decimal(value) / 1000))


def inside(value: Decimal, bounds: Bounds) -> bool:
    low, high = bounds.low, bounds.high
    above = low is None or (value > low if bounds.above else value >= low)
    return above and (high is None or (value < high if bounds.below else value <= high))


def passes(expr: Expr | None, text: str) -> bool:
    return expr is not None and matches(Rules({"root": expr}), text)


def near(*bounds: Decimal | None) -> list[Decimal]:
    steps = [Decimal(step) for step in ("-1", "-0.001", "-0.00001", "0", "0.00001", "0.001", "0.1", "1")]
    return [bound + step for bound in bounds if bound is not None for step in steps]


@given(ends, ends, st.booleans(), st.booleans(), st.lists(st.integers(-1500, 1500), max_size=5))
def test_the_integers_between_bounds_are_written_and_no_others(
    low: Decimal | None, high: Decimal | None, above: bool, below: bool, values: list[int]
) -> None:
    bounds = Bounds(low, high, above and low is not None, below and high is not None)
    rule = integer(bounds)
    for value in [*values, *(int(value) for value in near(low, high))]:
        assert passes(rule, str(value)) == inside(Decimal(value), bounds)


@given(fractions, fractions, st.booleans(), st.booleans(), st.integers(0, 1 << 30))
def test_the_numbers_between_bounds_are_written_and_no_others(
    low: Decimal | None, high: Decimal | None, above: bool, below: bool, seed: int
) -> None:
    bounds = Bounds(low, high, above and low is not None, below and high is not None)
    rule = number(bounds)
    for value in [*near(low, high), Decimal("0.5"), Decimal("-7.25"), Decimal(1000)]:
        assert passes(rule, f"{abs(value) if value == 0 else value:f}") == inside(value, bounds)
    if rule is not None:
        written = generate(Rules({"root": rule}), random.Random(seed).randrange, size=40)
        assert inside(Decimal(written), bounds)
        assert re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", written)


def test_bounds_that_leave_nothing_have_no_rule() -> None:
    assert integer(Bounds(Decimal("0.2"), Decimal("0.8"))) is None
    assert number(Bounds(Decimal(1), Decimal(1), above=True)) is None
    assert number(Bounds(Decimal(2), Decimal(1))) is None


def test_without_bounds_any_number_of_json_passes() -> None:
    for text in ("0", "-1", "12", "9" * DIGITS):
        assert passes(INTEGER, text)
        assert passes(NUMBER, text)
    for text in ("1.5", "-0.0", "1e5", "5E-324", "1.7976931348623157e+308"):
        assert passes(NUMBER, text)
        assert not passes(INTEGER, text)
    for text in ("", "-", "01", "1.", ".5", "+1", "1e", "9" * (DIGITS + 1)):
        assert not passes(NUMBER, text)


def test_a_bound_that_tells_the_sign_alone_leaves_exponents() -> None:
    assert passes(number(Bounds(low=Decimal(0))), "1e-7")
    assert passes(number(Bounds(high=Decimal(0), below=True)), "-1e-7")
    assert not passes(number(Bounds(low=Decimal(0), above=True)), "0e5")
    assert not passes(number(Bounds(low=Decimal(1))), "1e7")
