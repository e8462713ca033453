"""JSON in a grammar: values as they are written, and an object that is written inside a string."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Parser, parse_events
from dragoman.events import ArgumentsDelta, Event, Malformed, Markup, Problem, ProblemKind, merge
from dragoman.grammar import build as b
from dragoman.grammar.frames import DEFERRED_LIMIT
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar, Node
from dragoman.grammar.program import program_of
from tests.regressions.reading import Read, call, chunkings, read, unread
from tests.streams import cut, cuts, hard


def run(grammar: Node, text: str) -> list[Event]:
    results = []
    for chunks in chunkings(text):
        machine = Machine(program_of(Grammar(grammar)))
        results.append(merge([event for chunk in chunks for event in machine.feed(chunk)] + machine.finish()))
    assert all(result == results[0] for result in results)
    return results[0]


@pytest.mark.parametrize("text", ["12", "-0.5e3", "true", '"a"', "[1, {}]"])
def test_a_value_may_end_with_the_input(text: str) -> None:
    assert run(b.json(), text) == [Markup(text, 0, len(text))]


@pytest.mark.parametrize("text", ["", "1.", "tru", '"a', "[1"])
def test_a_value_that_the_input_cuts_is_incomplete(text: str) -> None:
    (found,) = [event for event in run(b.json(), text) if isinstance(event, Problem)]
    assert found.kind is ProblemKind.INCOMPLETE


@pytest.mark.parametrize("text", ["x", " 1", "]", "nil"])
def test_what_is_no_value_is_malformed(text: str) -> None:
    (found,) = [event for event in run(b.json(), text) if isinstance(event, Problem)]
    assert found.kind is ProblemKind.MALFORMED


def test_a_grammar_says_that_json_may_come_next() -> None:
    assert Machine(program_of(Grammar(b.json()))).accepts() == {"json"}
    assert Machine(program_of(Grammar(b.json_string()))).accepts() == {"json_string"}
    parser = Parser("hermes")
    parser.feed('<tool_call>{"arguments": "')
    assert parser.accepts() == {"quoted_json"}


# Arguments as a string that holds an object


def quoted(string: str) -> str:
    return f'<tool_call>\n{{"name": "f", "arguments": "{string}"}}\n</tool_call>'


AS_STRING = ("arguments_as_string", "")


@pytest.mark.parametrize(
    ("string", "arguments"),
    [
        ("{}", "{}"),
        (r"{\"x\": 1}", '{"x": 1}'),
        (r" {\"x\":\n[] } ", ' {"x":\n[] } '),
        (r"{\"x\": \"\u00e9\\n\\\"\"}", r'{"x": "é\n\""}'),
        (r"{\"x\": \"\ud83d\ude42 \ud83d\"}", '{"x": "\U0001f642 \\ud83d"}'),
        ("", "{}"),
        (" ", " {}"),
    ],
)
def test_an_object_in_a_string_is_published_decoded_and_noted(string: str, arguments: str) -> None:
    if r"\ud83d\"" in string:
        arguments = arguments.replace("\\ud83d", "\ud83d")
    events = parse_events(quoted(string), "hermes")
    for size in (1, 2, 3, 7):
        parser, text = Parser("hermes"), quoted(string)
        pieces = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        assert merge(pieces + parser.finish()) == events
    assert "".join(event.json for event in events if isinstance(event, ArgumentsDelta)) == arguments


@pytest.mark.parametrize(
    ("string", "published", "error"),
    [
        ("x", "", "the arguments are a string that holds no JSON object"),
        ("[1]", "", "the arguments are a string that holds no JSON object"),
        (r"{\"x\": 1} x", '{"x": 1} ', "text after the arguments' JSON"),
        (r"{}\ud83d", "{}", "text after the arguments' JSON"),
        (r"{\"x\": 1,,}", '{"x": 1,', "expected '\"'"),
        (r"{\"x\": 1", '{"x": 1', "the arguments' JSON ends early"),
        (r"{\"x\q", '{"x', "not a JSON string"),
        ("{\x01", "{", "not a JSON string"),
    ],
)
def test_a_string_that_holds_no_object_breaks_the_call_at_the_very_character(
    string: str, published: str, error: str
) -> None:
    text = quoted(string)
    assert read("hermes", text) == Read((unread(text, "f"),), (("malformed", text),))
    events = parse_events(text, "hermes")
    assert "".join(event.json for event in events if isinstance(event, ArgumentsDelta)) == published
    (problem,) = [event for event in events if isinstance(event, Problem)]
    assert problem.detail == error


@pytest.mark.parametrize("end", [r"{\"x\": 1", r"{\"x\": 1\u00", "{\\"])
def test_an_object_in_a_string_may_be_cut_by_the_end(end: str) -> None:
    text = quoted(end)[: -len('"}\n</tool_call>')]
    assert read("hermes", text) == Read((unread(text, "f"),), (("incomplete", text),))


SCRAPS = [
    "{",
    "}",
    '\\"',
    '"',
    "a",
    ": ",
    ", ",
    "1",
    "[",
    "]",
    "\\\\",
    "\\n",
    r"\u00e9",
    r"\ud83d",
    r"\ude42",
    "\\q",
    "\n",
    " ",
]


@hard
@given(st.lists(st.sampled_from(SCRAPS), max_size=10).map("".join), cuts())
def test_any_string_for_arguments_is_read_the_same_however_it_is_cut(string: str, places: list[int]) -> None:
    text = quoted(string)
    expected = parse_events(text, "hermes")
    for pieces in (list(text), cut(text, places)):
        parser = Parser("hermes")
        assert merge([event for piece in pieces for event in parser.feed(piece)] + parser.finish()) == expected


# Arguments that come before the name wait for it


def test_arguments_before_the_name_come_when_it_has_come() -> None:
    parser = Parser("hermes")
    assert [e for e in parser.feed('<tool_call>{"arguments": {"x": 1}') if not isinstance(e, Markup)] == []
    assert [e.json for e in parser.feed(', "name": "f"') if isinstance(e, ArgumentsDelta)] == ['{"x": 1}']


def test_arguments_wait_for_the_name_up_to_a_bound() -> None:
    before, after = '<tool_call>{"arguments": ', ', "name": "f"}</tool_call>'
    for over in (-1, 0, 1, 1000):
        arguments = '{"x": "' + "z" * (DEFERRED_LIMIT + over - 9) + '"}'
        text = before + arguments + after
        expected = parse_events(text, "hermes")
        for places in ([len(before) + DEFERRED_LIMIT], [len(before) + DEFERRED_LIMIT - 1], range(0, len(text), 99_999)):
            parser = Parser("hermes")
            pieces = [event for piece in cut(text, places) for event in parser.feed(piece)]
            assert merge(pieces + parser.finish()) == expected
        problems = [event.detail for event in expected if isinstance(event, Problem)]
        assert problems == (["the arguments are too long to wait for the call's name"] if over > 0 else [])


@pytest.mark.slow
@pytest.mark.parametrize("unit", [r"\\n", "é", r"\u00e9"])
def test_arguments_in_a_string_wait_up_to_the_same_bound_however_they_are_cut(unit: str) -> None:
    text = '<tool_call>{"arguments": "{\\"x\\": \\"' + unit * (DEFERRED_LIMIT // 2 + 5000) + '\\"}", "name": "f"}'
    expected = parse_events(text, "hermes")
    for size in (1 << 15, 100_003):
        parser = Parser("hermes")
        pieces = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
        assert merge(pieces + parser.finish()) == expected
    malformed = "".join(event.text for event in expected if isinstance(event, Malformed))
    assert malformed in text


def test_arguments_of_a_call_that_never_told_its_name_are_malformed() -> None:
    text = '<tool_call>\n{"arguments": {"x": 1}}'
    events = parse_events(text, "hermes", reason="stop")
    assert [event for event in events if isinstance(event, Malformed)] == [Malformed('{"x": 1}', 26, 34)]


@pytest.mark.parametrize("arguments", ['""', '"{}"', "{}", r'"{\"x\": \"\\n\"}"'])
def test_whatever_arguments_they_are(arguments: str) -> None:
    text = f'<tool_call>\n{{"arguments": {arguments}}}'
    assert read("hermes", f"{text}\n</tool_call>") == Read((unread(text),), (("malformed", text),))


def test_arguments_that_are_no_object_are_noted() -> None:
    text = '<tool_call>\n{"name": "f", "arguments": [1]}\n</tool_call>'
    assert read("hermes", text) == Read((call("f", "[1]"),), (("wrong_type", ""),), "tool_calls")
