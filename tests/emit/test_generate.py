"""Sentences made up at random are sentences, end, and try what is at the edges."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dragoman.emit.generate import generate
from dragoman.emit.matcher import Matcher
from dragoman.emit.rules import EMPTY, AnyOrder, Chars, Member, Ref, Repeat, Rules, Scan, Text, chars, choice, sequence
from dragoman.errors import GrammarError
from tests.emit.grammars import RULES


@settings(max_examples=settings().max_examples * 10)
@given(RULES, st.integers(), st.sampled_from((0, 5, 50)))
def test_a_sentence_satisfies_its_rules_and_there_is_one_if_any_text_does(rules: Rules, seed: int, size: int) -> None:
    matcher = Matcher(rules)
    if matcher.prefix_of("") < 0:
        with pytest.raises(GrammarError, match="nothing satisfies it"):
            generate(rules, Random(seed).randrange)
        return
    text = generate(rules, Random(seed).randrange, size=size)
    assert matcher.fault(text) is None


def some(rules: Rules, count: int = 200, size: int = 100) -> list[str]:
    draw = Random(0).randrange
    return [generate(rules, draw, size=size) for _ in range(count)]


def test_recursion_ends() -> None:
    tree = Rules({"root": choice(sequence("(", Ref("root"), Ref("root"), ")"), "x", Ref("root"))})
    assert max(map(len, some(tree))) < 500
    assert generate(tree, Random(1).randrange, size=0) == "x"


def test_counts_are_tried_at_their_bounds() -> None:
    assert {"a", "aaaa"} <= set(some(Rules({"root": Repeat(Text("a"), 1, 4)})))


def test_characters_are_tried_at_the_edges_of_their_class() -> None:
    assert {"a", "z"} <= set(some(Rules({"root": chars("a-z")})))
    assert not {"a", "z"} & set(some(Rules({"root": chars("a-z", negated=True)})))
    assert set(some(Rules({"root": Chars(((0xD7FF, 0xE000),))}))) == {"\ud7ff", "\ue000"}


def test_text_before_a_marker_has_what_looks_like_it_and_code_that_quotes_it() -> None:
    texts = some(Rules({"root": Scan((("<call>", EMPTY),), code=True)}))
    assert any("<cal" in text.removesuffix("<call>") for text in texts)
    assert any("`<call>`" in text for text in texts)
    assert all(text.endswith("<call>") for text in texts)


def test_members_come_in_many_orders_with_and_without_what_need_not_be_there() -> None:
    order = AnyOrder((Member(Text("a")), Member(Text("b"), False)), Text(","), Text("x"))
    assert {"a", "a,b", "b,a", "x,a"} <= set(some(Rules({"root": order})))


@given(RULES)
def test_the_same_chance_makes_the_same_sentence(rules: Rules) -> None:
    assume(Matcher(rules).prefix_of("") == 0)
    assert generate(rules, Random(3).randrange) == generate(rules, Random(3).randrange)
