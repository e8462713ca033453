"""Rules of grammars against the machine that runs them, both ways."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.emit.generate import generate
from dragoman.emit.guarantees import Effect
from dragoman.emit.matcher import Matcher
from dragoman.emit.nodes import rules_of
from dragoman.emit.rules import Scan, Text
from dragoman.errors import GrammarError
from dragoman.events import Malformed, Problem, ProblemKind
from dragoman.grammar import build as b
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar, Node
from dragoman.grammar.notation import PYTHON, bare_dict
from dragoman.grammar.program import program_of
from dragoman.registry import dialects, get_dialect
from tests.grammar.made_up import GRAMMARS, RULE, TEXTS


def is_read(grammar: Node, text: str) -> bool:
    """Whether the machine reads all of it as it is meant."""
    machine = Machine(program_of(Grammar(grammar)))
    events = machine.feed(text) + machine.finish("stop")
    return not any(isinstance(event, (Problem, Malformed)) for event in events)


@settings(max_examples=max(100, settings().max_examples * 20))
@given(GRAMMARS, st.lists(TEXTS, min_size=4, max_size=8))
def test_what_a_machine_reads_satisfies_the_rules(grammar: Node, texts: list[str]) -> None:
    whole = b.sequence(b.optional(b.peek(RULE)), grammar)
    read = [text for text in texts if is_read(whole, text)]
    if not read:
        return
    rules, notes = rules_of(whole)
    if not any(note.effect is Effect.NARROWED and note.what != "layout" for note in notes):
        matcher = Matcher(rules)
        assert [matcher.fault(text) for text in read] == [None] * len(read)


@settings(max_examples=max(100, settings().max_examples * 20))
@given(GRAMMARS, st.integers())
def test_where_no_note_says_otherwise_a_machine_reads_what_satisfies_the_rules(grammar: Node, seed: int) -> None:
    try:
        rules, notes = rules_of(b.sequence(grammar, b.optional("!", RULE)))
    except GrammarError:
        return
    if not any(note.effect is Effect.RELAXED for note in notes):
        for _ in range(4):
            text = generate(rules, Random(seed).randrange, size=30)
            assert is_read(b.sequence(grammar, b.optional("!", RULE)), text), text


def matcher_of(grammar: Node | Grammar, *tools: str, **given: frozenset[str] | str) -> Matcher:
    return Matcher(rules_of(grammar, tools, **given)[0])  # type: ignore[arg-type]


def notes_of(grammar: Node) -> list[str]:
    """What is noted, but for JSON's layout, which is noted wherever there is JSON."""
    return [f"{note.effect}: {note.what}" for note in rules_of(grammar)[1] if note.what != "layout"]


def both(grammar: Node, good: tuple[str, ...], bad: tuple[str, ...]) -> None:
    """The matcher and the machine take the good ones and refuse the bad ones."""
    matcher = matcher_of(grammar)
    assert [text for text in (*good, *bad) if matcher.matches(text)] == list(good)
    assert [text for text in (*good, *bad) if is_read(grammar, text)] == list(good)


def test_an_answer_in_json() -> None:
    grammar = b.sequence("Answer: ", b.tag("answer", b.json()))
    assert notes_of(grammar) == []
    both(
        grammar,
        ('Answer: {"a": [1, -2.5e3, true]}', 'Answer: "\\u00e9"'),
        ("Answer: 01", "Answer:  1", 'Answer: {"a"}'),
    )


def test_text_ends_at_the_first_delimiter_even_if_that_looks_like_itself() -> None:
    grammar = b.tag("a", b.until("aab")) + "aab" + b.tag("b", b.until())
    assert notes_of(grammar) == []
    both(grammar, ("aab", "aaab", "aaaabx", "aabaab"), ("", "aa", "abab"))


def test_text_that_stops_before_what_can_not_follow_is_never_read() -> None:
    with pytest.raises(GrammarError, match="nothing is read"):
        rules_of(b.until("<a>") + "<b>")
    both(b.until("<a>", "<b>") + "<b>", ("<b>", "x<b>"), ("", "x<a><b>", "<a>"))


def test_text_that_must_be_there_does_not_begin_with_a_delimiter() -> None:
    grammar = b.tag("a", b.until("\n<a>", "<a>", low=1)) + b.choice("\n<a>", "<a>")
    assert notes_of(grammar) == []
    both(grammar, ("x<a>", "\n\n<a>", "<x\n<a>", "\n<<a>"), ("<a>", "\n<a>", "<a><a>", "\n<a>x<a>", "x"))


def test_two_texts_behind_each_other_share_what_the_first_has_left() -> None:
    grammar = b.until("<a") + b.until("ab", "<c") + b.optional("ab")
    both(grammar, ("x", "x<a", "x<ab", "x<a<a", "<a<xab"), ("<a<cx", "<abc"))


def test_code_hides_delimiters_in_visible_text_only() -> None:
    grammar = b.content(b.prose("<a>")) + "<a>"
    both(grammar, ("x<a>", "`<a>`<a>", "```\n<a>\n```\n<a>"), ("`x`", "`<a>"))
    assert matcher_of(grammar, without=frozenset(["code"])).matches("`<a>")
    captured = b.call("@" + b.name(b.prose("<a>")) + "<a>")
    assert matcher_of(captured).matches("@`<a>")


