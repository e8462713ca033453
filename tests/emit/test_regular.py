"""Changes to regular expressions, beside what Python's matcher says of the same texts."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.classes import ranges_of
from dragoman.emit.generate import generate
from dragoman.emit.matcher import matches
from dragoman.emit.patterns import pattern
from dragoman.emit.regular import lengths, not_beginning, of_length, weight
from dragoman.emit.rules import EMPTY, Rules

texts = st.text(st.sampled_from("abc1"), max_size=5)
SOURCES = (
    "^a*b*$",
    "^(a|b)?c$",
    "^(a?b?){2}c?$",
    "^(a|bc|)1*$",
    "^[ab]+$",
    "^a{2,3}$",
    "^(a{0}b)?c*$",
    "^(ab)*$",
    "^[^a]*1$",
    "^(a*|b)(c|1?)a$",
    "^((a?){3}|c)b?$",
    "^(a*1*)*c$",
    "^(b?(c|a?)){0,2}1$",
    "^(a{0,1}|b{0})1?$",
    "^a$",
    "b",
)


@pytest.mark.parametrize("source", SOURCES)
@given(text=texts)
def test_a_text_is_left_unless_it_begins_so(source: str, text: str) -> None:
    expr = pattern(source)
    left = not_beginning(expr, ranges_of("ab"))
    expected = matches(Rules({"root": expr}), text) and text[:1] not in ("a", "b")
    assert (left is not None and matches(Rules({"root": left}), text)) == expected


@pytest.mark.parametrize("source", SOURCES)
@given(seed=st.integers(0, 1 << 30))
def test_no_text_is_longer_or_shorter_than_is_said(source: str, seed: int) -> None:
    low, high = lengths(pattern(source))
    text = generate(Rules({"root": pattern(source)}), random.Random(seed).randrange, size=20)
    assert low <= len(text) <= (len(text) if high is None else high)


def test_lengths_are_changed_in_one_repetition() -> None:
    for source, changed in (("^a[bc]*$", "^a[bc]{1,2}$"), ("^[ab]{1,5}$", "^[ab]{2,3}$"), ("^abc$", "^abc$")):
        assert of_length(pattern(source), 2, 3) == pattern(changed)
    for source in ("^a*b*$", "^(a|bc)$", "^a{1}$", "^abcd*e$", "^(ab)*$"):
        assert of_length(pattern(source), 2, 3) is None


def test_repetitions_weigh_what_they_are_written_out() -> None:
    assert weight(pattern("^(ab){3}c*$")) == 7
    assert lengths(EMPTY) == (0, 0)
