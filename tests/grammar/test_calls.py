"""Calls, their names and headers: what is noted, what ends them, and what may come next."""

from __future__ import annotations

import pytest

from dragoman import Parser, parse_events
from dragoman.errors import GrammarError
from dragoman.events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    Event,
    Malformed,
    Markup,
    Problem,
    ProblemKind,
    merge,
)
from dragoman.grammar import build as b
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar, Node
from dragoman.grammar.program import program_of
from tests.regressions.reading import Read, call, chunkings, read, tool, unread


def run(grammar: Node, text: str, reason: str | None = None) -> list[Event]:
    """The events, which must be the same in every chunking."""
    results = []
    for chunks in chunkings(text):
        machine = Machine(program_of(Grammar(grammar)))
        results.append(merge([event for chunk in chunks for event in machine.feed(chunk)] + machine.finish(reason)))
    assert all(result == results[0] for result in results)
    return results[0]


# Names


def test_a_second_name_in_one_call_is_noted() -> None:
    text = '<tool_call>\n{"name": "f", "name": "g", "arguments": {}}\n</tool_call>'
    assert read("hermes", text) == Read((call("f", "{}"),), (("repeated_argument", "g"),), "tool_calls")


def test_an_empty_name_is_none() -> None:
    text = '<tool_call>\n{"name": "", "arguments": {}}'
    assert read("hermes", f"{text}\n</tool_call>") == Read((unread(text),), (("malformed", text),))


def test_a_name_and_an_id_may_come_from_one_pattern_or_from_two_fields() -> None:
    pattern = r"(?P<name>\w+)(?:#(?P<id>\d+))?"
    one = b.call(b.name(b.chars("^;"), pattern=pattern), close=";")
    assert run(one, "f#7;")[0] == CallBegin(0, "f", "7", 0, 3)
    assert run(one, "f;")[0] == CallBegin(0, "f", None, 0, 1)
    assert run(one, "f g;")[0] == CallBegin(0, "f g", None, 0, 3)
    two = b.call(b.begin(b.field_name(b.chars("^#")), "#", b.call_id(b.chars("0-9"))), close=";")
    assert run(two, "f#7;")[:2] == [Markup("f#7", 0, 3), CallBegin(0, "f", "7", 3, 3)]


def test_a_call_that_nothing_names_is_malformed() -> None:
    assert run(b.call(b.begin(), "x", close=";"), "x;") == [
        Markup("x;", 0, 2),
        Problem(ProblemKind.MALFORMED, "x;", "a call without a name", 2, 2),
    ]


def test_a_name_that_is_too_long_is_no_name() -> None:
    grammar = b.call("<", b.commit(), b.name(b.chars("a")), close=">", closers=(">",)) + b.until()
    for length, expected in ((256, CallBegin(0, "a" * 256, None, 1, 257)), (257, Malformed("a" * 257 + ">", 1, 259))):
        assert run(grammar, "<" + "a" * length + ">")[1] == expected


# Arguments


def test_a_call_without_arguments_has_an_empty_object() -> None:
    assert run(b.call(b.name("f"), close=";"), "f;") == [
        CallBegin(0, "f", None, 0, 1),
        Markup(";", 1, 2),
        ArgumentsDelta(0, "{}", 2, 2),
        CallEnd(0, CallStatus.COMPLETE, (), None, 2, 2),
    ]


def test_arguments_that_are_text_may_be_empty() -> None:
    grammar = b.call(b.name("f"), "(", b.arguments(b.until(")"), raw=True), close=")")
    noted = Problem(ProblemKind.RAW_ARGUMENTS, "", "the arguments are text, not JSON", 2, 2)
    assert [type(event) for event in run(grammar, "f()")] == [CallBegin, Markup, CallEnd]
    assert run(grammar, "f(x)")[2] == ArgumentsDelta(0, "x", 2, 3)
    assert run(grammar, "f(x)")[-1] == CallEnd(0, CallStatus.COMPLETE, (noted,), None, 4, 4)


TAGS = "<function=f>\n<parameter=x>\n{}\n</parameter>\n</function>"


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ('{"a": 1}', (call("f", '{"x": {"a": 1}}'),)),
        ("null", (call("f", '{"x": null}'),)),
        ('{"a": 1', None),
        ('{"a": 1,,}', None),
        ('  {"a": 1}}', None),
    ],
)
def test_an_object_in_tags_is_one_or_the_call_is_malformed(value: str, parts: tuple[object, ...] | None) -> None:
    text = TAGS.replace("{}", value)
    found = read("qwen3_coder", text, tools=[tool("f", x={"type": ["object", "null"]})])
    assert found.parts == (parts if parts is not None else (unread(text, "f"),))


@pytest.mark.parametrize("after", ["", " x"])
def test_a_long_value_that_may_be_a_string_is_read_the_same_however_it_is_cut(after: str) -> None:
    value = '{"a": "' + "z" * 5000 + '"}' + after
    read("qwen3_coder", TAGS.replace("{}", value), tools=[tool("f", x={"type": ["object", "string"]})])


@pytest.mark.parametrize("dialect", ["hermes", "kimi_k2"])
@pytest.mark.parametrize("depth", [1, 3])
def test_a_number_beyond_the_bound_breaks_the_call_however_it_is_cut(dialect: str, depth: int) -> None:
    arguments = '{"x": ' + "[" * depth + "7" * 1025 + "]" * depth + "}"
    text = {
        "hermes": f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>',
        "kimi_k2": f"<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{arguments}<|tool_call_end|>",
    }[dialect]
    assert read(dialect, text).parts == (unread(text, "f"),)


# Ends