CALL = b.call(
    "@" + b.name(b.chars("a-z", 1, 8)) + " " + b.commit() + b.arguments(b.json()),
    close=b.literal(";"),
    closers=(";",),
    resume=("@",),
)
TURN = b.zero_or_more(CALL | b.content(b.until("@", low=1)) | b.content("@"))


def test_a_turn_of_text_and_calls() -> None:
    matcher = matcher_of(TURN)
    for text in ("", "me@home", '@add {"a": 1}; and @sub [];'):
        assert is_read(TURN, text)
        assert matcher.matches(text)
    # A call that breaks may pass as text: the rules know no order.
    assert notes_of(TURN) == ["relaxed: order of choice"]


def test_calls_name_the_tools_that_can_be_named() -> None:
    matcher = matcher_of(CALL, "add", "sub", "Not")
    assert matcher.matches("@add 1;")
    assert not matcher.matches("@mul 1;")
    assert "narrowed: names: 'Not' can't be written here" in map(str, rules_of(CALL, ("add", "Not"))[1])
    assert rules_of(CALL, ("add", "Not"))[1] != rules_of(CALL, ("add",))[1]
    with pytest.raises(GrammarError, match="nothing is read"):
        rules_of(CALL, ("Not",))


def test_a_marker_stays_one_where_a_scan_reads_it() -> None:
    rules, _ = rules_of(b.until("<|end|>") + b.special("<|end|>") + b.special("<|x|>"))
    scans = [part for part in rules.walk() if isinstance(part, Scan)]
    assert [scan.marks for scan in scans] == [frozenset(["<|end|>"])]
    assert [part for part in rules.walk() if isinstance(part, Text)] == [Text("<|x|>", mark=True)]


def test_what_is_read_as_broken_is_left_out() -> None:
    broken = b.report(ProblemKind.MALFORMED, "b") | b.malformed("c")
    assert not any(matcher_of("a" | broken).matches(text) for text in "bc")
    assert matcher_of("a" | broken).matches("a")
    with pytest.raises(GrammarError, match="nothing is read without a problem"):
        rules_of(broken)


def test_recursive_rules_stay_rules() -> None:
    element = b.rule("element", "<" + b.any() + ">" + b.zero_or_more(b.ref("element")) + "/" + b.until(">") + ">")
    both(element, ("<a>/>", "<a><b>/x><c>/>/a>", "<>>//>"), ("<a>", "<a>/>/>", "<a", "<a>/"))
    open_ended = b.rule("r", "(" + b.optional(b.ref("r")) + b.until(")"))
    assert notes_of(open_ended + b.repeat(")", 2, 2)) == ["relaxed: greed", "relaxed: lookahead"]
    assert matcher_of(open_ended + "))").matches("((x))")


def test_a_word_that_is_looked_at_is_what_follows_begins_with() -> None:
    both(b.peek("{") + b.json(), ("{}", '{"a": 1}'), ("[]", "1"))
    ahead = b.peek(b.literal("a") | "b") + b.until("c") + "c"
    assert notes_of(ahead) == []
    both(ahead, ("ac", "bxc"), ("c", "xc", "a"))
    inner = b.until("<") + b.peek("<a" | b.literal("<b")) + "<" + b.any()
    both(inner, ("x<a", "<b"), ("<c", "x", "<"))
    closing = b.chars("a-z") + b.peek(b.space(), "<") + b.space() + "<"
    assert notes_of(closing) == []


def test_lookahead_that_cant_be_said_is_noted() -> None:
    assert notes_of(b.peek(b.one("a")) + b.any()) == ["relaxed: lookahead"]
    assert notes_of(b.negate("a") + b.any()) == ["relaxed: lookahead"]
    assert notes_of(b.negate("a") + b.literal("b")) == []
    assert notes_of(b.rule("r", "(" + b.optional(b.ref("r")) + b.peek("x"))) == ["relaxed: lookahead"]


def test_turns_with_text_in_them_are_counted_up_to_a_bound() -> None:
    item = b.until(";") + ";"
    both(b.repeat(item, 2, 3), (";;", "a;b;c;"), (";", "a;b;c;d;", "a;b"))
    assert "relaxed: count" in notes_of(b.repeat(item, 2, 99))
    assert matcher_of(b.repeat(item, 2, 99)).matches("a;b;c;")


def test_a_header_leads_to_its_cases() -> None:
    header = b.header(
        "<m>",
        b.case(b.until(), to="all"),
        b.case(b.json()),
        start=("<h>",),
        fields={"to": "to=(all|one)"},
        abort=("<h2>",),
    )
    both(header, ("<h> to=all<m>x", "<h><m>{}", " <h>1<m>1"), ("<h>", "x<h><m>1", "<h><h2><m>1"))
    assert notes_of(header) == ["relaxed: header", "relaxed: length"]
    assert notes_of(b.header("<m>", b.case(b.until()), start=("<h>",), fields={})) == ["relaxed: length"]


