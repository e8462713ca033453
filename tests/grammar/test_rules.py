"""Grammars laid out for readers: nothing is lost, and what is repeated has a name."""

from __future__ import annotations

import re

from dragoman import get_dialect
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar
from dragoman.grammar.rules import WIDTH, grammar_text, laid_out, named_rules


def test_grammars_are_laid_out_without_losing_a_word() -> None:
    text = '"a" (content(until("b c", "| d")) | [|(]+ call(("x" ^) (y)))* | "' + "e" * 120 + '"'
    shown = laid_out(text, "  ")
    assert "".join(shown.split()) == "".join(text.split())
    assert max(map(len, shown.split("\n"))) < len(text)


def test_all_rules_are_used() -> None:
    for name in ("deepseek_v31", "hermes", "qwen3_coder"):
        rules = dict(named_rules(get_dialect(name).grammar))
        used = {word for body in rules.values() for word in re.findall(r"\b[a-z]+_?\d*\b", body)}
        assert {name for name in rules if name != "root" and " " not in name} <= used


def test_what_comes_twice_gets_a_name() -> None:
    twice = b.content(b.until("a delimiter that is rather long"))
    grammar = Grammar("x" + twice + b.choice("y" + twice, "z"))
    assert named_rules(grammar) == [
        ("root", '"x" text ("y" text | "z")'),
        ("text", 'content(until("a delimiter that is rather long"))'),
    ]


def test_layout_is_an_underscore() -> None:
    assert named_rules(Grammar("x" + b.space() + "y")) == [("root", '"x" _ "y"')]


def test_the_whole_has_a_rule_behind_the_other_with_its_entries() -> None:
    grammar = Grammar(b.literal("x"), (("inside", b.literal("y")),))
    assert grammar_text(grammar) == 'root ::=\n  "x"\n\nfrom inside ::=\n  "y"'


def test_lines_are_no_longer_than_a_page() -> None:
    grammar = Grammar(b.choice(*(b.literal(f"marker {k}") for k in range(40))))
    assert max(map(len, grammar_text(grammar).split("\n"))) <= WIDTH
