"""Tidied rules match the same texts, and nothing in them is dead."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.emit.matcher import Matcher
from dragoman.emit.rules import EMPTY, Choice, Ref, Rules, Text, choice, sequence
from dragoman.emit.tidy import tidied
from tests.emit.grammars import RULES, TEXTS


@settings(max_examples=settings().max_examples * 10)
@given(RULES, st.lists(TEXTS, min_size=1, max_size=4))
def test_tidied_rules_match_the_same(rules: Rules, texts: list[str]) -> None:
    tidy, matcher = tidied(rules), Matcher(rules)
    if tidy is None:
        # A word inside another can make a scan endless, which takes reading to find out.
        assert matcher.prefix_of("") == -1
        return
    other = Matcher(tidy)
    assert [other.fault(text) is None for text in texts] == [matcher.fault(text) is None for text in texts]


def test_names_for_nothing_and_for_other_names_are_followed() -> None:
    rules = Rules({"root": sequence("a", Ref("b"), Ref("c")), "b": Ref("d"), "c": EMPTY, "d": Text("x")})
    assert tidied(rules) == Rules({"root": sequence("a", Ref("d")), "d": Text("x")})


def test_what_leads_straight_back_is_left_out() -> None:
    rules = Rules({"root": choice("a", Ref("b")), "b": choice(Ref("root"), sequence("b", Ref("root")))})
    assert tidied(rules) == Rules({"root": choice("a", sequence("b", Ref("root")))})


def test_of_nothing_nothing_is_left() -> None:
    assert tidied(Rules({"root": sequence("a", Choice(()))})) is None
    assert tidied(Rules({"root": choice("a", sequence("b", Ref("no"))), "no": Ref("no")})) == Rules({"root": Text("a")})
