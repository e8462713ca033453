"""Patterns as rules: the texts in which a regular expression is found."""

from __future__ import annotations

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.generate import generate
from dragoman.emit.matcher import matches
from dragoman.emit.patterns import Unsupported, pattern
from dragoman.emit.rules import Rules

PATTERNS = (
    "",
    "^$",
    "abc",
    "^[a-z]+$",
    "^a|b$",
    "^(a|b)$",
    "(^a|b)c",
    "a(b|c$)",
    "^(a$|b)",
    "^^a$",
    r"^\d{3}-\d{2,}$",
    r"^[^\s@]+@\S+$",
    r"\.py$",
    "^(foo|bar)?baz*",
    r"^[\w.-]{1,3}$",
    r"[\]\\^-]",
    "^a{2,}b{0,1}?$",
    r"^\x41\u0042\/$",
    "^(?:ab|cd)+?$",
    "^(?P<n>x)y$",
    "^.{2,3}$",
    "[^a]$",
    "^[a-ce-]$",
    r"^a\{b}{$",
    r"^[\t\n]\W\D$",
    "x*",
    "^",
    "$",
    "x{0}^a",
    "^(a{0}|b){2}",
)
"""Expressions that Python reads as ECMA does, but for the name of a group."""

texts = st.text(st.sampled_from("abcxyz019-.@ \\]^/AB\n{}"), max_size=6)


def rules(source: str) -> Rules:
    return Rules({"root": pattern(source.replace("?P<", "?<"))})


@pytest.mark.parametrize("source", PATTERNS)
@given(text=texts, seed=st.integers(0, 1 << 30))
def test_a_pattern_is_found_where_python_finds_it(source: str, text: str, seed: int) -> None:
    found = re.compile(source.replace("$", r"\Z"), re.ASCII).search
    assert matches(rules(source), text) == (found(text) is not None)
    written = generate(rules(source), random.Random(seed).randrange, size=30)
    assert found(written) is not None


def test_what_ecma_means_otherwise_is_read_as_there() -> None:
    assert matches(rules("^[^]$"), "\n")
    assert matches(rules(r"^\s$"), "\ufeff")
    assert not matches(rules("^.$"), "\u2028")
    assert matches(rules(r"^\u{1f600}\cJ[\b]\0$"), "😀\n\b\0")
    assert matches(rules(r"^[\d-x]+$"), "1-x")
    assert matches(rules("^a{,2}$"), "a{,2}")


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("(?=a)b", "a group that looks around, or has flags"),
        ("(?<=a)b", "a group that looks around, or has flags"),
        ("(?i)a", "a group that looks around, or has flags"),
        (r"\bfoo", r"\b in the pattern"),
        (r"(a)\1", r"\1 in the pattern"),
        (r"\p{L}", r"\p in the pattern"),
        ("a^b", "an anchor that is not at the end of the pattern"),
        ("(^)?a", "an anchor that is repeated"),
        ("(", "a group that nothing closes"),
        ("(?<n", "a group that nothing closes"),
        (")", "a bracket that nothing opens"),
        ("*", "a quantifier of nothing"),
        ("[b-a]", "a range out of order"),
        ("[]", "a class of nothing"),
        ("a{2,1}", "a quantifier out of order"),
        ("a{2000}", "too many repetitions"),
        ("(a{900}){900}", "too many repetitions"),
        ("(" * 50 + ")" * 50, "groups nested too deeply"),
        ("\\", "the pattern breaks off"),
        ("[a", "the pattern breaks off"),
        (r"\u12", "the pattern breaks off"),
        (r"\xzz", r"\x without digits"),
        (r"\ud83d\ude00", "half a character"),
        (r"\u{110000}", r"\u beyond all characters"),
    ],
)
def test_what_no_rule_can_say_is_refused_with_the_reason(source: str, why: str) -> None:
    with pytest.raises(Unsupported) as refused:
        pattern(source)
    assert str(refused.value) == why
