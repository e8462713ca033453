"""The machine against the oracle: any grammar, any input, any chunking."""

from __future__ import annotations

from itertools import groupby

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import ParserFinished
from dragoman.events import Event, Markup, Problem, ProblemKind, TagDelta, TagEnd, merge
from dragoman.grammar import build as b
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar, Node
from dragoman.grammar.program import program_of
from tests.grammar.made_up import GRAMMARS, RULE, TEXTS
from tests.grammar.reference import Tags, match


def run(grammar: Node, *chunks: str) -> list[Event]:
    machine = Machine(program_of(Grammar(grammar)))
    events = [event for chunk in chunks for event in machine.feed(chunk)]
    return merge(events + machine.finish())


def tags_of(events: list[Event]) -> Tags:
    pieces = [
        (event.tag, event.text if isinstance(event, TagDelta) else "\0")
        for event in events
        if isinstance(event, (TagDelta, TagEnd))
    ]
    return joined(tuple(pieces))


def joined(tags: Tags) -> Tags:
    groups = groupby(tags, key=lambda piece: (piece[0], piece[1] == "\0"))
    return tuple(
        (tag, "\0" * len(found) if end else "".join(found))
        for (tag, end), run_ in groups
        for found in [[t for _, t in run_]]
    )


@settings(max_examples=max(100, settings().max_examples * 20))
@given(GRAMMARS, TEXTS, st.randoms(use_true_random=False))
def test_any_grammar_reads_as_the_oracle_does_however_the_input_is_cut(grammar: Node, text: str, random) -> None:  # type: ignore[no-untyped-def]
    whole = b.sequence(b.optional(b.peek(RULE)), grammar)
    outcome = match(whole, text, 0, {"r": RULE.item})
    events = run(whole, text)
    cuts = sorted(random.randint(0, len(text)) for _ in range(3))
    pieces = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert run(whole, *text) == events
    assert run(whole, *pieces) == events
    problems = [event for event in events if isinstance(event, Problem)]
    if outcome is None:
        assert [problem.kind for problem in problems] in ([ProblemKind.MALFORMED], [ProblemKind.INCOMPLETE])
    elif outcome[0] < len(text):
        # What comes after a grammar may show as a fault in its last repetition, which would have to end before it.
        assert len(problems) == 1
    else:
        assert not problems
        assert tags_of(events) == joined(outcome[1])


@settings(max_examples=max(100, settings().max_examples * 20))
@given(GRAMMARS, TEXTS, st.integers(0, 20))
def test_what_is_published_of_a_prefix_does_not_depend_on_how_it_was_cut(grammar: Node, text: str, cut: int) -> None:
    program = program_of(Grammar(b.sequence(b.optional(b.peek(RULE)), grammar)))
    whole, single = Machine(program), Machine(program)
    early = whole.feed(text[:cut])
    assert merge(event for char in text[:cut] for event in single.feed(char)) == merge(early)
    assert merge(early + whole.feed(text[cut:]) + whole.finish()) == run(
        b.sequence(b.optional(b.peek(RULE)), grammar), text
    )


@given(GRAMMARS, TEXTS)
def test_spans_tile_the_input_of_any_grammar(grammar: Node, text: str) -> None:
    events = run(b.sequence(b.optional(b.peek(RULE)), grammar), *text)
    assert "".join(event.text for event in events if hasattr(event, "text")) == text


def test_an_early_branch_that_waits_does_not_hide_a_later_one() -> None:
    grammar = b.tag("t", "get" + b.peek("(") | b.literal("get_weather")) + "("
    assert tags_of(run(grammar, *"get_weather(")) == (("t", "get_weather"), ("t", "\0"))


def test_nested_choices_do_not_cost_exponentially() -> None:
    e = b.rule("e", "(" + b.ref("e") + ")x" | "(" + b.ref("e") + ")" | "1")
    depth = 200
    machine = Machine(program_of(Grammar(e)))
    text = "(" * depth + "1" + ")" * depth
    for char in text:
        machine.feed(char)
    assert not [event for event in machine.finish() if isinstance(event, Problem)]
    assert len(machine.memo) <= 4 * depth


def test_recursion_is_on_the_machines_own_stack() -> None:
    nested = b.rule("n", "[" + b.optional(b.ref("n")) + "]")
    depth = 20_000
    assert run(nested, "[" * depth + "]" * depth) == [Markup("[" * depth + "]" * depth, 0, 2 * depth)]


def test_a_copy_goes_its_own_way() -> None:
    machine = Machine(program_of(Grammar(b.tag("a", b.until("<a>")) + "<a>" + b.tag("b", b.until()))))
    machine.feed("one <")
    other = machine.copy()
    assert merge(machine.feed("a> two") + machine.finish()) == [
        TagEnd("a", 4, 4),
        Markup("<a>", 4, 7),
        TagDelta("b", " two", 7, 11),
        TagEnd("b", 11, 11),
    ]
    assert other.feed("b") == [TagDelta("a", "<b", 4, 6)]


def test_it_says_what_may_come_next() -> None:
    machine = Machine(program_of(Grammar("a" + (b.literal("b") | "cd") + b.end())))
    assert machine.accepts() == {"'a'"}
    machine.feed("a")
    assert machine.accepts() == {"'b'", "'cd'"}
    machine.feed("c")
    assert machine.accepts() == {"'cd'"}
    machine.feed("d")
    assert machine.accepts() == {"end"}


def test_text_after_finish_is_refused() -> None:
    machine = Machine(program_of(Grammar(b.until())))
    machine.feed("x")
    machine.finish()
    with pytest.raises(ParserFinished, match="make a new one"):
        machine.feed("y")
    with pytest.raises(ParserFinished):
        machine.finish()
