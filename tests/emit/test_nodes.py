"""Rules of grammars against the machine that runs them, both ways."""

from __future__ import annotations

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.emit.generate import generate
from dragoman.emit.guarantees import Effect
from dragoman.emit.matcher import Matcher
from dragoman.emit.nodes import rules_of
from dragoman.errors import GrammarError
from dragoman.events import Malformed, Problem
from dragoman.grammar import build as b
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar, Node
from dragoman.grammar.program import program_of
from tests.grammar.made_up import GRAMMARS, RULE, TEXTS


def is_read(grammar: Node, text: str) -> bool:
    """Whether the machine reads all of it as it is meant."""
    machine = Machine(program_of(Grammar(grammar)))
    events = machine.feed(text) + machine.finish("stop")
    return not any(isinstance(event, (Problem, Malformed)) for event in events)


@settings(max_examples=max(100, settings().max_examples * 20))
@given(GRAMMARS, st.lists(TEXTS, min_size=4, max_size=8))
def test_what_a_machine_reads_satisfies_the_rules(grammar: Node, texts: list[str]) -> None:
    whole = b.sequence(b.optional(b.peek(RULE)), grammar)
    read = [text for text in texts if is_read(whole, text)]
    if not read:
        return
    rules, notes = rules_of(whole)
    if not any(note.effect is Effect.NARROWED for note in notes):
        matcher = Matcher(rules)
        assert [matcher.fault(text) for text in read] == [None] * len(read)


@settings(max_examples=max(100, settings().max_examples * 20))
@given(GRAMMARS, st.integers())
def test_where_no_note_says_otherwise_a_machine_reads_what_satisfies_the_rules(grammar: Node, seed: int) -> None:
    try:
        rules, notes = rules_of(b.sequence(grammar, b.optional("!", RULE)))
    except GrammarError:
        return
    if not any(note.effect is Effect.RELAXED for note in notes):
        for _ in range(4):
            text = generate(rules, Random(seed).randrange, size=30)
            assert is_read(b.sequence(grammar, b.optional("!", RULE)), text), text
