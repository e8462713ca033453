from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.expand import expand
from dragoman.emit.guarantees import Effect
from dragoman.emit.repeats import bounded
from dragoman.emit.rules import EMPTY, AnyOrder, Ref, Rules, Scan, Text, chars, sequence
from dragoman.grammar.prose import in_code

from .meaning import accepts, first_word
from .some_rules import LETTERS, rule_sets, scans, sentences, texts


def root(*items: object) -> Rules:
    return Rules({"root": sequence(*items)})  # type: ignore[arg-type]


@given(st.data(), scans(texts), st.text(LETTERS, max_size=9))
def test_text_ends_at_the_first_word(data: st.DataObject, scan: Scan, text: str) -> None:
    rules = root(scan)
    plain, notes = expand(rules)
    assert not notes
    for each in (text, data.draw(sentences(rules))):
        assert accepts(plain, each) == accepts(rules, each)


@pytest.mark.parametrize(
    ("closer", "text", "whole"),
    [
        ("\n</p>\n", "a\n</p>\n", True),
        ("\n</p>\n", "a\n</p>\n</p>\n", False),  # a word that begins as it ends
        ("\n</p>\n", "a\n</p\n</p>\n", True),
        ("</p>", "a</p", False),
        ("</p>", "<</p>", True),
    ],
)
def test_a_word_that_begins_as_it_ends_closes_once(closer: str, text: str, whole: bool) -> None:
    assert accepts(expand(root(Scan(((closer, EMPTY),))))[0], text) == whole


def test_of_two_words_that_end_at_once_the_longer_counts() -> None:
    plain, _ = expand(root(Scan((("</t>", Text("1")), ("\n</t>", Text("2")), ("#", None)), open=True)))
    assert [text for text in ("a</t>1", "a\n</t>1", "a\n</t>2", "a#", "a") if accepts(plain, text)] == [
        "a</t>1", "a\n</t>2", "a",
    ]  # fmt: skip


def test_equal_texts_share_their_states() -> None:
    first, second = (Scan((("</p>", Text(end)),)) for end in "xy")
    plain, _ = expand(root(first, "-", second))
    assert sorted(plain.rules) == ["root", "to-p", "to-p-1", "to-p-2", "to-p-3"]


PIECES = ["`", "`", "``", "```", "````", "`````", "\n", "\n", "a", "<t>", "<t>", "<", "\n<t>", "</a>"]
TICKED = st.lists(st.sampled_from(PIECES), max_size=14)
WORD_SETS = st.sampled_from([("<t>",), ("<t>", "</a>"), ("\n<t>", "<t>")])


@given(WORD_SETS, TICKED, st.booleans())
def test_in_code_no_word_ends_the_text(given_words: tuple[str, ...], parts: list[str], is_open: bool) -> None:
    text = "".join(parts)
    plain, notes = expand(root(Scan(tuple((word, EMPTY) for word in given_words), is_open, code=True)))
    assert [note.effect for note in notes] == [Effect.NARROWED]
    found = first_word(list(given_words), text, code=True)
    whole = found == (len(text), found[1]) if found else is_open
    assert accepts(plain, text) == (whole and not _opens_too_wide(text))


def _opens_too_wide(text: str) -> bool:
    """Whether more than four backticks stand where they would open code; elsewhere, any number is fine."""
    return any(text.startswith("`````", k) and not in_code(text[:k].rstrip("`")) for k in range(len(text)))


@given(st.data(), rule_sets())
def test_rules_mean_the_same_when_they_are_plain(data: st.DataObject, rules: Rules) -> None:
    plain, notes = expand(rules)
    assert not notes
    assert not any(isinstance(part, Scan | AnyOrder) for part in plain.walk())
    text = data.draw(sentences(rules))
    assert accepts(plain, text) == accepts(bounded(plain), text) == accepts(rules, text)


def test_names_that_were_there_are_kept() -> None:
    rules = Rules({"start": sequence(Ref("to-p"), Scan((("</p>", EMPTY),))), "to-p": chars("x")}, "start")
    plain, _ = expand(rules)
    assert next(iter(plain.rules)) == "start"
    assert plain.rules["to-p"] == chars("x")
    assert accepts(plain, "x..</p>")


def test_text_without_words_ends_anywhere() -> None:
    assert accepts(expand(root(Scan((), open=True)))[0], "anything")
