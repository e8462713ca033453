"""What is said of a dialect: its words, facts and recoveries, from the dialect and its cases alone."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from dragoman import Dialect, Tool, get_dialect
from dragoman.cli.looks import LOOKS
from dragoman.cli.sheet import (
    Fact,
    Paragraph,
    by_kind,
    facts,
    matching,
    on_line,
    paragraphs,
    recoveries,
    signature,
    suite_beside,
)
from dragoman.cli.spans import example_spans
from dragoman.conformance import Case, Suite
from dragoman.types import TextPart, UnparsedToolCall

HERMES = get_dialect("hermes")


def named(name: str, **changes: object) -> Dialect:
    return replace(HERMES, name=name, aliases=(), shared=(), models=(), **changes)


def test_the_layout_is_no_paragraph_if_the_first_example_is_the_same() -> None:
    text = HERMES.examples[0].text
    indented = "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
    doc = f"Title.\n\n{indented}\n\nSome words\non two lines.\n\n    another block\n\n    of two\n"
    words = Paragraph("Some words on two lines.", literal=False)
    block = Paragraph("another block\n\nof two", literal=True)
    assert paragraphs(named("x", doc=doc)) == [words, block]
    assert paragraphs(named("x", doc=doc, examples=())) == [Paragraph(text, literal=True), words, block]


def test_facts_that_there_are_none_of_are_left_out() -> None:
    assert "models" in {fact.title for fact in facts(HERMES)}
    assert "models" not in {fact.title for fact in facts(named("x"))}
    assert Fact("prompts end with", ("a\\n",)) in facts(named("x", turns=("a\n",)))


def test_dialects_stand_by_kind_the_most_first_and_the_unknown_last() -> None:
    some = [named("a", kind=""), named("b", kind="y"), named("c", kind="x"), named("d", kind="y"), named("e", kind="")]
    some += [named("f", kind="")]
    assert {kind: [each.name for each in group] for kind, group in by_kind(some).items()} == {
        "y": ["b", "d"],
        "x": ["c"],
        "others": ["a", "e", "f"],
    }
    assert list(by_kind(some)) == ["y", "x", "others"]


@pytest.mark.parametrize("word", ["ALPH", "greek", "letters", "acme/A", "Acme/a-7b"])
def test_a_word_matches_names_and_models(word: str) -> None:
    alpha = replace(named("alpha"), aliases=("greek_a",), shared=("letters",), models=("acme/A-*",))
    assert matching(word, [alpha, named("beta")]) == [alpha]


def test_recoveries_are_the_cases_with_problems_and_the_other_layouts() -> None:
    text = (TextPart("a"),)
    cases = (
        Case("stop_marker", "", "c", text, ("text_after_stop",)),
        Case("single_call", "", "x", text),
        Case("whitespace", "", "b\n\t", text, title="tabs", start="reasoning"),
        Case("whitespace", "", "y", text, fails="wrongly"),
        Case("truncated_call", "", "a", (UnparsedToolCall("<call>", "", "f"),), ("incomplete",)),
    )
    told = recoveries(Suite("x", "", cases, {}))
    assert [(case.heading, case.written, case.becomes, case.problems) for case in told] == [
        ("truncated call", "a", ("unparsed: f",), ("incomplete",)),
        ("whitespace: tabs (start: reasoning)", "b↵⇥", ("text: a",), ()),
        ("stop marker", "c", ("text: a",), ("text after stop",)),
    ]


def test_a_dialect_without_cases_has_none() -> None:
    assert suite_beside(named("no_such_dialect")) is None
    suite = suite_beside(HERMES)
    assert suite is not None
    assert len(suite.cases) > 20


def test_a_long_text_is_shown_without_its_middle() -> None:
    assert on_line("a" * 10, 10) == "a" * 10
    assert on_line("a" * 6 + "b" * 6, 10) == "aaaaa … bbbbb"


@pytest.mark.parametrize(
    ("tool", "shown"),
    [
        (Tool("f"), "f()"),
        (Tool("f", "", {"type": "object"}), "f()"),
        (Tool("f", "", {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}), "f(a: string, b?)"),
    ],
)
def test_a_tool_is_shown_as_a_signature(tool: Tool, shown: str) -> None:
    assert signature(tool) == shown


@pytest.mark.parametrize("name", ["harmony", "hermes", "k2_horizon", "mistral"])
def test_every_span_of_an_example_has_a_look(name: str) -> None:
    dialect = get_dialect(name)
    for example in dialect.examples:
        assert {span.kind for span in example_spans(dialect, example)} <= set(LOOKS)
