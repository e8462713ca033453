from __future__ import annotations

import pytest

from dragoman.emit.automaton import TICKS_LIMIT, State, Word, automaton


def test_a_state_knows_how_much_of_a_word_was_read() -> None:
    assert automaton(("aab",)) == {
        "0": State({"a": "1"}, "0"),
        "1": State({"a": "2"}, "0"),
        "2": State({"a": "2", "b": Word("aab")}, "0"),
    }


def test_what_lies_behind_the_end_of_a_shorter_word_is_left_out() -> None:
    assert automaton(("abc", "b")) == {
        "0": State({"a": "1", "b": Word("b")}, "0"),
        "1": State({"a": "1", "b": Word("b")}, "0"),
    }


def test_of_words_that_end_at_once_the_longest_counts() -> None:
    assert automaton(("ab", "b"))["1"].on["b"] == Word("ab")


def test_no_edge_leads_on_from_the_most_backticks() -> None:
    states = automaton(("<t>",), code=True)
    assert states[f"opening-{TICKS_LIMIT}"].on["`"] is None
    assert states["0"].on == {"<": "1", "`": "opening-1"}
    assert len(states) == 38


@pytest.mark.parametrize(("words", "code"), [(("",), False), (("a", ""), True), (("<`",), True)])
def test_a_word_is_not_empty_nor_holds_a_backtick_where_code_is_read(words: tuple[str, ...], code: bool) -> None:
    with pytest.raises(ValueError, match="text can't end at one of"):
        automaton(words, code)


def test_a_word_may_hold_a_backtick_elsewhere() -> None:
    assert automaton(("`",)) == {"0": State({"`": Word("`")}, "0")}
