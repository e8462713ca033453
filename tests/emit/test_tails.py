"""Recursion is at the beginning of rules where it was at their end, and the same texts match."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.matcher import matches
from dragoman.emit.rules import EMPTY, Ref, Rules, Scan, Text, choice, sequence
from dragoman.emit.tails import without_tails

from .some_rules import rule_sets, sentences

TURN = Rules(
    {
        "root": choice(Ref("text"), sequence("<c>", Ref("call"))),
        "text": Scan((("<c>", Ref("call")), ("</c>", None), ("stop", EMPTY)), open=True),
        "call": sequence("x", "</c>", choice(EMPTY, sequence("\n", Ref("text")), sequence("\n<c>", Ref("call")))),
    }
)


@given(st.data(), rule_sets())
def test_the_same_texts_match(data: st.DataObject, rules: Rules) -> None:
    turned = without_tails(rules)
    for _ in range(4):
        text = data.draw(sentences(rules))
        assert matches(turned, text) == matches(rules, text), text


@given(st.lists(st.sampled_from(["<c>", "x</c>", "x", "</c>", "\n", "stop", "a"]), max_size=8).map("".join))
def test_a_turn_reads_as_before(text: str) -> None:
    assert matches(without_tails(TURN), text) == matches(TURN, text)


def test_rules_begin_with_what_may_stand_before_them() -> None:
    rules = Rules({"root": choice("z", sequence("a", Ref("two"))), "two": sequence("b", choice(Ref("root"), "y"))})
    turned = without_tails(rules)
    assert turned.root == "whole"
    assert turned.rules == {
        "whole": choice(sequence(Ref("before-root"), "z"), sequence(Ref("before-two"), "by")),
        "before-root": choice(sequence(Ref("before-two"), "b"), EMPTY),
        "before-two": sequence(Ref("before-root"), "a"),
    }


def test_rules_without_such_recursion_stay_as_they_are() -> None:
    rules = Rules({"root": sequence("a", Ref("two")), "two": choice(sequence("(", Ref("two"), ")"), "b")})
    assert without_tails(rules) is rules


def test_rules_that_never_end_stay_as_they_are() -> None:
    rules = Rules({"root": sequence("a", Ref("root"))})
    assert without_tails(rules) is rules


def test_a_rule_that_is_also_used_within_brackets_is_kept() -> None:
    rules = Rules({"root": choice("a", sequence("(", Ref("root"), ")"), sequence(",", Ref("root")))})
    turned = without_tails(rules)
    for text in ("a", ",a", ",(a)", ",,(,(a))", "(,a)"):
        assert matches(turned, text), text
    assert not matches(turned, "(a")
    assert not matches(turned, ",")


def test_text_that_goes_on_in_different_rules_is_read_apart_for_each() -> None:
    rules = Rules({"root": Scan((("1", Ref("root")), ("2", Text("!")), ("3", None)), open=True)})
    turned = without_tails(rules)
    for text in ("", "a1b", "a1b2!", "2!", "1", "11"):
        assert matches(turned, text), text
    for text in ("2", "3", "a13", "2!1"):
        assert not matches(turned, text), text
