"""Classes against the regular expressions that they are from."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
@given(st.data())
def test_a_class_has_the_characters_that_its_expression_matches(cls: str, data: st.DataObject) -> None:
    found, expression = class_of(cls), re.compile(f"[{cls}]")
    assert list(found.ranges) == sorted(found.ranges)
    edges = [code for low, high in found.ranges for code in (low - 1, low, high, high + 1) if 0 <= code <= 0x10FFFF]
    codes = [*range(128), *edges, *data.draw(st.lists(st.integers(0, 0x10FFFF)))]
    for code in codes:
        is_in = any(low <= code <= high for low, high in found.ranges) != found.negated
        assert is_in == (expression.match(chr(code)) is not None)


def test_the_shorter_way_is_taken() -> None:
    assert class_of(r"\s\S") == Chars((), negated=True)
    assert class_of("^a") == Chars(((97, 97),), negated=True)
