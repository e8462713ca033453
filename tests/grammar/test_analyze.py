"""What is known of a grammar before it runs: mistakes are refused, and what it holds back has a bound."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import DelimiterError, GrammarError, LeftRecursion, NotStreamable, UnknownRule
from dragoman.events import ProblemKind
from dragoman.grammar import build as b
from dragoman.grammar.analyze import Report, analyze, delimiter_problem
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar, Node
from dragoman.grammar.program import program_of
from tests.grammar.made_up import GRAMMARS, RULE, TEXTS
from tests.streams import cut, cuts, hard

SOME = b.chars("a-z")


@pytest.mark.parametrize(
    ("grammar", "bound"),
    [
        (b.literal("abc"), 3),
        (b.sequence(), 0),
        (b.choice(), 0),
        (SOME, 1),
        (b.until("</a>", "b"), 4),
        (b.until(), 0),
        (b.until("</a>", then=("<", "end"), gap=8), 4 + 8 + 3),
        (b.json(), 12),
        # One marker decides a choice between others, however long what follows it is.
        ("<a>" + SOME | "<b>" + SOME, 3),
        ("<long>" + SOME | "<b>" + SOME, 6),
        (b.choice("abc", "abd"), 3),
        (b.zero_or_more("<a>", b.until("</a>"), "</a>"), 4),
        (b.repeat("ab", 2, 2) + SOME, 2),
        # Where it does not, a commit does.
        ("ab" + b.commit() + b.until("x") | "a", 2),
        (b.peek("abcd") + b.until("x"), 4),
        (b.negate(b.repeat("ab", 0, 3)) + "x", 8),
        # What is captured is at most as long as a field may be.
        (b.name(SOME), 257),
        (b.name(b.chars("a-z", 1, 9)), 9),
        (b.stop("<end>"), 5),
        (b.argument_members(b.value("</p>", then=(">",), gap=2)), 4 + 2 + 1 + 4096),
        (b.call("<call>", b.commit(), b.until("</call>"), close="</call>"), 7),
        (b.header("|", b.case("x"), start=("<",), fields={}, limit=20), 21),
        (b.rule("r", "(" + b.optional(b.peek("("), b.commit(), b.ref("r")) + ")"), 1),
        (b.tag("t", b.schema(b.gate("g", b.trigger(b.markup("abc"))), "{}")), 3),
    ],
)
def test_what_a_grammar_holds_back_has_a_bound(grammar: Node, bound: int) -> None:
    report = analyze(grammar)
    assert report == Report(bound, None)
    assert (report.streamable, report.require_streamable()) == (True, bound)


@pytest.mark.parametrize(
    ("grammar", "culprit"),
    [
        (SOME + "1" | SOME + "2", '[a-z]+ "1"'),
        (b.content(b.until("x") + "1" | b.until("y")), 'until("x") "1"'),
        (b.peek(b.until("x")), '&until("x")'),
        (b.negate(SOME) + SOME, "![a-z]+"),
        (b.zero_or_more(b.json()) + b.json(), "json*"),
        (b.report(ProblemKind.MALFORMED, SOME), "problem-malformed([a-z]+)"),
        (b.optional(b.ref("r")) + b.rule("r", "(" + b.optional(b.ref("r")) + ")") + "(", "r?"),
    ],
)
def test_a_grammar_that_holds_without_bound_is_named_with_the_way_out(grammar: Node, culprit: str) -> None:
    report = analyze(grammar)
    assert report == Report(None, culprit)
    assert not report.streamable
    with pytest.raises(NotStreamable) as caught:
        report.require_streamable()
    assert str(caught.value) == f"input is held back without bound: in {culprit}; add commit() behind what decides it"


def test_the_worst_entry_counts() -> None:
    assert analyze(Grammar(b.literal("ab"), (("other", b.literal("abcd")),))).hold_bound == 4
    assert analyze(Grammar(b.literal("ab"), (("other", b.peek(b.until())),))).reason == "&until()"


# Mistakes


@pytest.mark.parametrize(
    ("delimiters", "problem"),
    [
        (("",), "a delimiter is empty"),
        (("a", ""), "a delimiter is empty"),
        (("<", "<a"), "'<' is a prefix of '<a'"),
        (("b", "abc"), "'abc' contains 'b', and not only at its end"),
        (("aba", "ab"), "'ab' is a prefix of 'aba'"),
        (("a", "b", "a"), "a delimiter is given twice"),
        (("</a>", "\n</a>"), None),
        (("a", "b", "cd"), None),
        ((), None),
    ],
)
def test_delimiters_must_be_told_apart(delimiters: tuple[str, ...], problem: str | None) -> None:
    assert delimiter_problem(delimiters) == problem


@pytest.mark.parametrize("grammar", [b.until("<", "<a"), b.argument_members(b.value("<", "<a"))])
def test_delimiters_that_cannot_be_told_apart_are_refused(grammar: Node) -> None:
    with pytest.raises(DelimiterError) as caught:
        analyze("x" + grammar)
    assert str(caught.value) == (
        """'<' is a prefix of '<a': in until("<", "<a"); change the delimiters, or trim what is left"""
    )


@pytest.mark.parametrize(
    "grammar",
    [
        b.call("<", b.commit(), closers=("",)),
        b.call("<", b.commit(), closers=(">",), resume=(">>",)),
        b.header("", b.case("x"), start=("<",), fields={}),
        b.header("|", b.case("x"), start=("<",), abort=("||",), fields={}),
    ],
)
def test_the_markers_of_calls_and_headers_must_be_told_apart_too(grammar: Node) -> None:
    with pytest.raises(DelimiterError):
        analyze(grammar)


def test_a_header_that_leads_nowhere_is_refused() -> None:
    with pytest.raises(GrammarError):
        analyze(b.header("|", start=("<",), fields={}))


def test_a_reference_to_no_rule_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UnknownRule) as caught:
        analyze("x" + b.ref("c") | b.rule("b", "b") + b.rule("a", "a"))
    assert str(caught.value) == "no rule 'c': in c; define it; known rules: a, b"
    with pytest.raises(UnknownRule, match="known rules: none"):
        analyze(b.ref("c"))
    with pytest.raises(UnknownRule, match="known rules: a"):
        analyze(b.rule("a", "(" + b.ref("c")))


@pytest.mark.parametrize(
    "item",
    [
        b.ref("r") + "a",
        b.optional("x") + b.ref("r"),
        b.sequence(b.zero_or_more("x"), b.negate("a"), b.commit(), b.ref("r")),
        b.peek("a") + b.ref("r"),
        b.peek(b.ref("r")) + "a",
        b.negate(b.ref("r")),
        b.choice("a", b.optional(b.ref("r")) + "b"),
        b.one_or_more(b.content(b.tag("t", b.ref("r")))),
        b.call(b.ref("r")),
        b.call("", close=b.ref("r")),
        b.ref("s") + b.optional("b" + b.rule("s", b.optional("a") + b.ref("r"))),
        "(" + b.optional(b.ref("r")) + ")" | b.rule("s", b.optional(b.rule("t", b.ref("s")))) + b.ref("t"),
    ],
)
def test_a_rule_that_starts_with_itself_is_refused(item: Node) -> None:
    with pytest.raises(LeftRecursion) as caught:
        analyze(b.rule("r", item))
    assert caught.value.problem == "a rule starts with itself"
    assert caught.value.fix == "let it read a character before it calls itself"


@pytest.mark.parametrize(
    "item",
    [
        "(" + b.optional(b.ref("r")) + ")",
        b.peek("a") + "a" + b.optional(b.ref("r")),
        b.choice("a", "(" + b.ref("s") + ")") + b.optional("b" + b.rule("s", b.ref("r"))),
        b.call("<", b.commit(), close=b.optional(b.ref("r"))),
        b.header("|", b.case(b.optional(b.ref("r"))), start=("<",), fields={}),
    ],
)
def test_a_rule_that_reads_something_before_it_calls_itself_is_fine(item: Node) -> None:
    analyze(b.rule("r", item))


@pytest.mark.parametrize("look", [b.peek, b.negate])
def test_a_lookahead_that_commits_is_refused(look) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(GrammarError) as caught:
        analyze(look("a" + b.commit()) + "a")
    assert caught.value.problem == "a lookahead can't commit"
    assert caught.value.fix == "move the commit() behind it"
    with pytest.raises(GrammarError, match="a lookahead can't commit"):
        analyze(look(b.ref("r")) + "a" + b.optional(b.rule("r", "a" + b.commit())))


# The bound holds


@hard
@given(GRAMMARS, TEXTS, cuts())
def test_no_grammar_holds_more_than_its_bound(grammar: Node, text: str, places: list[int]) -> None:
    program = program_of(Grammar(b.sequence(b.optional(b.peek(RULE)), grammar)))
    if program.hold_bound is None:
        program = program_of(Grammar(b.sequence(grammar, b.optional("." + RULE))))
    if program.hold_bound is None:
        return
    for pieces in (list(text), cut(text, places)):
        machine = Machine(program)
        for piece in pieces:
            machine.feed(piece)
            assert machine.held <= program.hold_bound
        machine.finish()
        assert machine.held == 0


COMMITTED = st.lists(GRAMMARS, min_size=1, max_size=3).map(
    lambda items: b.zero_or_more(b.choice(*(b.sequence(f"<{k}", b.commit(), item) for k, item in enumerate(items))))
)


@hard
@given(COMMITTED, st.lists(st.sampled_from(("<0", "<1", "<2")) | TEXTS, max_size=5).map("".join))
def test_what_follows_a_commit_counts_anew(grammar: Node, text: str) -> None:
    program = program_of(Grammar(grammar + b.optional("." + RULE)))
    if program.hold_bound is None:
        return
    machine = Machine(program)
    for char in text:
        machine.feed(char)
        assert machine.held <= program.hold_bound


@pytest.mark.parametrize("part", [b.key("k"), b.value("x")])
def test_keys_and_values_stand_among_members_perhaps_through_a_rule(part: Node) -> None:
    with pytest.raises(GrammarError, match=r"outside of all members: in .*; put it in argument_members"):
        analyze(b.call(b.name("f"), part))
    analyze(b.call(b.name("f"), b.argument_members(b.ref("r"))) | b.rule("r", part))
