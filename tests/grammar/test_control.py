"""Rules, choices and commits: memory of what was tried, and what may come next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import GrammarError
from dragoman.events import Event, Malformed, Markup, Problem, ProblemKind, TagDelta, TagEnd, merge
from dragoman.grammar import build as b
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar, Node
from dragoman.grammar.program import program_of
from tests.grammar.made_up import LEAVES, TEXTS
from tests.streams import cut, cuts, hard


def run(grammar: Node, *chunks: str) -> list[Event]:
    machine = Machine(program_of(Grammar(grammar)))
    return merge([event for chunk in chunks for event in machine.feed(chunk)] + machine.finish())


def accepts(grammar: Node, text: str) -> frozenset[str]:
    machine = Machine(program_of(Grammar(grammar)))
    machine.feed(text)
    return machine.accepts()


# Rules with commits inside, in any grammar without lookahead: what is published in the middle of a rule stays so.

NESTED = b.rule("r", "(" + (b.literal("ab") | "a" | b.commit()) + b.optional(b.ref("r")) + ")" | "b")


def deeper(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    some = st.lists(inner | st.just(b.commit()), min_size=1, max_size=4)
    return st.one_of(
        some.map(lambda items: b.sequence(*items)),
        some.map(lambda items: b.choice(*items)),
        inner.map(b.zero_or_more),
        inner.map(lambda item: b.repeat(item, 1, 2)),
        inner.map(lambda item: b.tag("x", item)),
    )


WITH_COMMITS = st.recursive(LEAVES | st.just(b.ref("r")), deeper, max_leaves=8)
BRACKETS = st.lists(st.sampled_from(("(", ")", "(a", "(ab", "b", "((", "))")), max_size=10).map("".join)


@hard
@given(WITH_COMMITS, TEXTS | BRACKETS, cuts())
def test_grammars_with_commits_read_the_same_however_the_input_is_cut(
    grammar: Node, text: str, places: list[int]
) -> None:
    whole = b.sequence(grammar, b.optional(NESTED))
    try:
        expected = run(whole, text)
    except GrammarError:
        return  # a commit where there can be none
    assert run(whole, *text) == expected
    assert run(whole, *cut(text, places)) == expected


@hard
@given(BRACKETS, cuts())
def test_a_rule_that_commits_reads_the_same_however_the_input_is_cut(text: str, places: list[int]) -> None:
    for whole in (NESTED, (NESTED + "." | b.ref("r") + ")") + b.until(), b.zero_or_more(NESTED) + b.until("(") + "("):
        expected = run(whole, text)
        assert run(whole, *text) == expected
        assert run(whole, *cut(text, places)) == expected


@hard
@given(BRACKETS, st.integers(0))
def test_a_copy_made_in_the_middle_of_a_rule_goes_on_as_if_it_were_the_only_one(text: str, place: int) -> None:
    for whole in (NESTED, (NESTED + "." | b.ref("r") + ")") + b.until()):
        machine = Machine(program_of(Grammar(whole)))
        before, after = cut(text, [place])
        events = machine.feed(before)
        twin = machine.copy()
        machine.feed(")b((")
        assert merge(events + twin.feed(after) + twin.finish()) == run(whole, text)


def test_a_commit_before_the_first_character_is_refused_or_means_the_same_however_the_input_is_cut() -> None:
    """It gives up the end of the repetition before it is known whether there is another turn."""
    grammar = b.zero_or_more(b.commit(), "a") + "b"
    try:
        expected = run(grammar, "ab")
    except GrammarError:
        return
    assert run(grammar, "a", "b") == expected


def test_a_rule_that_failed_at_a_place_is_not_tried_there_again() -> None:
    rule = b.rule("r", "(" + b.optional(b.ref("r")) + ")")
    machine = Machine(program_of(Grammar(b.choice(rule + "1", rule + "2", "((x"))))
    assert machine.feed("((") == []
    assert machine.feed("x") == [Markup("((x", 0, 3)]


def test_what_a_rule_has_published_before_a_choice_opened_in_it_stays_published() -> None:
    rule = b.rule("r", "(" + b.commit() + (b.literal("ab") | "a") + b.optional(b.ref("r")) + ")")
    machine = Machine(program_of(Grammar(b.tag("t", rule))))
    assert machine.feed("(a") == [TagDelta("t", "(", 0, 1)]
    assert merge(machine.feed("(ab))") + machine.finish()) == [TagDelta("t", "a(ab))", 1, 7), TagEnd("t", 7, 7)]


def test_a_rule_that_breaks_where_nothing_can_be_tried_instead_gives_up() -> None:
    rule = b.rule("r", "(" + b.commit() + b.optional(b.ref("r")) + ")")
    assert run(rule, "((x") == [
        Markup("((", 0, 2),
        Problem(ProblemKind.MALFORMED, "", "the input does not follow the grammar", 2, 2),
        Malformed("x", 2, 3),
    ]


def test_a_rule_that_does_not_call_itself_is_read_in_its_place() -> None:
    assert run(b.ref("r") + "," + b.rule("r", b.tag("t", "a")), "a,a") == [
        TagDelta("t", "a", 0, 1),
        TagEnd("t", 1, 1),
        Markup(",", 1, 2),
        TagDelta("t", "a", 2, 3),
        TagEnd("t", 3, 3),
    ]


def test_a_choice_of_nothing_never_matches() -> None:
    assert run(b.choice() | b.literal("a"), "a") == [Markup("a", 0, 1)]
    assert isinstance(run(b.sequence("a", b.choice()), "a")[-1], Problem)


def test_one_character_may_decide() -> None:
    grammar = b.choice(b.one("a") + b.until("x"), "b")
    machine = Machine(program_of(Grammar(grammar)))
    assert (machine.program.hold_bound, machine.feed("a")) == (1, [Markup("a", 0, 1)])


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (b.tag("t", "(" + b.optional(b.ref("r")) + ")"), "(())"),
        (b.content("(" + b.optional(b.ref("r")) + ")", channel="c"), "(())"),
        ("(" + b.optional(b.peek(b.ref("r")), b.ref("r")) + ")", "(())"),
        ("(" + b.optional(b.negate(b.ref("r")), "x") + b.optional(b.ref("r")) + ")", "(x())"),
        ("(" + b.optional(b.report(ProblemKind.ORPHAN_MARKER, b.ref("r"))) + ")", "(())"),
    ],
)
def test_a_rule_may_call_itself_under_a_label_or_in_a_lookahead(item: Node, text: str) -> None:
    expected = run(b.rule("r", item), text)
    assert run(b.rule("r", item), *text) == expected
    assert not any(isinstance(event, Malformed) for event in expected)


@pytest.mark.parametrize(
    ("grammar", "text", "expected"),
    [
        (b.one_or_more("a") + "b", "", ["'a'"]),
        (b.one_or_more("a") + "b", "a", ["'a'", "'b'"]),
        (b.chars("a", 0) + "b", "", ["[a]", "'b'"]),
        (b.chars("a") + "b", "a", ["[a]", "'b'"]),
        (b.peek("a") + b.any(), "", ["'a'"]),
        (b.until("x") + "x", "a", ["until('x')", "'x'"]),
        (b.literal("a"), "a", ["end"]),
        (b.rule("r", "(" + b.optional(b.ref("r")) + ")"), "", ["'('"]),
        (b.rule("r", "(" + b.optional(b.ref("r")) + ")"), "(", ["'('", "')'"]),
        (b.rule("r", "(" + b.optional(b.ref("r"))) + ")", "(", ["'('", "')'"]),
        ("ab" | b.rule("r", "(" + b.optional(b.ref("r")) + ")"), "", ["'ab'", "'('"]),
        (b.choice(), "", []),
    ],
)
def test_it_says_what_may_come_next(grammar: Node, text: str, expected: list[str]) -> None:
    assert accepts(grammar, text) == set(expected)
