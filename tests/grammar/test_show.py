"""A grammar as EBNF: one line for each kind of node, which says what it is and nothing that is not printable."""

from __future__ import annotations

import pytest

from dragoman import Dialect
from dragoman.events import ProblemKind
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Case, Chars, Grammar, Node
from dragoman.grammar.show import ebnf, ebnf_node
from tests.kinds import ALL

AB = b.literal("a") | "b"


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (b.literal('a"\n\t\r\\'), r'"a\"\n\t\r\\"'),
        (b.special("<|end|>"), 'special("<|end|>")'),
        (b.any(), "."),
        (b.one("a-z"), "[a-z]"),
        (b.chars("^\n>"), r"[^\n>]+"),
        (b.chars("a", 0), "[a]*"),
        (b.chars("a", 0, 1), "[a]?"),
        (b.chars("a", 2), "[a]{2,}"),
        (b.chars("a", 2, 2), "[a]{2}"),
        (b.chars("a", 2, 3), "[a]{2,3}"),
        (b.sequence(), '""'),
        (b.choice(), '!""'),
        ("a" + AB + "c", '"a" ("a" | "b") "c"'),
        (b.literal("a") << "b", r'"a" [ \t\r\n]{0,64} "b"'),
        ("x" | "a" + b.literal("b"), '"x" | "a" "b"'),
        (b.optional("a"), '"a"?'),
        (b.zero_or_more("a", "b"), '("a" "b")*'),
        (b.one_or_more(AB), '("a" | "b")+'),
        (b.repeat(AB, 2, 4), '("a" | "b"){2,4}'),
        (b.zero_or_more(b.sequence(AB)), '("a" | "b")*'),
        (b.zero_or_more(b.one_or_more("a")), '("a"+)*'),
        (b.zero_or_more(b.chars("a", 2, 3)), "([a]{2,3})*"),
        (b.peek(AB) + "a", '&("a" | "b") "a"'),
        (~b.literal("a"), '!"a"'),
        (b.peek(b.optional("a")), '&"a"?'),
        (b.optional(b.peek("a")), '(&"a")?'),
        (b.until("</a>", "\n"), r'until("</a>", "\n")'),
        (b.until("x", low=1), 'until1("x")'),
        (b.until("x", then=("y", "z")), 'until("x" then "y" | "z")'),
        (b.json(), "json"),
        (b.json_string(), "json_string"),
        (b.quoted_json(), "quoted_json"),
        (b.rule("r", "a"), "r"),
        (b.ref("r"), "r"),
        (b.end(), "end"),
        (b.commit(), "^"),
        (b.markup("a", "b") + "c", '("a" "b") "c"'),
        (b.content("a"), 'content("a")'),
        (b.content("a", channel="commentary"), 'content@commentary("a")'),
        (b.reasoning("a", "b"), 'reasoning("a" "b")'),
        (b.malformed(b.until()), "malformed(until())"),
        (b.tag("answer", "a"), 'answer("a")'),
        (b.name("f"), 'name("f")'),
        (b.begin(b.call_id("7"), b.field_name("f")), 'begin(id("7") name("f"))'),
        (b.begin(), 'begin("")'),
        (b.key("k"), 'key("k")'),
        (b.arguments(b.json()), "arguments(json)"),
        (b.argument_members(b.value("x")), 'arguments(value(until("x")))'),
        (b.value("x", kinds=("string", "null")), 'value@string|null(until("x"))'),
        (b.call("a", b.commit(), close=b.optional("b")), 'call(("a" ^) "b"?)'),
        (b.stop("<|a|>", "<|b|>"), 'stop(special("<|a|>") | special("<|b|>"))'),
        (b.report(ProblemKind.ORPHAN_MARKER, "a"), 'problem-orphan_marker("a")'),
        (b.schema("a", "{}") + b.trigger("b") + b.gate("g", "c"), '"a" "b" "c"'),
        (
            b.header("|", b.case("a", to="f.*", on=".+"), b.case("b"), start=("<",), fields={}),
            'header("|": to=/f.*/ on=/.+/ -> "a"; else -> "b")',
        ),
    ],
)
def test_a_node_is_shown_as(node: Node, text: str) -> None:
    assert ebnf_node(node) == text


def test_a_grammar_is_shown_with_its_entries_and_rules_one_a_line() -> None:
    nested = b.rule("nested", "(" + b.optional(b.ref("nested")) + ")")
    assert ebnf(Grammar("x" + nested, (("inside", b.ref("nested") + "y"),))).splitlines() == [
        'root ::= "x" nested',
        'inside ::= nested "y"   (* entry *)',
        'nested ::= "(" nested? ")"',
    ]


def test_a_node_alone_is_a_grammar_too() -> None:
    assert ebnf(b.literal("a")) == 'root ::= "a"'


def test_a_long_node_is_cut() -> None:
    assert ebnf_node(b.literal("a" * 20), limit=10) == '"aaaaaaaa…'


def test_what_is_no_node_is_refused() -> None:
    with pytest.raises(TypeError, match="not a node"):
        ebnf_node(Case((), Chars("a")))  # type: ignore[arg-type]


@ALL
def test_every_dialects_grammar_can_be_printed(dialect: Dialect) -> None:
    lines = ebnf(dialect.grammar).splitlines()
    assert [line for line in lines if not line.isprintable() or "::= " not in line] == []


def test_characters_that_cannot_be_printed_are_shown_as_escapes() -> None:
    shown = ebnf_node(b.literal("\x00\x1b\u202e") + b.chars("\x01-\x1f") + b.content("a", channel="\x07"))
    assert shown.isprintable()
