"""The words of a grammar, and what is refused at once."""

from __future__ import annotations

import pytest

from dragoman.errors import GrammarError
from dragoman.grammar import build as b
from dragoman.grammar.nodes import (
    LAYOUT,
    Chars,
    Choice,
    Grammar,
    Label,
    Literal,
    Meaning,
    Negate,
    Node,
    Repeat,
    Sequence,
    Until,
)

A, B, C = Literal("a"), Literal("b"), Literal("c")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (A + "b", Sequence((A, B))),
        ("a" + B, Sequence((A, B))),
        (A + B + "c", Sequence((A, B, C))),
        ("a" + (B + C), Sequence((A, B, C))),
        (A | "b", Choice((A, B))),
        ("a" | B, Choice((A, B))),
        (A | B | C, Choice((A, B, C))),
        ("a" | (B | C), Choice((A, B, C))),
        ("a" + B | "c", Choice((Sequence((A, B)), C))),
        (A << "b", Sequence((A, LAYOUT, B))),
        ("a" << B, Sequence((A, LAYOUT, B))),
        ("a" << (B + C), Sequence((A, LAYOUT, B, C))),
        (~A, Negate(A)),
        (b.sequence("a", B), Sequence((A, B))),
        (b.optional("a"), Repeat(A, 0, 1)),
        (b.optional("a", "b"), Repeat(Sequence((A, B)), 0, 1)),
        (b.optional(), Repeat(Sequence(()), 0, 1)),
        (b.repeat("a", 2, 3), Repeat(A, 2, 3)),
        (b.space(), LAYOUT),
        (b.space(3), Label(Chars(r" \t\r\n", 0, 3), Meaning.MARKUP)),
        (b.until("x", then=("y",)), Until(("x",), 0, ("y",), 64)),
        (b.until("x", gap=3), Until(("x",), 0, (), 0)),
    ],
)
def test_a_grammar_is_the_value_that_its_words_mean(written: Node, meant: Node) -> None:
    assert written == meant
    assert hash(written) == hash(meant)


def test_markers_are_framed_by_the_newline_that_templates_write() -> None:
    assert b.framed("<a>", "<b>") == ("\n<a>", "<a>", "\n<b>", "<b>")


@pytest.mark.parametrize("cls", ["", "z-a", "\\", "a]b"])
def test_what_is_no_class_is_refused(cls: str) -> None:
    with pytest.raises(GrammarError) as caught:
        b.chars(cls)
    assert caught.value.node == f"chars({cls!r})"
    assert caught.value.fix == "write it as in [..]"


@pytest.mark.parametrize("cls", ["]", "^]", "&&", "a-"])
def test_what_looks_like_a_class_of_another_language_is_taken_for_characters(cls: str) -> None:
    assert b.chars(cls) == Chars(cls, 1, None)


@pytest.mark.parametrize(("low", "high"), [(-1, None), (-1, 2), (3, 2), (0, 0)])
def test_bounds_that_nothing_can_satisfy_are_refused(low: int, high: int | None) -> None:
    with pytest.raises(GrammarError) as caught:
        b.chars("a", low, high)
    assert str(caught.value) == f"impossible bounds: in chars('a', {low}, {high}); give 0 <= low <= high"
    with pytest.raises(GrammarError) as caught:
        b.repeat("a", low, high)
    assert str(caught.value) == f"impossible bounds: in repeat(.., {low}, {high}); give 0 <= low <= high"


def test_a_control_token_needs_a_spelling() -> None:
    with pytest.raises(GrammarError, match="a control token needs characters"):
        b.special("")


def test_a_grammar_is_walked_parents_first_with_all_its_entries() -> None:
    inner = b.content("b")
    grammar = Grammar("a" + inner, (("other", b.ref("c")),))
    assert list(grammar.walk()) == [grammar.root, A, inner, B, b.ref("c")]


def test_the_first_definition_of_a_rule_counts() -> None:
    grammar = Grammar(b.rule("r", "a") + b.rule("r", "b"), (("other", b.rule("s", "c")),))
    assert grammar.rules() == {"r": A, "s": C}
