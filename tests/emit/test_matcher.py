"""The matcher against three plain readings: regular expressions, all spans of all parts, and `str.find`."""

from __future__ import annotations

import re
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.emit.expand import expand
from dragoman.emit.generate import generate
from dragoman.emit.matcher import Fault, Matcher, matches, prefix_of
from dragoman.emit.rules import (
    EMPTY,
    AnyOrder,
    Chars,
    Choice,
    Expr,
    Lexeme,
    Member,
    Ref,
    Repeat,
    Rules,
    Scan,
    Sequence,
    Text,
    chars,
    choice,
    sequence,
)
from tests.emit.grammars import ALPHABET, REGULAR, RULES, TEXTS, accepts, first_word


def rules(root: Expr, **others: Expr) -> Rules:
    return Rules({"root": root, **others})


def pattern(part: Expr) -> str:
    match part:
        case Text(text=text):
            return re.escape(text)
        case Chars(ranges=ranges, negated=negated):
            inside = "".join(f"{re.escape(chr(low))}-{re.escape(chr(high))}" for low, high in ranges)
            return f"[{'^' if negated else ''}{inside}]"
        case Sequence(items=items):
            return "".join(map(pattern, items))
        case Choice(items=items):
            return f"(?:{'|'.join(map(pattern, items))})"
        case Repeat(item=item, low=low, high=high):
            return f"(?:{pattern(item)}){{{low},{'' if high is None else high}}}"
        case Lexeme(item=item):
            return pattern(item)
    raise TypeError(part)


@settings(max_examples=settings().max_examples * 10)
@given(REGULAR, st.lists(TEXTS, min_size=1, max_size=8))
def test_regular_rules_match_what_the_regular_expression_matches(root: Expr, texts: list[str]) -> None:
    matcher, expression = Matcher(rules(root)), re.compile(pattern(root), re.DOTALL)
    for text in texts:
        assert matcher.matches(text) == (expression.fullmatch(text) is not None)


@settings(max_examples=settings().max_examples * 10)
@given(RULES, st.lists(TEXTS, min_size=1, max_size=4))
def test_any_rules_match_what_the_oracle_finds(some: Rules, texts: list[str]) -> None:
    matcher = Matcher(some)
    for text in texts:
        assert matcher.matches(text) == accepts(some, text)


@settings(max_examples=settings().max_examples * 2)
@given(RULES)
def test_short_sentences_have_their_beginnings_as_prefixes_and_no_fault(some: Rules) -> None:
    matcher = Matcher(some)
    sentences = ["".join(text) for size in range(4) for text in product(ALPHABET, repeat=size)]
    good = [text for text in sentences if matcher.matches(text)]
    for text in good:
        assert matcher.fault(text) is None
        assert all(matcher.prefix_of(text[:k]) == k for k in range(len(text) + 1))
    if good:
        assert matcher.prefix_of("") == 0


@settings(max_examples=settings().max_examples * 10)
@given(
    st.dictionaries(st.text("a<>", min_size=1, max_size=4), st.booleans(), min_size=1, max_size=3),
    st.booleans(),
    st.text("a<>x", max_size=12),
)
def test_a_scan_ends_where_find_finds_the_first_word(words: dict[str, bool], is_open: bool, text: str) -> None:
    # A "!" goes on from each word that may come, and stands in none of them.
    scan = Scan(tuple((word, Text("!") if may else None) for word, may in words.items()), is_open)
    found = first_word(tuple(words), text)
    matcher = Matcher(rules(scan))
    assert matcher.matches(text) == (is_open and found is None)
    ends = found is not None and found[1] == len(text) and list(words.values())[found[0]]
    assert matcher.matches(text + "!") == (ends or (is_open and found is None))


CODE = "`` ` <a> `` ```\n<a>\n``` "


def test_code_hides_words() -> None:
    scan = Scan((("<a>", EMPTY),), code=True)
    assert matches(rules(scan), CODE + "<a>")
    assert not matches(rules(scan), CODE)
    assert not matches(rules(Scan(scan.words)), CODE + "<a>")
    assert matches(rules(scan), "`a\n<a>")


def test_a_word_that_begins_with_a_line_end_ends_a_code_span() -> None:
    scan = rules(Scan((("\n<a>", EMPTY),), code=True))
    assert matches(scan, "`a\n<a>")
    assert not matches(scan, "```a\n<a>")


