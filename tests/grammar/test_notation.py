"""Arguments in another notation: how calls with them are written as grammars, read, held back and reported."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Dialect, Parser, Tool
from dragoman.errors import GrammarError
from dragoman.events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    Event,
    Malformed,
    Problem,
    merge,
)
from dragoman.grammar import build as b
from dragoman.grammar.analyze import FIELD_LIMIT, VALUE_LIMIT, analyze
from dragoman.grammar.frames import DEFERRED_LIMIT
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar, Node
from dragoman.grammar.notation import BARE_LIMIT, GAP_LIMIT, PYTHON, bare_dict
from dragoman.grammar.program import program_of
from dragoman.grammar.show import ebnf_node
from dragoman.grammar.transcode import Transcoder
from dragoman.grammar.value import Sink
from tests.regressions.reading import chunkings, tool
from tests.streams import cut, cuts, hard

DICT = bare_dict('<|"|>')

_argument = b.key(b.chars("A-Za-z0-9_")) + b.space() + "=" + b.commit() + b.space() + b.notated(PYTHON)
_arguments = b.argument_members(b.optional(_argument, b.zero_or_more(b.space(), ",", b.space(), _argument)))
_call = b.call(
    b.name(b.chars("A-Za-z0-9_.")) + "(" + b.commit() + b.space() + _arguments + b.space(),
    close=")",
    closers=(")",),
    resume=("]",),
)
PYTHONIC = (
    "[" + _call + b.zero_or_more(b.space(), ",", b.commit(), b.space(), _call) + "]" + b.commit() + b.content(b.until())
)

GEMMA = b.zero_or_more(
    b.call(
        "<|tool_call>call:" + b.commit() + b.name(b.chars("a-z_")) + b.arguments(b.notated(DICT)),
        close="<tool_call|>",
        closers=("<tool_call|>",),
        resume=("<|tool_call>",),
    )
    | b.content(b.until("<|tool_call>", low=1))
)

SEED = b.call(
    "<f>"
    + b.commit()
    + b.name("f")
    + b.argument_members(
        b.zero_or_more("<", b.key(b.chars("a-z")), ">", b.commit(), b.value("</p>", notation=PYTHON), "</p>")
    ),
    close="</f>",
    closers=("</f>",),
)


def dialect(grammar: Node) -> Dialect:
    return Dialect(
        name="own",
        doc="",
        grammar=Grammar(grammar),
        writer=str,
        models=(),
        marks=(),
        stops=(),
        source="",
        examples=(),
    )


def events(grammar: Node, text: str, tools: list[Tool] | None = None, reason: str | None = "stop") -> list[Event]:
    """The events, which must be the same in every chunking, tile the input and be published within the bound."""
    results = []
    for chunks in chunkings(text):
        parser = Parser(dialect(grammar), tools)
        found = []
        for chunk in chunks:
            found += parser.feed(chunk)
            assert parser.held <= parser.hold_bound
        results.append(merge(found + parser.finish(reason)))
    assert all(result == results[0] for result in results)
    at = 0
    for event in results[0]:
        if not isinstance(event, Problem) and event.end > event.start:
            assert event.start == at
            at = event.end
    assert at == len(text)
    return results[0]


def calls(found: list[Event]) -> list[tuple[str, object]]:
    """The complete calls with their arguments."""
    complete = {event.index for event in found if isinstance(event, CallEnd) and event.status is CallStatus.COMPLETE}
    begun = [event for event in found if isinstance(event, CallBegin) and event.index in complete]
    return [(event.name, json.loads(arguments(found, event.index))) for event in begun]


def arguments(found: list[Event], index: int = 0) -> str:
    return "".join(event.json for event in found if isinstance(event, ArgumentsDelta) and event.index == index)


def problems(found: list[Event]) -> list[tuple[str, str]]:
    noted = [problem for event in found if isinstance(event, CallEnd) for problem in event.problems]
    return [(p.kind.value, p.raw) for p in [*noted, *(event for event in found if isinstance(event, Problem))]]


# Python's keyword arguments


def test_a_pythonic_call_is_read() -> None:
    found = events(PYTHONIC, "[f(a=1, b=\"x\", c = ['it\\'s', (None, {'k': 0x})])]".replace("0x", ".5") + " done")
    assert calls(found) == [("f", {"a": 1, "b": "x", "c": ["it's", [None, {"k": 0.5}]]})]
    assert arguments(found).startswith('{"a": 1, "b": "x", "c": ["it\'s", [null, {"k": 0.5}]]')
    assert problems(found) == []


def test_several_pythonic_calls_are_read() -> None:
    found = events(PYTHONIC, "[f(a=1, b='x'), g(), h.i( x=True )]")
    assert calls(found) == [("f", {"a": 1, "b": "x"}), ("g", {}), ("h.i", {"x": True})]


def test_keyword_arguments_are_compared_with_the_tool() -> None:
    tools = [tool("f", required=["n"], a="integer", n="string", s="string")]
    found = events(PYTHONIC, "[f(a='x', b=1, s='t', s=1.5)]", tools)
    expected = [("wrong_type", "a"), ("unknown_argument", "b"), ("repeated_argument", "s"), ("wrong_type", "s")]
    assert problems(found) == [*expected, ("missing_argument", "n")]


def test_a_literal_behind_what_may_be_a_name_for_all_arguments_is_one_argument() -> None:
    grammar = b.call(b.name("f"), b.argument_members(_argument, unwrap=("arguments",)), close=";")
    found = events(grammar, "farguments={'a': 1};", [tool("f", a="integer")])
    assert calls(found) == [("f", {"arguments": {"a": 1}})]
    assert problems(found) == [("unknown_argument", "arguments")]


def test_a_nested_quote_is_part_of_its_string_and_told() -> None:
    found = events(PYTHONIC, '[f(a="say "hi" to her")]')
    assert calls(found) == [("f", {"a": 'say "hi" to her'})]
    assert problems(found) == [("ambiguous_close", '"')] * 2


@pytest.mark.parametrize(
    ("text", "out", "malformed"),
    [
        ("[f(a=Trux), g()]", '{"a": ', "x)"),
        ("[f(a={1 2}), g()]", '{"a": {"1" ', "2})"),
        ("[f(a=0x1F), g()]", '{"a": 0}', "x1F)"),
        ("[f(a={b: 1}), g()]", '{"a": {', "b: 1})"),
        ("[f(a=1__0), g()]", '{"a": 1', "_0)"),
        ("[f(a=), g()]", '{"a": ', ")"),
        ("[f(a=?), g()]", '{"a": ', "?)"),
    ],
)
def test_a_value_that_is_no_literal_breaks_its_call_alone(text: str, out: str, malformed: str) -> None:
    found = events(PYTHONIC, text)
    assert arguments(found) == out
    assert [event.text for event in found if isinstance(event, Malformed)] == [malformed]
    assert problems(found) == [("malformed", text[1 : text.index("), g") + 1])]
    assert calls(found) == [("g", {})]


@pytest.mark.parametrize("text", ["[f(a='x", "[f(a='x'", "[f(a=Tr", "[f(a=", "[f(a=1", "[f(a=[1, ", "[f(a='\\x4"])
def test_a_call_that_the_end_cuts_is_incomplete(text: str) -> None:
    found = events(PYTHONIC, text, reason="length")
    assert problems(found)[0] == ("incomplete", text[1:])
    assert calls(found) == []


LITERALS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@hard
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,5}", fullmatch=True), LITERALS, max_size=3), cuts())
def test_keyword_arguments_that_python_prints_are_read(values: dict[str, object], places: list[int]) -> None:
    text = f"[f({', '.join(f'{key}={value!r}' for key, value in values.items())})]"
    machine = Machine(program_of(Grammar(PYTHONIC)))
    found = merge([event for piece in cut(text, places) for event in machine.feed(piece)] + machine.finish())
    assert calls(found) == [("f", values)]


# Whole dicts


def test_a_dict_of_arguments_is_read() -> None:
    text = '<|tool_call>call:f{key:<|"|>a "b"\n<|"|>,n:42,b:true,list:[1,<|"|>x<|"|>],obj:{k:v},}<tool_call|>'
    found = events(GEMMA, text * 2)
    value = {"key": 'a "b"\n', "n": 42, "b": True, "list": [1, "x"], "obj": {"k": "v"}}
    assert calls(found) == [("f", value), ("f", value)]
    assert problems(found) == []


def test_the_members_of_a_dict_are_compared_with_the_tool() -> None:
    tools = [tool("f", required=["m"], n="integer", o="object", m="string")]
    found = events(GEMMA, '<|tool_call>call:f{n:x,o:{n:1},u:1,"n":2}<tool_call|>', tools)
    expected = [("wrong_type", "n"), ("unknown_argument", "u"), ("repeated_argument", "n"), ("missing_argument", "m")]
    assert problems(found) == expected


def test_arguments_that_are_no_dict_are_noted() -> None:
    assert problems(events(GEMMA, "<|tool_call>call:f[1]<tool_call|>")) == [("wrong_type", "")]


@pytest.mark.parametrize("body", ["{a:}", "{a}", "{a:1]", "}", "{a:" + "b" * 300 + "}", '{a:b<|"|>}', "{a:1}x"])
def test_a_dict_that_is_none_breaks_its_call_alone(body: str) -> None:
    text = f"<|tool_call>call:f{body}<tool_call|>"
    found = events(GEMMA, text + "<|tool_call>call:g{}<tool_call|>")
    assert problems(found) == [("malformed", text)]
    assert calls(found) == [("g", {})]


def test_arguments_may_stand_right_behind_the_name() -> None:
    grammar = b.call(b.name("f"), b.arguments(b.notated(PYTHON)), close=";")
    assert calls(events(grammar, "f{'a': []};")) == [("f", {"a": []})]
    assert problems(events(grammar, "f")) == [("incomplete", "")]


# Raw values


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ("{'a': True, 'b': ['it\\'s', None]}", '{"a": true, "b": ["it\'s", null]}'),
        ('{"a": true}', '{"a": true}'),
        (" [1, ]\n", "[1 ]"),
        ("(1, 2)", "[1, 2]"),
    ],
)
def test_a_raw_value_may_be_what_python_prints(value: str, arguments: str) -> None:
    tools = [tool("f", x={"type": ["object", "array"]})]
    found = events(SEED, f"<f>f<x>{value}</p></f>", tools)
    assert calls(found) == [("f", {"x": json.loads(arguments)})]
    assert problems(found) == []


@pytest.mark.parametrize("value", ["{'a': Trux}", "{'a' 1}", "{'a': 1__0}", "{'a': 1} x", "{'a': 1", "[1_ \n ,"])
def test_a_raw_value_that_is_no_literal_breaks_its_call(value: str) -> None:
    text = f"<f>f<x>{value}</p></f>"
    found = events(SEED, text, [tool("f", x={"type": ["object", "array"]})])
    assert problems(found) == [("malformed", text)]


@pytest.mark.parametrize("value", ["{'a': Trux}", "{'a': 1} x", "{'a': 1", "{'a': '" + "z" * 9 + "'"])
def test_a_raw_value_that_may_be_a_string_is_one_if_it_is_no_literal(value: str) -> None:
    found = events(SEED, f"<f>f<x>{value}</p></f>", [tool("f", x={"type": ["object", "string"]})])
    assert calls(found) == [("f", {"x": value})]


@pytest.mark.parametrize("size", [VALUE_LIMIT - 9, VALUE_LIMIT, 2 * VALUE_LIMIT])
def test_a_long_raw_value_is_read_the_same_however_it_is_cut(size: int) -> None:
    value = "{'a': '" + "z" * size + "', 'b': True}"
    found = events(SEED, f"<f>f<x>{value}</p></f>", [tool("f", x={"type": ["object", "string"]})])
    assert calls(found) == [("f", {"x": {"a": "z" * size, "b": True}})]


def test_a_raw_value_keeps_what_the_end_of_a_piece_cuts() -> None:
    sink = Sink(frozenset(["object"]), PYTHON)
    assert (sink.feed("{'a': Tr"), sink.held) == ('{"a": ', 2)
    other = sink.copy()
    assert (sink.feed("ue}"), sink.close(), sink.held) == ("true}", "", 0)
    assert (other.feed("?"), other.broken) == ("", 0)


# Streaming


@pytest.mark.parametrize(
    ("grammar", "head", "tail"),
    [
        (PYTHONIC, "[f(a='", "')]"),
        (PYTHONIC, '[f(a=[{\'k\': """', '"""}])]'),
        (PYTHONIC, '[f(a="', '")]'),
        (GEMMA, '<|tool_call>call:f{a:<|"|>', '<|"|>}<tool_call|>'),
        (GEMMA, '<|tool_call>call:f{a:"', '"}<tool_call|>'),
    ],
)
def test_a_string_streams(grammar: Node, head: str, tail: str) -> None:
    machine = Machine(program_of(Grammar(grammar)))
    machine.feed(head + "-")
    for _ in range(2):
        for chunk in ("word ", "two\nlines ", "a" * 300):
            assert (
                "".join(event.json for event in machine.feed(chunk) if isinstance(event, ArgumentsDelta))
                == json.dumps(chunk)[1:-1]
            )
            assert machine.rest is not None
    other = machine.copy()
    for twin in (machine, other):
        twin.feed("end")
        found = twin.feed(tail) + twin.finish()
        assert [event.status for event in found if isinstance(event, CallEnd)] == [CallStatus.COMPLETE]


def test_arguments_before_the_name_wait_for_it_up_to_a_bound() -> None:
    grammar = b.call("<", b.commit(), b.arguments(b.notated(PYTHON)), b.name("f"), close=">", closers=(">",))
    for over in (0, 1):
        text = "<{'a': '" + "z" * (DEFERRED_LIMIT + over - 9) + "'}f>"
        machine = Machine(program_of(Grammar(grammar)))
        found = merge(
            [event for at in range(0, len(text), 99_999) for event in machine.feed(text[at : at + 99_999])]
            + machine.finish()
        )
        assert [event.detail for event in found if isinstance(event, Problem)] == [
            "the arguments are too long to wait for the call's name"
        ] * over


# What is known before


def test_what_a_notation_may_hold_back_is_known() -> None:
    assert PYTHON.hold == 3 + GAP_LIMIT
    assert DICT.hold == BARE_LIMIT
    assert analyze(b.arguments(b.notated(PYTHON))).hold_bound == PYTHON.hold
    assert analyze(b.argument_members(b.value("x", notation=PYTHON))).hold_bound == 1 + VALUE_LIMIT + PYTHON.hold
    assert analyze(GEMMA).hold_bound == FIELD_LIMIT + 1
    assert analyze(PYTHONIC).streamable


# Time


@pytest.mark.parametrize("size", [1, 4, 1000])
@pytest.mark.parametrize(
    ("grammar", "head", "unit"),
    [
        (PYTHONIC, "[f(a=", "["),
        (PYTHONIC, "[f(a=[", "1,"),
        (PYTHONIC, "[f(a=[", "1, (), {'k': None}, "),
        (PYTHONIC, "[f(a=[", " "),
        (PYTHONIC, "[f(a=[1,", " "),
        (PYTHONIC, "[f(a=", "1_"),
        (PYTHONIC, "[f(a='", "'"),
        (PYTHONIC, "[f(a='", "' "),
        (PYTHONIC, "[f(a='", "'" + " " * 64),
        (PYTHONIC, "[f(a='", "\\"),
        (PYTHONIC, "[f(a='", "\\U0001"),
        (PYTHONIC, "[f(a='", '"\n'),
        (PYTHONIC, "[f(a='''", "''x"),
        (PYTHONIC, "[f(a={'", "k"),
        (PYTHONIC, "[f(", "a='it's', "),
        (GEMMA, '<|tool_call>call:f{a:<|"|>', "<|"),
        (GEMMA, '<|tool_call>call:f{a:<|"|>', '"'),
        (GEMMA, '<|tool_call>call:f{a:<|"|>', '<|"|'),
        (GEMMA, "<|tool_call>call:f{", "a:b,"),
        (GEMMA, "<|tool_call>call:f{a:[", '<|"|>x<|"|>,'),
        (GEMMA, "<|tool_call>call:f{a:", "b"),
    ],
)
def test_reading_costs_in_proportion(
    monkeypatch: pytest.MonkeyPatch, grammar: Node, head: str, unit: str, size: int
) -> None:
    """Counted in tokens taken and in characters that lie before them, as what waits is read again."""
    work = 0

    def counted(self: Transcoder, text: str, i: int) -> int:
        nonlocal work
        end = step(self, text, i)
        work += 1 + (end - i if end >= 0 else len(text) - i)
        return end

    step = Transcoder._step
    monkeypatch.setattr(Transcoder, "_step", counted)

    def cost(count: int) -> int:
        before, text = work, head + unit * (count // len(unit))
        machine = Machine(program_of(Grammar(grammar)))
        for at in range(0, len(text), size):
            machine.feed(text[at : at + size])
        machine.finish()
        return work - before

    once, twice = cost(2000), cost(4000)
    assert twice <= 2.2 * once + 2000
    assert twice <= 4000 * 70


def held(grammar: Node, text: str) -> Iterator[int]:
    machine = Machine(program_of(Grammar(grammar)))
    for char in text:
        machine.feed(char)
        yield machine.held


def test_that_much_is_held_and_no_more() -> None:
    gap = " " * (GAP_LIMIT + 9)
    assert max(held(PYTHONIC, "[f(a='''x'''" + gap)) == PYTHON.hold
    assert max(held(GEMMA, "<|tool_call>call:f{a:" + "b" * 2 * BARE_LIMIT)) == BARE_LIMIT


def test_the_first_character_of_a_value_decides_a_choice() -> None:
    either = b.call(b.name("f"), b.argument_members(b.key("k"), b.notated(PYTHON) | "?" + b.value(";")), close=";")
    assert analyze(either).streamable
    assert calls(events(either, "fk[1];")) == [("f", {"k": [1]})]
    assert calls(events(either, "fk?x;")) == [("f", {"k": "x"})]
    assert not analyze(b.arguments(b.notated(DICT)) | b.literal("?")).streamable


def test_a_value_may_be_looked_at_first() -> None:
    grammar = b.call(
        b.name("f"), b.peek("["), b.negate(b.notated(PYTHON), "!"), b.arguments(b.notated(PYTHON)), close=b.until()
    )
    for text, expected in (("f[True]?", [("f", [True])]), ("f[True]!", [])):
        machine = Machine(program_of(Grammar(grammar)))
        assert calls([event for char in text for event in machine.feed(char)] + machine.finish()) == expected


def test_a_value_that_is_no_argument_is_a_mistake() -> None:
    with pytest.raises(GrammarError, match="its value is no argument"):
        program_of(Grammar(b.content(b.notated(PYTHON))))


def test_a_notation_is_shown_by_its_name() -> None:
    assert ebnf_node(b.arguments(b.notated(PYTHON))) == "arguments(notated(python))"
    assert ebnf_node(b.notated(DICT)) == 'notated(dict <|"|>)'
    assert ebnf_node(b.value("x", notation=PYTHON)) == 'value(until("x") in python)'


def test_a_grammar_says_that_a_notation_may_come_next() -> None:
    machine = Machine(program_of(Grammar(PYTHONIC)))
    machine.feed("[f(a=")
    assert "notated(python)" in machine.accepts()
