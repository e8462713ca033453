"""Raised text, and grammars whose markers are raised."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dragoman.events import ContentDelta, Markup, merge
from dragoman.grammar import build as b
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar
from dragoman.grammar.program import program_of
from dragoman.grammar.raised import has_raised, literals, lowered, raised, raised_grammar

CONTROL = re.compile(r"<\|end\|>|<think>")
TOKENS = ("<|end|>", "<think>")


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_raised_text_is_as_long_as_it_is_spelled_and_comes_down_again(text: str) -> None:
    assert len(raised(text)) == len(text)
    assert lowered(raised(text)) == text
    assert all(has_raised(char) for char in raised(text))


def test_no_text_that_can_be_encoded_is_raised() -> None:
    assert has_raised("".join(map(chr, (0, 0x7F, 0xD7FF, 0xE000, 0xFFFD, 0x10FFFF)))) is None


def read(grammar: Grammar, text: str) -> list[tuple[str, str]]:
    machine = Machine(program_of(grammar))
    events = merge(machine.feed(text) + machine.finish("stop"))
    return [(type(event).__name__, lowered(event.text)) for event in events if isinstance(event, Markup | ContentDelta)]


def test_a_raised_marker_is_matched_and_the_same_characters_are_text() -> None:
    end = b.special("<|end|>")
    grammar = Grammar(b.content(b.until("<|end|>")) + b.markup(end) + b.content(b.until()))
    up = raised_grammar(grammar, TOKENS, CONTROL)
    text = f"a<|end|>b{raised('<|end|>')}c<|end|>"
    assert read(grammar, text)[0] == ("ContentDelta", "a")
    assert read(up, text) == [("ContentDelta", "a<|end|>b"), ("Markup", "<|end|>"), ("ContentDelta", "c<|end|>")]


def test_code_does_not_quote_a_control_token() -> None:
    """In the midst of code too, and where another marker is text that code quotes."""
    body = b.zero_or_more(b.content(b.prose("<think>", "<x>")) | b.markup(b.choice("<think>", "<x>")))
    up = raised_grammar(Grammar(body), TOKENS, CONTROL)
    token = raised("<think>")
    for code in ("`a", "```py\nx", "```\n", "``"):
        assert read(up, f"{code}<x>{token}z") == [
            ("ContentDelta", f"{code}<x>"),
            ("Markup", "<think>"),
            ("ContentDelta", "z"),
        ]
    assert read(up, f"`a<x>`<x>{token}") == [("ContentDelta", "`a<x>`"), ("Markup", "<x><think>")]


def test_nothing_behind_a_control_token_makes_it_a_mention() -> None:
    opener = b.markup("<think>") + b.negate(b.one("'\"")) + b.content(b.until())
    grammar = Grammar(opener | b.content(b.until()))
    assert read(grammar, "<think>'x") == [("ContentDelta", "<think>'x")]
    up = raised_grammar(grammar, TOKENS, CONTROL)
    assert read(up, raised("<think>") + "'x") == [("Markup", "<think>"), ("ContentDelta", "'x")]


def test_what_leaves_characters_out_leaves_control_tokens_out() -> None:
    name = b.content(b.chars("^ ", 1, 20)) + b.markup(b.until())
    up = raised_grammar(Grammar(name), TOKENS, CONTROL)
    assert read(up, f"ab{raised('<think>')}") == [("ContentDelta", "ab"), ("Markup", "<think>")]


def test_the_literals_of_a_grammar_are_where_its_markers_are() -> None:
    grammar = Grammar(b.content(b.until("x", "y")) + "z" + b.choice("a", b.special("b")))
    assert sorted(literals(grammar)) == ["a", "b", "x", "y", "z"]
