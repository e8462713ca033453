from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit import repeats
from dragoman.emit.repeats import BLOCK, bounded
from dragoman.emit.rules import EMPTY, Chars, Expr, Lexeme, Ref, Repeat, Rules, Text, chars, choice, sequence

from .meaning import accepts


@given(st.integers(0, 40), st.none() | st.integers(0, 40), st.integers(0, 80))
def test_large_counts_are_made_of_blocks(low: int, more: int | None, count: int) -> None:
    high = None if more is None else low + more
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats, "BLOCK", 3)
        rules = bounded(Rules({"root": Repeat(Text("ab"), low, high)}))
    assert all(part.low <= 3 and (part.high or 0) <= 3 for part in rules.walk() if isinstance(part, Repeat))
    assert accepts(rules, "ab" * count) == (low <= count and (high is None or count <= high))


def test_a_composed_item_becomes_a_rule() -> None:
    rules = bounded(Rules({"root": Repeat(choice("a", "b"), 0, BLOCK)}))
    assert dict(rules.rules) == {"root": Repeat(Ref("root-item"), 0, BLOCK), "root-item": choice("a", "b")}


A, B = chars("a"), Text("b")
AB = Rules(
    {"root": EMPTY, "ab": sequence(Repeat(A), Repeat(B, 0, 1)), "none": EMPTY, "loop": choice(EMPTY, Ref("loop"))}
)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (choice(A, EMPTY), A),
        (Repeat(A), Repeat(A, 1)),
        (Lexeme(Repeat(A, 0, 3)), Repeat(A, 1, 3)),
        (Repeat(choice(A, EMPTY), 2, 3), Repeat(A, 1, 3)),
        (sequence(Repeat(A), Repeat(B, 0, 1)), choice(sequence(Repeat(A, 1), Repeat(B, 0, 1)), B)),
        (sequence(Ref("none"), Repeat(B)), Repeat(B, 1)),
        (choice(Ref("ab"), EMPTY), Ref("ab-some")),
    ],
)
def test_what_is_repeated_is_not_empty(item: Expr, expected: Expr) -> None:
    rules = bounded(Rules({**AB.rules, "root": Repeat(item)}))
    assert rules.rules["root"] == Repeat(expected) or (isinstance(expected, Repeat) and rules.rules["root"] == expected)


def test_the_nonempty_form_of_a_rule_is_written_once() -> None:
    rules = bounded(Rules({**AB.rules, "root": sequence(Repeat(Ref("ab"), 2, 3), "-", Repeat(Ref("ab")))}))
    some = Ref("ab-some")
    assert rules.rules["root"] == sequence(Repeat(some, 0, 3), "-", Repeat(some))
    assert rules.rules["ab-some"] == choice(sequence(Repeat(A, 1), Repeat(B, 0, 1)), B)


@pytest.mark.parametrize(
    "item", [EMPTY, Text(""), Repeat(A, 0, 0), Repeat(EMPTY), Ref("none"), choice(EMPTY, Text(""))]
)
def test_nothing_repeated_is_nothing(item: Expr) -> None:
    assert bounded(Rules({**AB.rules, "root": sequence("x", Repeat(item, 2, 4))})).rules["root"] == Text("x")


def test_what_comes_once_is_not_repeated() -> None:
    assert bounded(Rules({"root": Repeat(Chars(((97, 98),)), 1, 1)})).rules["root"] == Chars(((97, 98),))
