"""What is left of rules behind their first characters, against all short texts."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.emit.matcher import Matcher
from dragoman.emit.residue import RETURN, Residues, Unknown
from dragoman.emit.rules import AnyOrder, Expr, Member, Ref, Rules, Scan, Text, choice, sequence
from tests.emit.grammars import REGULAR

RULES: dict[str, Expr] = {"list": choice("", sequence("a", Ref("list"))), "pair": sequence(Ref("list"), "b")}
PARTS = st.one_of(
    REGULAR, st.tuples(REGULAR, st.sampled_from(("list", "pair"))).map(lambda t: sequence(Ref(t[1]), t[0]))
)
SHORT = ["".join(text) for size in range(4) for text in product("ab<", repeat=size)]


def residues() -> Residues:
    return Residues(RULES.__getitem__, lambda name, read: None)


@settings(max_examples=settings().max_examples * 5)
@given(PARTS, st.text("ab<", max_size=3))
def test_what_is_left_follows_the_characters_and_nothing_else_does(part: Expr, read: str) -> None:
    whole = Matcher(Rules({"root": part, **RULES}))
    left = residues().behind(part, read)
    behind = Matcher(Rules({"root": choice(*left) if left else choice(Ref("root")), **RULES}))
    assert [behind.matches(text) for text in SHORT] == [whole.matches(read + text) for text in SHORT]
    assert residues().empty(part) == whole.matches("")


@pytest.mark.parametrize("part", [RETURN, Scan((("a", None),), open=True), AnyOrder((Member(Text("a")),), Text(","))])
def test_what_depends_on_more_than_the_rules_is_not_known(part: Expr) -> None:
    with pytest.raises(Unknown):
        residues().behind(part, "a")
    with pytest.raises(Unknown):
        residues().empty(part)


def test_a_rule_that_begins_with_itself_reads_nothing_that_way() -> None:
    left = Residues({"left": choice(sequence(Ref("left"), "a"), "b")}.__getitem__, lambda name, read: None)
    assert left.behind(Ref("left"), "b") == [sequence()]
