"""Time in proportion to the input, whatever it is: counted in operations, since seconds depend on the machine (B10).

What is counted for an input: each step that a machine takes, the characters that lie before it at each step and at
each of its short cuts, and the values that are copied where a choice opens. Twice the input may cost twice as much.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dragoman import Parser
from dragoman.events import Event, Problem, merge
from dragoman.grammar.frames import CallState
from dragoman.grammar.labels import Rest
from dragoman.grammar.machine import Machine
from dragoman.grammar.prose import ProseRest
from dragoman.grammar.steps import Step
from tests.regressions.reading import DIALECTS, called

JSON_DIALECTS = ("hermes", "harmony", "llama3_json", "mistral", "deepseek_r1")


class Work:
    """Counts what machines do while it is patched in."""

    def __init__(self) -> None:
        self.steps = 0
        self.characters = 0
        self.copied = 0

    @property
    def total(self) -> int:
        return self.steps + self.characters + self.copied


def kinds_of_steps(kind: type[Step] = Step) -> Iterator[type[Step]]:
    yield kind
    for below in kind.__subclasses__():
        yield from kinds_of_steps(below)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    count = Work()

    def counted_step(run):  # type: ignore[no-untyped-def]
        def wrapped(self: Step, machine: Machine) -> Step | None:
            count.steps += 1
            before = machine.base + machine.at
            following = run(self, machine)
            count.characters += abs(machine.base + machine.at - before)
            return following

        return wrapped

    def counted_feed(feed):  # type: ignore[no-untyped-def]
        def wrapped(self: Machine, *rest: object) -> object:
            count.characters += len(self.text) + sum(len(piece) for piece in rest if isinstance(piece, str))
            return feed(self, *rest)

        return wrapped

    for kind in set(kinds_of_steps()):
        if "run" in kind.__dict__:
            monkeypatch.setattr(kind, "run", counted_step(kind.__dict__["run"]))

    def counted_read(read):  # type: ignore[no-untyped-def]
        def wrapped(self: Rest, machine: Machine, text: str) -> object:
            count.characters += len(machine.text) + len(text)
            return read(self, machine, text)

        return wrapped

    for name in ("resume", "_feed_json"):
        monkeypatch.setattr(Machine, name, counted_feed(getattr(Machine, name)))
    for kind_of_rest, name in ((Rest, "search"), (ProseRest, "read")):
        monkeypatch.setattr(kind_of_rest, name, counted_read(getattr(kind_of_rest, name)))
    copy = CallState.copy

    def counted_copy(self: CallState) -> CallState:
        count.copied += 1 + len(self.keys) + len(self.deferred) + len(self.problems)
        return copy(self)

    monkeypatch.setattr(CallState, "copy", counted_copy)
    return count


def feed(parser: Parser, whole: str, size: int) -> list[Event]:
    bound, events = parser.hold_bound, []
    for at in range(0, len(whole), size):
        events += parser.feed(whole[at : at + size])
        assert parser.held <= bound
    return events


def cost(work: Work, dialect: str, whole: str, size: int) -> int:
    """What it costs to read this in pieces of a size."""
    before, parser = (
        work.total,
        Parser(dialect, start="final" if dialect == "harmony" and whole[:2] != "<|" else "content"),
    )
    feed(parser, whole, size)
    parser.finish("stop")
    return work.total - before


def assert_linear(work: Work, dialect: str, head: str, unit: str, *, size: int, at_most: int, count: int = 600) -> None:
    """Reading twice as many units costs twice as much, and no more than `at_most` operations a character."""
    once = cost(work, dialect, head + unit * (count // len(unit) or 1), size)
    whole = head + unit * (2 * count // len(unit) or 2)
    twice = cost(work, dialect, whole, size)
    assert twice <= 2.2 * once + 2000
    assert twice <= at_most * len(whole)


UNITS = [
    "<",
    "\n",
    " ",
    "`",
    "{",
    "[",
    "<|",
    "</",
    "<t",
    "\n<",
    "<tool_call>",
    "<tool_call>\n",
    "<think> ",
    '{"name"',
    "\\",
]
UNITS += [
    "\n{",
    "<function=",
    "[TOOL_CALLS]",
    "<｜tool",
    "<|channel|>",
    "</think>",
    "<|end|>",
    "to=f ",
    '{"name": "',
    "~",
]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_of_almost_markers_costs_in_proportion(work: Work, dialect: str) -> None:
    for unit in UNITS:
        assert_linear(work, dialect, "a", unit, size=1, at_most=400, count=300)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_text_of_almost_markers_costs_in_proportion_in_longer_chunks(work: Work, dialect: str) -> None:
    for unit in ("<", "\n", "`", "<think> ", "<tool_call>\n"):
        assert_linear(work, dialect, "a", unit, size=4, at_most=200, count=600)


@pytest.mark.parametrize("dialect", JSON_DIALECTS)
@pytest.mark.parametrize("unit", ["\\\\", '\\"', "<", "\\u0041", "</tool_call>", "<|call|>", "é", "}", "]"])
@pytest.mark.parametrize("size", [1, 4])
def test_a_long_string_costs_in_proportion(work: Work, dialect: str, unit: str, size: int) -> None:
    head = called(dialect, "f", '{"s": "@"}').partition("@")[0]
    assert_linear(work, dialect, head, unit, size=size, at_most=40)


@pytest.mark.parametrize(
    "unit", ["<", "\n", "\n<", "</parameter>", "</parameter> ", "\n</parameter>\n!", "</parameter>\n\n"]
)
@pytest.mark.parametrize("size", [1, 4])
def test_a_long_raw_value_costs_in_proportion(work: Work, unit: str, size: int) -> None:
    head = "<tool_call>\n<function=f>\n<parameter=x>\n"
    assert_linear(work, "qwen3_coder", head, unit, size=size, at_most=100)


@pytest.mark.parametrize("size", [1, 4])
def test_many_parameters_cost_in_proportion(work: Work, size: int) -> None:
    head = "<tool_call>\n<function=f>\n"
    unit = "<parameter=x>\n1\n</parameter>\n"
    assert_linear(work, "qwen3_coder", head, unit, size=size, at_most=100, count=6000)


@pytest.mark.parametrize("size", [1, 4])
def test_many_ambiguous_closers_and_parameters_cost_in_proportion(work: Work, size: int) -> None:
    head = "<tool_call>\n<function=f>\n"
    unit = "<parameter=x>\n</parameter>!</parameter>\n"
    assert_linear(work, "qwen3_coder", head, unit, size=size, at_most=100, count=6000)


@pytest.mark.parametrize("size", [1, 4])
def test_many_members_beside_many_arguments_cost_in_proportion(work: Work, size: int) -> None:
    def output(count: int) -> str:
        arguments = ",".join(f'"k{k}":1' for k in range(count))
        return f'<tool_call>{{"name": "f", "arguments": {{{arguments}}}' + ', "x": 1' * count + "}</tool_call>"

    once, twice = (cost(work, "hermes", output(count), size) for count in (200, 400))
    assert twice <= 2.4 * once + 2000


@pytest.mark.parametrize("size", [1, 4])
def test_many_members_behind_arguments_that_wait_for_the_name_cost_in_proportion(work: Work, size: int) -> None:
    def output(count: int) -> str:
        return (
            '<tool_call>{"arguments": {"s": "'
            + "a" * 4 * count
            + '"}'
            + ', "x": 1' * count
            + ', "name": "f"}</tool_call>'
        )

    once, twice = (cost(work, "hermes", output(count), size) for count in (200, 400))
    assert twice <= 2.4 * once + 2000


@pytest.mark.parametrize(
    ("dialect", "unit"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>\n'),
        ("qwen3_coder", "<tool_call>\n<function=f>\n</function>\n</tool_call>\n"),
        ("mistral", "[TOOL_CALLS]f[ARGS]{}"),
        ("kimi_k2", "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>"),
        ("deepseek_v31", "<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>"),
        ("llama3_json", '\n{"name": "f", "parameters": {}}'),
        ("harmony", "<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|end|>"),
    ],
)
def test_many_calls_cost_in_proportion(work: Work, dialect: str, unit: str) -> None:
    assert_linear(work, dialect, "<|" if dialect == "harmony" else "", unit, size=1, at_most=200, count=2000)


@pytest.mark.parametrize(
    ("dialect", "unit"),
    [
        ("hermes", '<tool_call>\n{"name": "f", "arguments": {oops}}\n'),
        ("hermes", '<tool_call>\n{"arguments": {}}\n</tool_call>'),
        ("qwen3_coder", "<tool_call>\n<function=f>\noops\n"),
        ("mistral", "[TOOL_CALLS]f[ARGS]{oops"),
        ("kimi_k2", "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>oops"),
        ("harmony", "<|channel|>final<|start|>assistant<|constrain|>"),
    ],
)
def test_many_broken_calls_cost_in_proportion(work: Work, dialect: str, unit: str) -> None:
    assert_linear(work, dialect, "<|" if dialect == "harmony" else "", unit, size=1, at_most=600, count=2000)


@pytest.mark.parametrize("dialect", ["hermes"])
@pytest.mark.parametrize("size", [1, 4])
def test_a_hundred_thousand_brackets_are_refused_early_and_cost_in_proportion(
    work: Work, dialect: str, size: int
) -> None:
    head = called(dialect, "f", "@").partition("@")[0] + '{"x": '
    whole = head + "[" * 100_000
    parser = Parser(dialect)
    events = feed(parser, whole, size) + parser.finish("stop")
    assert work.total <= 10 * len(whole)
    assert [event.kind.value for event in merge(events) if isinstance(event, Problem)] == ["malformed"]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("filler", ["\n", "plain words, "])
def test_a_megabyte_of_plain_text_is_hardly_touched(work: Work, dialect: str, filler: str) -> None:
    """In chunks as large as a network's; nothing is kept from one to the next."""
    whole = filler * (1_000_000 // len(filler))
    assert cost(work, dialect, whole, 4096) <= 3 * len(whole)


@pytest.mark.parametrize("dialect", ["hermes", "qwen3_coder", "kimi_k2", "mistral"])
def test_a_megabyte_whole_costs_what_it_costs_in_pieces(work: Work, dialect: str) -> None:
    whole = "a <b `c` <think> d\n" * 5000
    assert cost(work, dialect, whole, len(whole)) <= 20 * len(whole)