def test_the_longer_of_two_words_that_end_at_once_counts() -> None:
    scan = Scan((("b", Text("1")), ("ab", Text("2"))))
    assert matches(rules(scan), "ab2")
    assert not matches(rules(scan), "ab1")
    assert matches(rules(scan), "bb"[:1] + "1")


def test_members_stand_in_any_order_or_in_the_declared_one() -> None:
    members = (Member(Text("a")), Member(Text("b"), False), Member(Text("c")))
    free, fixed = (rules(AnyOrder(members, Text(","), Text("x"), declared)) for declared in (False, True))
    assert all(matches(free, text) for text in ("a,c", "c,a", "b,c,a", "x,c,x,a,x"))
    assert not any(matches(free, text) for text in ("", "a", "a,b", "a,a,c", "a,c,"))
    assert all(matches(fixed, text) for text in ("a,c", "a,b,c", "a,c,x,x"))
    assert not any(matches(fixed, text) for text in ("c,a", "b,a,c", "x,a,c", "a,c,b"))


@pytest.mark.parametrize(
    "lists",
    [
        choice(sequence(Ref("root"), "a"), EMPTY),
        choice(sequence("a", Ref("root")), EMPTY),
        choice(sequence(Ref("root"), Ref("root")), "a", EMPTY),
        sequence(Repeat(Ref("a"), 0, None), Ref("empty")),
    ],
)
def test_recursion_on_any_side_and_through_nothing_ends(lists: Expr) -> None:
    some = rules(lists, a=Text("a"), empty=choice(EMPTY, Ref("empty")))
    assert all(matches(some, "a" * size) for size in range(9))
    assert not matches(some, "aab")


def test_what_can_never_end_is_no_beginning() -> None:
    endless = sequence("a", Ref("endless"))
    some = rules(choice("ab", sequence("ac", Ref("endless"))), endless=endless)
    assert prefix_of(some, "aca") == 1
    assert Matcher(some).fault("aca") == Fault(1, ("'b'",))
    assert prefix_of(rules(Ref("endless"), endless=endless), "") == -1


def test_behind_the_last_member_nothing_stands_between() -> None:
    assert prefix_of(rules(AnyOrder((Member(Text("a")),), Text(","))), "a,") == 1


def test_a_fault_says_where_and_what_could_have_come() -> None:
    call = sequence("<call>", chars("a-z"), Repeat(chars("a-z_"), 0, None), Ref("close"))
    matcher = Matcher(rules(Scan((("<t>", call),), open=True), close=Text("</call>")))
    assert str(matcher.fault("x <t><call>get_1")) == "at 15: expected '</call>' or [_a-z]"
    assert matcher.fault("x <t><call>g</call>") is None
    assert matcher.fault("x <t><call>g</call>!") == Fault(19, ("end",))
    assert Matcher(rules(Scan((("<t>", EMPTY),)))).fault("x") == Fault(1, ("text up to '<t>'",))


def test_a_list_that_is_written_as_a_rule_keeps_nothing_for_each_of_its_items() -> None:
    word = choice(EMPTY, sequence(chars("<", negated=True), Ref("root")), sequence("<", Ref("more")))
    more = choice(EMPTY, sequence(chars("a", negated=True), Ref("root")))
    matcher = Matcher(rules(word, more=more))
    _, items = matcher._read("some <text" * 100)
    assert len(list(items)) == 1
    assert all(len(call.lasting()) == 1 for _, call, _ in items)


@settings(max_examples=settings().max_examples * 10)
@given(RULES, st.integers(), TEXTS)
def test_expanded_rules_match_what_the_rules_do(some: Rules, seed: int, text: str) -> None:
    plain, notes = expand(some)
    if notes:
        return
    matcher, other = Matcher(some), Matcher(plain)
    assert other.prefix_of(text) == matcher.prefix_of(text)
    if matcher.prefix_of("") == 0:
        random = Random(seed)
        for _ in range(4):
            good = generate(some, random.randrange, size=40)
            assert other.fault(good) is None
            at = random.randint(0, len(good))
            bad = good[:at] + random.choice(ALPHABET) + good[at + random.randint(0, 1) :]
            assert other.matches(bad) == matcher.matches(bad)


def test_a_foreign_part_is_refused() -> None:
    class Foreign(Expr, frozen=True):
        pass

    with pytest.raises(TypeError, match="not a part of a rule"):
        Matcher(rules(Foreign()))
    with pytest.raises(TypeError, match="not a part of a rule"):
        generate(rules(Foreign()), Random(0).randrange)