BROKEN = b.call("<", b.commit(), b.name("f"), close=">", closers=(">",), resume=("<",)) + b.until()


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (
            "<fx>y",
            [
                Markup("<", 0, 1),
                CallBegin(0, "f", None, 1, 2),
                CallEnd(0, CallStatus.MALFORMED, (), None, 2, 2),
                Malformed("x>", 2, 4),
                Problem(ProblemKind.MALFORMED, "<fx>", "the call does not follow its grammar", 4, 4),
                Markup("y", 4, 5),
            ],
        ),
        (
            "<f<y",
            [
                Markup("<", 0, 1),
                CallBegin(0, "f", None, 1, 2),
                ArgumentsDelta(0, "{}", 2, 2),
                CallEnd(0, CallStatus.COMPLETE, (), None, 2, 2),
                Problem(ProblemKind.IMPLICIT_CLOSE, "", "another marker stands where the call should be closed", 2, 2),
                Markup("<y", 2, 4),
            ],
        ),
        (
            "<x",
            [
                Markup("<", 0, 1),
                Malformed("x", 1, 2),
                Problem(ProblemKind.MALFORMED, "<x", "the call does not follow its grammar", 2, 2),
            ],
        ),
        (
            "<",
            [Markup("<", 0, 1), Problem(ProblemKind.INCOMPLETE, "<", "the input ended inside a call", 1, 1)],
        ),
    ],
)
def test_what_breaks_a_call_ends_it_and_nothing_is_lost(text: str, events: list[Event]) -> None:
    assert run(BROKEN, text) == events


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("reason", ["stop", "length", None])
def test_a_call_that_lacks_its_closer_at_the_end_is_complete_if_the_model_stopped(
    reason: str | None, stops: bool
) -> None:
    found = run(b.call("<", b.commit(), b.name("f"), close=">", stops=stops), "<f", reason)
    (end,) = [event for event in found if isinstance(event, CallEnd)]
    problems = [event.kind for event in found if isinstance(event, Problem)]
    if reason == "stop":
        assert (end.status, problems) == (CallStatus.COMPLETE, [] if stops else [ProblemKind.IMPLICIT_CLOSE])
    else:
        assert (end.status, problems) == (CallStatus.INCOMPLETE, [ProblemKind.INCOMPLETE])


# Headers


HEADER = b.header(
    "|",
    b.case(b.call(b.begin(), b.arguments(b.json()), close=";"), to="f.*", on="a"),
    b.case(b.content(b.until()), on=".*"),
    start=("on=", "to="),
    abort=("!",),
    fields={"to": r"to=(\w+)", "on": r"on=(\w+)", "name": r"to=(\w+)"},
    limit=20,
)


@pytest.mark.parametrize("head", ["on=a to=f1|", "to=f1 on=a|"])
def test_the_fields_of_a_header_stand_in_any_order_and_decide_what_follows(head: str) -> None:
    assert run(HEADER, head + "{};")[:2] == [Markup(head, 0, 11), CallBegin(0, "f1", None, 11, 11)]


@pytest.mark.parametrize("text", ["x=1|", "to=g|", "on=a !|", "on=" + "a" * 18 + "|"])
def test_a_header_without_a_case_or_with_an_abort_or_that_is_too_long_does_not_match(text: str) -> None:
    assert run(HEADER, text) == [
        Problem(ProblemKind.MALFORMED, "", "the input does not follow the grammar", 0, 0),
        Malformed(text, 0, len(text)),
    ]


@pytest.mark.parametrize(
    ("text", "kind"), [("on=a", ProblemKind.MALFORMED_HEADER), ("on=a to=f", ProblemKind.INCOMPLETE)]
)
def test_a_header_that_the_end_cuts_is_malformed_and_if_it_names_a_call_that_is_incomplete(
    text: str, kind: ProblemKind
) -> None:
    end = len(text)
    assert run(HEADER, text) == [
        Malformed(text, 0, end),
        Problem(kind, text, "the input ended inside a header", end, end),
    ]


def test_a_header_whose_beginning_the_end_cuts_does_not_match() -> None:
    (problem, rest) = run(HEADER, "on")
    assert isinstance(problem, Problem)
    assert (problem.kind, rest) == (ProblemKind.INCOMPLETE, Malformed("on", 0, 2))


def test_what_is_kept_of_a_broken_call_begins_with_its_header() -> None:
    call = b.call(b.commit(), b.begin(), b.arguments(b.json()), close=";", closers=(";",))
    header = b.header("|", b.case(call, name=".+"), start=("to=",), fields={"name": r"to=(\w+)"})
    assert [event.raw for event in run(header, "to=f|{1;") if isinstance(event, Problem)] == ["to=f|{1;"]


# What may come next


def test_it_says_that_a_header_may_come_next() -> None:
    machine = Machine(program_of(Grammar(HEADER)))
    machine.feed("on=")
    assert machine.accepts() == {"header"}


def test_nothing_may_come_where_a_call_is_broken_or_the_grammar_does_not_fit() -> None:
    parser = Parser("hermes")
    parser.feed('<tool_call>{"name": "f" <|im_')
    assert parser.accepts() == frozenset()
    machine = Machine(program_of(Grammar(b.literal("a"))))
    machine.feed("b")
    assert machine.accepts() == frozenset()


# Mistakes


def test_only_nodes_make_a_grammar() -> None:
    class Own(Node, frozen=True):
        """A node of one's own, which nothing knows how to run."""

    with pytest.raises((GrammarError, TypeError)):
        program_of(Grammar(Own()))


def test_two_calls_are_counted_apart() -> None:
    text = '<tool_call>{"name": "f", "arguments": {}}{"name": "g", "arguments": {}}</tool_call>'
    begun = [event for event in parse_events(text, "hermes") if isinstance(event, CallBegin)]
    assert [(event.index, event.name) for event in begun] == [(0, "f"), (1, "g")]
