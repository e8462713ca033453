"""Classes against the regular expressions that they are from."""

from __future__ import annotations

import re
from bisect import bisect_right

import pytest

from dragoman.emit.brackets import class_of
from dragoman.emit.rules import Chars

CLASSES = (
    "a-z",
    "^<>",
    r"\s\S",
    r"\w.",
    r"^\d",
    r"\]\-\\",
    "^]",
    r"\x41-\u00ff",
    r"\t\n",
    "\U0010fffe-\U0010ffff",
    r"^\w\W",
)


@pytest.mark.parametrize("cls", CLASSES)
def test_a_class_has_the_characters_that_its_expression_matches(cls: str) -> None:
    found, expression = class_of(cls), re.compile(f"[{cls}]")
    assert list(found.ranges) == sorted(found.ranges)
    ends = {end for low, high in found.ranges for end in (low - 1, low, high, high + 1) if 0 <= end <= 0x10FFFF}
    lows = [low for low, _ in found.ranges]
    for code in {*range(0x200), *ends, *range(0, 0x110000, 997)}:
        k = bisect_right(lows, code) - 1
        is_in = (k >= 0 and code <= found.ranges[k][1]) != found.negated
        assert is_in == (expression.match(chr(code)) is not None)


def test_the_shorter_way_is_taken() -> None:
    assert class_of(r"\s\S") == Chars((), negated=True)
    assert class_of("^a") == Chars(((97, 97),), negated=True)
    assert class_of("^" + r"\w\W") == Chars(())
