"""Rules in xgrammar's own EBNF: what is written, and that xgrammar reads it as the rules are meant."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dragoman.emit.ebnf import xgrammar_ebnf
from dragoman.emit.expand import expand
from dragoman.emit.gbnf import gbnf
from dragoman.emit.guarantees import Effect
from dragoman.emit.rules import (
    EMPTY,
    AnyOrder,
    Expr,
    Lexeme,
    Member,
    Ref,
    Repeat,
    Rules,
    Scan,
    Text,
    chars,
    choice,
    sequence,
)

from .meaning import accepts
from .some_rules import rule_sets, sentences
from .xgrammar_harness import VOCABULARIES, vocabulary


def written(root: Expr, **others: Expr) -> str:
    return xgrammar_ebnf(Rules({"root": root, **others}))[0]


def test_text_that_may_end_before_its_words_is_dispatched() -> None:
    prose = Scan((("<call>", sequence("x", Ref("root"))), ("<end>", EMPTY), ("</call>", None)), open=True)
    assert written(prose) == (
        "root ::= to-call\n"
        'to-call ::= TagDispatch(("<call>", root-then), ("<end>", root-then-1), loop_after_dispatch=false, '
        'excludes=("</call>"))\n'
        'root-then ::= "x" root\n'
        'root-then-1 ::= ""\n'
    )


def test_text_up_to_a_word_is_read_lazily_and_shared() -> None:
    think = Scan((("</think>\n", Text("a")),))
    assert written(sequence(think, Scan((("</think>\n", Text("b")),)))) == (
        'root ::= to-think "a" to-think "b"\nto-think[lazy] ::= [^]* "</think>\\n"\n'
    )


def test_text_up_to_several_words_that_go_on_alike_is_read_lazily() -> None:
    assert written(Scan((("\n[/x]", EMPTY), ('"|', EMPTY)))) == (
        'root ::= to-x\nto-x[lazy] ::= Regex("(.|\\\\n)*(\\n\\\\[\\\\/x\\\\]|\\"\\\\|)")\n'
    )


def test_text_up_to_words_that_overlap_nothing_is_text_without_them() -> None:
    thought = Scan((("<think>", None), ("</think>", Text("a")), ("<call>", Ref("root"))))
    assert written(thought) == (
        'root ::= before-think ("</think>a" | "<call>" root)\n'
        'before-think ::= TagDispatch(loop_after_dispatch=false, excludes=("<think>", "</think>", "<call>"))\n'
    )


@pytest.mark.parametrize(
    "scan",
    [
        Scan((("ab", Text("x")), ("ba", Text("y")))),
        Scan((("ab", Text("x")), ("ba", None))),
        Scan((("aabb", Text("x")), ("ab", Text("y"))), open=True),
        Scan((("ab", Text("x")), ("b", None)), open=True),
        Scan((("ab", Text("x")),), code=True),
    ],
)
def test_text_that_xgrammar_has_no_form_for_becomes_plain_rules(scan: Scan) -> None:
    rules = Rules({"root": scan})
    assert xgrammar_ebnf(rules)[0] == gbnf(expand(rules)[0])


def test_prose_is_left_for_code_at_a_backtick_and_comes_back_behind_it() -> None:
    text, notes = xgrammar_ebnf(Rules({"root": Scan((("<a>", Text("x")), ("<b>", None)), open=True, code=True)}))
    assert 'to-a ::= TagDispatch(("<a>", root-then), ("`", to-a-opening-1), loop_after_dispatch=false' in text
    assert "to-a-closing-1-1 ::= " in text
    assert {note.what for note in notes} == {"code"}


def test_many_of_most_characters_get_a_budget_and_others_are_counted() -> None:
    some = chars('"', negated=True)
    assert written(sequence(Repeat(chars("0-9"), 2, 40), Repeat(some, 2, 6), Repeat(some, 1, 200))) == (
        'root ::= [0-9]{2,40} [^"]{2,6} [^"] root-most\nroot-most[max_chars=199] ::= [^"]*\n'
    )
    assert written(Repeat(some, 9, 20)) == 'root ::= [^"]{9} root-most\nroot-most[max_chars=11] ::= [^"]*\n'


def test_what_may_be_longer_than_a_character_gets_a_budget_and_a_note() -> None:
    item = choice(chars('"\\', negated=True), sequence("\\", chars('"\\n')))
    text, notes = xgrammar_ebnf(Rules({"root": Repeat(Ref("item"), 0, 20), "item": Lexeme(item)}))
    assert text == 'root ::= root-most\nroot-most[max_chars=20] ::= item*\nitem ::= [^"\\\\] | "\\\\" ["\\\\n]\n'
    assert [(note.effect, note.what, note.where) for note in notes] == [(Effect.NARROWED, "count", "root")]


@pytest.mark.parametrize("item", [Text("x" * 17), Repeat(Text("a")), Repeat(Text("a"), 0, 2), Ref("deep"), Ref("scan")])
def test_long_or_empty_items_are_counted(item: Expr) -> None:
    text = written(Repeat(item, 0, 20), deep=sequence("x", Ref("deep")), scan=Scan((("ab", EMPTY),)))
    assert "{0,20}" in text


def test_members_in_any_order_are_expanded_with_their_notes() -> None:
    members = tuple(Member(sequence(f"{k}", Scan(((";", EMPTY),)))) for k in range(8))
    text, notes = xgrammar_ebnf(Rules({"start": AnyOrder(members, Text(",")), "root": EMPTY}, "start"))
    assert text.startswith("root ::= ")
    assert [note.what for note in notes] == ["order"]


@pytest.mark.slow
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data(), rule_sets())
def test_xgrammar_reads_both_notations_as_the_rules_are_meant(data: st.DataObject, rules: Rules) -> None:
    engine = vocabulary("bytes")
    own, plain = engine.compile(xgrammar_ebnf(rules)[0]), engine.compile(gbnf(expand(rules)[0]))
    for _ in range(8):
        text = data.draw(sentences(rules))
        meant = accepts(rules, text)
        assert (own.accepts(text), plain.accepts(text)) == (meant, meant), text


def test_a_name_that_is_free_again_is_not_taken_for_what_had_it() -> None:
    unused = Scan((("a", Text("<")),))
    prefixed = Scan((("a", Text("<")), ("a<", None)), open=True)
    rules = Rules({"root": prefixed, "one": unused})
    assert xgrammar_ebnf(rules)[0] == gbnf(expand(Rules({"root": prefixed}))[0])


@pytest.mark.slow
@pytest.mark.parametrize("name", VOCABULARIES)
def test_samples_follow_the_rules_whatever_the_vocabulary(name: str) -> None:
    value = Scan((("\n</p>\n", EMPTY),))
    call = sequence("f(", Repeat(chars('")', negated=True), 2, 9), ")", value, Ref("root"))
    rules = Rules({"root": Scan((("<tool_call>", call), ("<think>", None)), open=True)})
    grammar, random = vocabulary(name).compile(xgrammar_ebnf(rules)[0]), Random(name)
    shape = re.compile(r'f\([^")]{2,9}\)(?s:.*?)\n</p>\n')
    calls = 0
    for _ in range(60 if name == "bytes" else 20):
        ids = grammar.sample(random, ("<tool_call>", "f(", ")", "\n</p>\n", "\n</p>", "<think>"), ())
        text = grammar.text(ids)
        before, *after = text.split("<tool_call>", 1)
        while after:
            calls += 1
            found = shape.match(after[0])
            assert found, text
            before, *after = after[0][found.end() :].split("<tool_call>", 1)
            assert "<think>" not in before, text
    assert calls > 5


@pytest.mark.slow
@given(st.text("ab<\\", max_size=8))
@settings(max_examples=200, deadline=None)
def test_a_budget_lets_no_more_through_than_the_count(text: str) -> None:
    item = choice(chars("<\\", negated=True), sequence("\\", chars("<\\")))
    rules = Rules({"root": sequence("", Repeat(item, 1, 6), "<")})
    if vocabulary("bytes").compile(xgrammar_ebnf(rules)[0]).accepts(text):
        assert accepts(rules, text)
    elif "\\" not in text:
        assert not accepts(rules, text)