def test_values_are_text_and_end_at_the_first_delimiter() -> None:
    member = b.key(b.chars("a-z", 1, 9)) + "=" + b.value(";", then=("\n",)) + ";"
    call = b.call("@" + b.name("f") + b.argument_members(b.zero_or_more(member)), close="\n")
    both(call, ("@f\n", "@fa=1;\n"), ("@fa=1\n",))
    assert notes_of(call) == ["narrowed: continuation", "relaxed: types"]


def test_other_notations_are_written_in_one_of_their_ways() -> None:
    call = b.call("@" + b.name("f") + b.arguments(b.notated(PYTHON)), close=";")
    assert notes_of(call) == ["narrowed: notation"]
    both(call, ("@f{'a': [1, True]};",), ("@f{a};",))
    bare = b.call("@" + b.name("f") + b.arguments(b.notated(bare_dict("<q>"))), close=";")
    both(bare, ("@f{a:[1,true],b:<q>x<q>};",), ("@f{a;",))


def test_a_schema_is_kept_by_a_json_value_and_noted_elsewhere() -> None:
    schema = '{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}'
    grammar = "Answer: " + b.schema(b.tag("answer", b.json()), schema)
    assert notes_of(grammar) == []
    matcher = matcher_of(grammar)
    assert matcher.matches('Answer: {"a": 1}')
    assert not matcher.matches('Answer: {"a": "x"}')
    assert not matcher.matches('Answer: {"b": 1}')
    assert notes_of(b.schema(b.until(), schema)) == ["relaxed: schema"]
    assert matcher_of(b.schema(b.json(), "true")).matches("1")
    with pytest.raises(GrammarError, match="not JSON"):
        rules_of(b.schema(b.json(), "{"))


def test_strings_with_json_in_them_are_any_strings() -> None:
    call = b.call("@" + b.name("f") + b.arguments(b.quoted_json()), close=";")
    assert notes_of(call) == ["relaxed: quoted JSON"]
    assert matcher_of(call).matches('@f"{\\"a\\": 1}";')


def test_a_call_that_a_stop_marker_closes_may_end_without_it() -> None:
    call = b.call("@" + b.name("f") + b.commit() + b.arguments(b.json()), close=b.stop("<|end|>"), stops=True)
    both(call, ("@f{}<|end|>", "@f{}"), ("@f{}x",))


def test_gates_and_entries_are_the_callers_choice() -> None:
    grammar = Grammar("a" + b.gate("more", "b") | "c", (("inside", b.literal("b")),))
    assert matcher_of(grammar).matches("ab")
    assert not matcher_of(grammar, without=frozenset(["more"])).matches("ab")
    assert matcher_of(grammar, entry="inside").matches("b")
    with pytest.raises(KeyError):
        rules_of(grammar, entry="none")


def test_names_that_may_be_too_long_are_noted() -> None:
    assert notes_of(b.call("@" + b.name(b.chars("a-z")) + ";")) == ["relaxed: length"]


def test_finals_in_code_are_noted() -> None:
    assert "narrowed: finals" in notes_of(b.content(b.prose("<a>", finals=("<e>",))) + "<e>")


def test_values_of_strings_are_any_text() -> None:
    member = b.key(b.chars("a-z", 1, 9)) + "=" + b.value(";", kinds=("string",)) + ";"
    assert notes_of(b.call("@" + b.name("f") + b.argument_members(member), close="\n")) == []


def test_text_in_a_rule_that_is_used_again_ends_where_it_is_used() -> None:
    grammar = b.rule("line", b.until(";") + ";") + b.repeat(b.ref("line"), 1, 1) + "!"
    both(grammar, ("a;b;!",), ("a;!", "a;b;"))


def test_text_before_json_ends_where_that_begins() -> None:
    grammar = b.content(b.until("{")) + b.tag("answer", b.json())
    both(grammar, ("So: {}", '{"a": {}}'), ("So: [", "{", "[]"))


def test_a_delimiter_that_the_text_before_has_begun_is_noted_where_code_counts() -> None:
    grammar = b.until("<") + b.content(b.prose("<a>")) + "<a>"
    assert "narrowed: first occurrence" in notes_of(grammar)


def test_a_foreign_node_is_refused() -> None:
    class Foreign(Node, frozen=True):
        pass

    with pytest.raises(TypeError, match="not a node of this vocabulary"):
        rules_of(Foreign())


@pytest.mark.parametrize("name", ["hermes", "qwen3_coder", "harmony"])
def test_the_grammar_of_a_dialect_lets_its_own_examples_pass(name: str) -> None:
    dialect = get_dialect(name)
    matcher = matcher_of(dialect.grammar)
    assert [matcher.fault(example.text) for example in dialect.examples] == [None] * len(dialect.examples)


@pytest.mark.slow
def test_the_grammars_of_all_dialects_let_all_examples_pass() -> None:
    for dialect in dialects():
        matcher = matcher_of(dialect.grammar)
        assert [matcher.fault(example.text) for example in dialect.examples] == [None] * len(dialect.examples)
