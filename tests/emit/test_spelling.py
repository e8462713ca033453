"""Strings as forms write them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.forms import JSON, PYTHON, bare_form
from dragoman.emit.matcher import matches
from dragoman.emit.patterns import pattern
from dragoman.emit.rules import Expr, Rules, Text
from dragoman.emit.spelling import REMEMBERED, Spelling, spelled

MARKED = bare_form('<|"|>')


def passes(expr: Expr | None, text: str) -> bool:
    return expr is not None and matches(Rules({"root": expr}), text)


@given(st.text(max_size=6))
def test_a_literal_is_written_as_json_dumps_writes_it(text: str) -> None:
    literal = Spelling(JSON).literal(text)
    assert passes(literal, json.dumps(text))
    assert passes(literal, json.dumps(text, ensure_ascii=False))
    assert passes(Spelling(JSON).string, json.dumps(text))


def test_a_form_has_its_own_quotes_and_escapes() -> None:
    assert Spelling(PYTHON).literal("it's \"\n\x01") == Text("'it\\'s \"\\n\\u0001'")
    literal = Spelling(MARKED).literal("it's \"\n")
    assert passes(literal, '<|"|>it\'s "\n<|"|>')
    assert Spelling(MARKED).literal('a<|"|>b') is None
    assert passes(Spelling(MARKED).string, '<|"|>a"<|"<|"|>')
    assert not passes(Spelling(MARKED).string, '<|"|><|"|><|"|>')


def test_a_key_is_bare_where_the_form_and_its_characters_allow_it() -> None:
    assert Spelling(MARKED).key("a.b-$1é") == Text("a.b-$1é")
    assert passes(Spelling(MARKED).key("a b"), '<|"|>a b<|"|>')
    assert Spelling(JSON).key("a") == Text('"a"')
    assert passes(Spelling(MARKED).any_key, "a-b")


@pytest.mark.parametrize("form", [JSON, MARKED])
@given(names=st.sets(st.text(st.sampled_from("ab1"), max_size=3)), key=st.text(st.sampled_from("ab1"), max_size=4))
def test_another_key_is_none_of_those(form: object, names: set[str], key: str) -> None:
    written = key if form is MARKED else json.dumps(key)
    other = Spelling(MARKED if form is MARKED else JSON).other_key(names)
    assert passes(other, written) == (key not in names and (key != "" or form is JSON))


@given(st.text(st.sampled_from('</>ab"\\'), max_size=12))
def test_a_string_holds_no_closer(text: str) -> None:
    closers = ("</ab", "</b>")
    written = json.dumps(text)
    spelling = Spelling(JSON, closers)
    free = not any(closer in written for closer in closers)
    assert passes(spelling.string, written) == free
    literal = spelling.literal(text)
    assert passes(literal, written) == (free and not any(closer in text for closer in closers))
    assert passes(literal, written if free else written.replace("<", "\\u003c"))


def test_a_closer_with_a_quote_in_it_is_broken_before_that() -> None:
    assert passes(Spelling(JSON, ('</"',)).string, '"<\\"<a/"')
    assert not passes(Spelling(JSON, ('</"',)).string, '"</"')
    assert not passes(Spelling(JSON, ('<"',)).string, '"<"')


def test_many_patterns_may_be_spelled() -> None:
    spelling = Spelling(JSON)
    for k in range(REMEMBERED + 1):
        assert spelling.texts(Text(f"{k}")) is spelling.texts(Text(f"{k}"))


def test_the_characters_of_a_pattern_get_their_escapes() -> None:
    texts = Spelling(JSON).texts
    assert passes(texts(pattern('^["\\\\\\n]*$')), '"\\"\\\\\\n"')
    assert passes(texts(pattern("^[^a]$")), '"\\t"')
    assert not passes(texts(pattern("^[^a]$")), '"a"')
    assert passes(texts(pattern(r"^\x01$")), '"\\u0001"')
    assert passes(texts(pattern(r"^[\0-\x02]$")), '"\\u0002"')
    assert passes(Spelling(JSON, ("<",)).texts(pattern("^<$")), '"\\u003c"')


def test_without_strings_the_banned_characters_are_left_out() -> None:
    assert spelled(pattern("^<$"), None, "<") is None
    assert spelled(pattern("^[<]$"), None, "<") is None
    assert spelled(pattern("^[<]*$"), None, "<") == spelled(pattern("^$"), None, "<")
    assert spelled(pattern("^a[<]$"), None, "<") is None
    assert spelled(pattern("^(<|a)$"), None, "<") == Text("a")
    assert spelled(pattern("^<{2}$"), None, "<") is None
    assert spelled(pattern("^<b>$"), None, "<", closers=("</x>",)) == Text("<b>")
    assert spelled(pattern("^a</$"), None, "<", closers=("</x>",)) is None
