"""The normaliser: clean streams pass as they are, leaked markup is read, and the promises hold for any pushes."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Dialect, Message, Policy, Tool, assemble, dialects, get_dialect
from dragoman.errors import ParserFinished
from dragoman.events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Malformed,
    Markup,
    Problem,
    ProblemKind,
    ReasoningDelta,
    Stop,
    merge,
)
from dragoman.stream.normalize import CALLS_LIMIT, WAITING_LIMIT, Channel, Normalizer
from dragoman.types import TextPart, ThinkingPart, ToolCall, UnparsedToolCall
from tests.stream.pushes import Call, Push, Reasoning, Text, clean, normalized, outputs, pieces, push_all, some, spelled

DIALECTS = dialects()
EXAMPLES = [
    pytest.param(dialect, example.message, id=f"{dialect.name}: {example.title}")
    for dialect in DIALECTS
    for example in dialect.examples
]
REASONS = st.sampled_from([None, "stop", "length", "tool_calls", "content_filter"])


@st.composite
def trials(draw: st.DrawFn) -> tuple[Dialect, list[Push]]:
    dialect = draw(st.sampled_from(DIALECTS))
    return dialect, draw(outputs(dialect))


def message(dialect: str, *pushes: Push, reason: str | None = "stop") -> Message:
    return assemble(normalized(dialect, *pushes, reason=reason))


def parts(dialect: str, *pushes: Push, reason: str | None = "stop") -> tuple[object, ...]:
    return message(dialect, *pushes, reason=reason).parts


def problems(events: list[Event]) -> list[ProblemKind]:
    ends = [problem.kind for event in events if isinstance(event, CallEnd) for problem in event.problems]
    return [event.kind for event in events if isinstance(event, Problem)] + ends


# The promises


@some
@given(trials(), REASONS, st.lists(st.integers(0, 1 << 20), max_size=3))
def test_events_do_not_depend_on_how_pushes_are_cut(
    trial: tuple[Dialect, list[Push]], reason: str | None, places: list[int]
) -> None:
    dialect, pushes = trial
    expected = merge(normalized(dialect, *pushes, reason=reason))
    characters = [piece for one in pushes for piece in pieces(one)]
    assert merge(normalized(dialect, *characters, reason=reason)) == expected
    some = [piece for one in pushes for piece in pieces(one, places)]
    assert merge(normalized(dialect, *some, reason=reason)) == expected


@some
@given(trials(), REASONS)
def test_every_character_is_in_one_span_and_text_is_where_its_span_says(
    trial: tuple[Dialect, list[Push]], reason: str | None
) -> None:
    dialect, pushes = trial
    text, at = spelled(pushes), 0
    events = normalized(dialect, *pushes, reason=reason)
    for event in sorted((event for event in events if event.end > event.start), key=lambda event: event.start):
        assert event.start == at
        at = event.end
        if isinstance(event, ContentDelta | ReasoningDelta | Markup | Malformed):
            assert event.text == text[event.start : event.end]
    assert at == len(text)


@some
@given(trials(), REASONS)
def test_calls_are_whole_and_numbered_in_their_order(trial: tuple[Dialect, list[Push]], reason: str | None) -> None:
    dialect, pushes = trial
    count, open_call = 0, False
    events = normalized(dialect, *pushes, reason=reason)
    for event in events:
        match event:
            case CallBegin():
                assert (event.index, open_call) == (count, False)
                count, open_call = count + 1, True
            case ArgumentsDelta():
                assert open_call
                assert event.index == count - 1
            case CallEnd():
                assert open_call
                open_call = False
            case ContentDelta() | ReasoningDelta():
                assert not open_call
            case _:
                pass
    assert [type(event) for event in events].index(Stop) == len(events) - 1


@some
@given(trials(), st.integers(0, 1 << 20))
def test_what_is_published_depends_on_what_was_pushed_alone(trial: tuple[Dialect, list[Push]], place: int) -> None:
    dialect, pushes = trial
    characters = [piece for one in pushes for piece in pieces(one)]
    cut = place % (len(characters) + 1)
    one, other = Normalizer(dialect), Normalizer(dialect)
    early = push_all(one, characters[:cut])
    assert merge(push_all(other, rejoined(characters[:cut]))) == merge(early)
    late = push_all(one, characters[cut:]) + one.finish()
    assert merge(early + late) == merge(normalized(dialect, *pushes, reason=None))


def rejoined(pushes: list[Push]) -> list[Push]:
    """The same with neighbouring texts in one."""
    joined: list[Push] = []
    for one in pushes:
        last = joined[-1] if joined else None
        if isinstance(one, Text) and isinstance(last, Text):
            joined[-1] = Text(last.text + one.text)
        elif isinstance(one, Reasoning) and isinstance(last, Reasoning):
            joined[-1] = Reasoning(last.text + one.text)
        else:
            joined.append(one)
    return joined


@pytest.mark.parametrize(("dialect", "expected"), EXAMPLES)
def test_a_clean_stream_passes_as_it_is(dialect: Dialect, expected: Message) -> None:
    normalizer = Normalizer(dialect)
    events = push_all(normalizer, clean(expected)) + normalizer.finish("stop")
    found = assemble(events)
    assert (found.text, found.thinking) == (expected.text, expected.thinking)
    assert [(call.name, call.arguments) for call in found.tool_calls] == [
        (call.name, call.arguments) for call in expected.tool_calls
    ]
    assert not any(isinstance(event, Markup | Malformed | Problem) for event in events)
    assert normalizer.residue == {}


PLAIN = st.text(st.sampled_from("ab \n.1é<>|`*"), min_size=1, max_size=20)


@some
@given(st.sampled_from(DIALECTS), PLAIN, PLAIN)
def test_text_without_markup_is_not_touched(dialect: Dialect, thought: str, answer: str) -> None:
    events = normalized(dialect, Reasoning(thought), Text(answer))
    end = len(thought + answer)
    assert merge(events) == [
        ReasoningDelta(thought, 0, len(thought)),
        ContentDelta(answer, len(thought), end),
        Stop("stop", None, end, end),
    ]


WITHIN_A_HEADER = frozenset(("functionary_v32", "muse"))
"""Dialects whose output begins within a header that no marker begins: there, a clean text might begin the same."""


@pytest.mark.parametrize(("dialect", "expected"), EXAMPLES)
def test_an_output_that_is_leaked_whole_is_read_whole(dialect: Dialect, expected: Message) -> None:
    if dialect.name in WITHIN_A_HEADER:
        return
    example = next(example for example in dialect.examples if example.message is expected)
    normalizer = Normalizer(dialect, example.tools)
    events = normalizer.push_text(example.text) + normalizer.finish("stop")
    assert assemble(events) == expected
    assert normalizer.residue == {}


@pytest.mark.parametrize("dialect", [dialect for dialect in DIALECTS if dialect.thoughts], ids=lambda d: d.name)
def test_an_answer_that_is_leaked_into_the_thoughts_is_an_answer(dialect: Dialect) -> None:
    written = Message("assistant", (ThinkingPart("Hm."), TextPart("Four.")))
    leaked = dialect.render(written).partition("Hm.")[2]
    assert parts(dialect.name, Reasoning("Hm." + leaked)) == written.parts


@pytest.mark.parametrize("every", [0, 1, 3])
def test_the_work_is_linear(every: int) -> None:
    def steps(count: int) -> int:
        """Calls of functions for so many pushes, with a change of channel at every so many."""
        pushes = [Text("a <") if not every or k % (2 * every) < every else Reasoning("b `") for k in range(count)]
        seen = 0

        def note(frame: object, kind: str, value: object) -> None:
            nonlocal seen
            seen += kind in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(note)
        try:
            normalized("hermes", *pushes)
        finally:
            sys.setprofile(before)
        return seen

    steps(10)
    assert steps(800) < 2.1 * steps(400)


# Leaks


CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
F = ToolCall("f", '{"x": 1}')


@pytest.mark.parametrize(
    ("dialect", "pushes", "expected"),
    [
        ("hermes", [Text("<think>\nHm.\n</think>\n\nFour.")], [ThinkingPart("Hm."), TextPart("Four.")]),
        ("hermes", [Reasoning("Hm."), Text("</think>\n\nFour.")], [ThinkingPart("Hm."), TextPart("\n\nFour.")]),
        ("hermes", [Reasoning("Hm.\n</think>\n\n"), Text("Four.")], [ThinkingPart("Hm."), TextPart("Four.")]),
        ("hermes", [Reasoning("<think>\nHm."), Text("Four.")], [ThinkingPart("Hm."), TextPart("Four.")]),
        ("hermes", [Text("Look." + CALL)], [TextPart("Look."), F]),
        ("hermes", [Reasoning("Hm." + CALL)], [ThinkingPart("Hm."), F]),
        ("hermes", [Text("Four.<|im_end|>")], [TextPart("Four.")]),
        ("hermes", [Text("Write `" + CALL + "`.")], [TextPart("Write `" + CALL + "`.")]),
        ("hermes", [Reasoning("plan <tool_"), Text("call>x")], [ThinkingPart("plan <tool_"), TextPart("call>x")]),
        ("hermes", [Text("a</thi"), Text("nk>b")], [TextPart("ab")]),
        ("llama3_json", [Text('{"name": "f", "parameters": {"x": 1}}')], [F]),
        ("llama3_json", [Reasoning("Hm."), Text("Four.")], [ThinkingPart("Hm."), TextPart("Four.")]),
        (
            "harmony",
            [Text("<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Four.")],
            [ThinkingPart("Hm."), TextPart("Four.")],
        ),
        (
            "harmony",
            [Reasoning("Hm.<|end|><|start|>assistant<|channel|>final<|message|>Four.<|return|>")],
            [ThinkingPart("Hm."), TextPart("Four.")],
        ),
        (
            "harmony",
            [Reasoning('Hm.<|end|><|start|>assistant<|channel|>analysis to=functions.f<|message|>{"x": 1}<|call|>')],
            [ThinkingPart("Hm."), F],
        ),
    ],
)
def test_leaked_markup_is_read(dialect: str, pushes: list[Push], expected: list[object]) -> None:
    assert list(parts(dialect, *pushes)) == expected


def test_a_text_that_begins_in_a_thought_is_read_so() -> None:
    normalizer = Normalizer("hermes", within=Channel.REASONING)
    events = push_all(normalizer, [Text("Hm.\n</think>\n\nFour."), Call(0, "f"), Text("Five.")])
    found = assemble(events + normalizer.finish("stop"))
    assert found.parts == (ThinkingPart("Hm."), TextPart("Four."), ToolCall("f", "{}"), TextPart("Five."))


def test_code_that_is_open_stays_open_over_an_interruption() -> None:
    text = CALL.replace("\n", " ")
    for opened, closed in (
        ("```\nx", "\n```\n"),
        ("`x", "`."),
        ("```x", "```."),
        ("a ``x`y", "``."),
        ("```\nx\n``", "`\n"),
    ):
        assert message("hermes", Text(opened), Reasoning("Hm."), Text(text)).tool_calls == ()
        assert message("hermes", Text(opened), Reasoning("Hm."), Text(closed + text)).tool_calls == (F,)


def test_a_policy_decides_what_markup_in_code_and_in_thoughts_is() -> None:
    quoted, thought = [Text("`"), Reasoning("Hm."), Text(CALL)], [Reasoning(CALL)]
    for dialect, policy, pushes, count in (
        ("hermes", Policy(calls_in_code=True), quoted, 1),
        ("hermes", Policy(calls_in_reasoning=False), thought, 0),
        ("xlam", Policy(calls_in_reasoning=False), thought, 0),
        ("llama3_json", Policy(calls_in_reasoning=False), [Reasoning('{"name": "f", "parameters": {}}')], 0),
        ("llama3_json", Policy(), [Reasoning('{"name": "f", "parameters": {}}')], 1),
    ):
        normalizer = Normalizer(dialect, policy=policy)
        events = push_all(normalizer, pushes) + normalizer.finish()
        assert len(assemble(events).tool_calls) == count


def test_the_dialect_auto_is_read_as_generic() -> None:
    assert parts("auto", Text("<think>\nHm.\n</think>\n\nFour.")) == (ThinkingPart("Hm."), TextPart("Four."))


# Calls of the upstream


@pytest.mark.parametrize(
    ("pushes", "expected"),
    [
        ([Call(0, "f", '{"x": 1}', "a")], [ToolCall("f", '{"x": 1}', "a")]),
        ([Call(0, "f", "", "a"), Call(0, "", '{"x"'), Call(0, "", ": 1}")], [ToolCall("f", '{"x": 1}', "a")]),
        ([Call(10**9, "f"), Call(-1, "g")], [ToolCall("f", "{}"), ToolCall("g", "{}")]),
        ([Call(0, "get_"), Call(0, "weather")], [ToolCall("get_weather", "{}")]),
        ([Call(0, "f", "{"), Call(0, "f", "}")], [ToolCall("f", "{}")]),
        ([Call(0, "f"), Call(0, "f", "{}")], [ToolCall("f", "{}")]),
        ([Call(0, "", "", "a"), Call(0, "f", "{}")], [ToolCall("f", "{}", "a")]),
        ([Call(0, "", "{"), Call(0, "f", "}", "a")], [ToolCall("f", "{}", "a")]),
        ([Call(0, "f", "{"), Call(0, "", "}", "a")], [ToolCall("f", "{}", "a")]),
        ([Call(0, "f", "{} \n"), Call(1, "g", " {}")], [ToolCall("f", "{}"), ToolCall("g", " {}")]),
        ([Call(0, "f", "{}", "a"), Call(0, "f", "{}", "b")], [ToolCall("f", "{}", "a"), ToolCall("f", "{}", "b")]),
        ([Call(0, "f", "", "a"), Call(0, "g", "", "b")], [ToolCall("f", "{}", "a"), ToolCall("g", "{}", "b")]),
        ([Call(0, "f", "{}"), Call(0, "g", "{}")], [ToolCall("f", "{}"), ToolCall("g", "{}")]),
        ([Call(0, "f", "12"), Text("a")], [UnparsedToolCall("12", "the arguments are cut", "f"), TextPart("a")]),
    ],
)
def test_deltas_make_calls(pushes: list[Push], expected: list[object]) -> None:
    if pushes[-1] == Text("a"):  # what comes behind a number, which might go on, waits for the end
        expected[0] = ToolCall("f", "12")
    assert list(parts("hermes", *pushes)) == expected


def test_interleaved_calls_come_out_one_after_the_other() -> None:
    pushes = [Call(0, "f", '{"x": '), Call(1, "g"), Call(2, "h"), Call(1, "", "{"), Text("Done."), Call(0, "", "1}")]
    normalizer = Normalizer("hermes")
    assert [type(event) for event in merge(push_all(normalizer, pushes[:5]))] == [CallBegin, ArgumentsDelta]
    assert normalizer.held == len("gh{Done.")
    events = push_all(normalizer, [*pushes[5:], Call(1, "", "}")])
    assert [type(event) for event in merge(events)][:6] == [
        ArgumentsDelta,
        CallEnd,
        CallBegin,
        ArgumentsDelta,
        ArgumentsDelta,
        CallEnd,
    ]
    found = assemble(events + normalizer.finish("stop")).parts
    assert found == (ToolCall("g", "{}"), ToolCall("h", "{}"), TextPart("Done."))


def test_text_behind_a_call_without_arguments_ends_it() -> None:
    assert parts("hermes", Call(0, "f"), Text("Done.")) == (ToolCall("f", "{}"), TextPart("Done."))


def test_leaked_calls_and_the_upstreams_share_their_numbers() -> None:
    events = normalized("hermes", Text(CALL), Call(0, "g", "{}"), Text(CALL + CALL), Call(1, "h", "{}"))
    begun = [(event.index, event.name) for event in events if isinstance(event, CallBegin)]
    assert begun == [(0, "f"), (1, "g"), (2, "f"), (3, "f"), (4, "h")]


def test_held_text_leaves_before_a_call() -> None:
    assert parts("hermes", Text("a <tool_"), Call(0, "f")) == (TextPart("a <tool_"), ToolCall("f", "{}"))


def test_a_leaked_call_that_lacks_its_closer_is_complete_where_the_output_goes_on() -> None:
    text = Text(CALL.removesuffix("\n</tool_call>"))
    assert message("hermes", text, Call(0, "g"), reason="stop").tool_calls == (F, ToolCall("g", "{}"))
    assert message("hermes", text, reason="length").tool_calls == ()


@pytest.mark.parametrize(
    ("arguments", "reason", "status"),
    [
        ("{}", None, CallStatus.COMPLETE),
        ("", "stop", CallStatus.COMPLETE),
        ("", "length", CallStatus.INCOMPLETE),
        ("", None, CallStatus.INCOMPLETE),
        ('{"x"', "stop", CallStatus.INCOMPLETE),
        ("{'x'", "stop", CallStatus.MALFORMED),
        ("{}{}", "stop", CallStatus.MALFORMED),
        ("12", "length", CallStatus.COMPLETE),
    ],
)
def test_only_a_call_with_json_is_complete(arguments: str, reason: str | None, status: CallStatus) -> None:
    events = normalized("hermes", Call(0, "f", arguments), reason=reason)
    assert [event.status for event in events if isinstance(event, CallEnd)] == [status]


def test_a_call_that_is_cut_keeps_what_there_is() -> None:
    assert parts("hermes", Call(0, "f", '{"x": 1')) == (UnparsedToolCall('{"x": 1', "the arguments are cut", "f"),)
    assert parts("hermes", Call(0, "", "{}")) == (UnparsedToolCall("{}", "a call without a name"),)
    assert parts("hermes", Call(0, "", "", "a")) == ()


def test_what_comes_behind_the_end_of_a_call_is_reported() -> None:
    events = normalized("hermes", Call(0, "f", "{}"), Call(1, "g", "{}"), Call(0, "", " x"), Call(0, "", " y"))
    assert [event.text for event in merge(events) if isinstance(event, Malformed)] == ["x y"]
    assert problems(events) == [ProblemKind.TRAILING_INPUT]


def test_unknown_tools_and_second_names_are_noted() -> None:
    normalizer = Normalizer("hermes", [Tool("g")])
    events = push_all(normalizer, [Call(0, "f", "{"), Call(0, "g", "}")]) + normalizer.finish()
    assert problems(events) == [ProblemKind.UNKNOWN_TOOL, ProblemKind.REPEATED_ARGUMENT]


def test_an_upstream_that_never_stops_calling_is_bounded() -> None:
    events = normalized("hermes", *(Call(k, "f", "{}") for k in range(CALLS_LIMIT + 2)))
    assert sum(isinstance(event, CallEnd) for event in events) == CALLS_LIMIT
    assert problems(events) == [ProblemKind.TRAILING_INPUT]


@pytest.mark.parametrize("size", [1000, WAITING_LIMIT + 2])
def test_a_call_that_never_ends_is_cut_before_too_much_waits(size: int) -> None:
    normalizer, piece = Normalizer("hermes"), "a" * size
    events = normalizer.push_call(0, name="f", arguments="{")
    for _ in range(WAITING_LIMIT // size + 1):
        events += normalizer.push_text(piece)
        assert normalizer.held <= WAITING_LIMIT
    assert problems(events) == [ProblemKind.INCOMPLETE]


def test_arguments_without_a_name_are_bounded() -> None:
    piece = '"' + "a" * 99_998 + '",'
    pushes = [Call(0, "", "["), *[Call(0, "", piece)] * 11, Call(0, "f", "1]")]
    events = normalized("hermes", *pushes)
    assert [event.status for event in events if isinstance(event, CallEnd)] == [CallStatus.MALFORMED]


# Why the output ended


@pytest.mark.parametrize(
    ("pushes", "said", "known"),
    [
        ([Text("a")], "stop", "stop"),
        ([Text("a")], None, None),
        ([Text("a")], "length", "length"),
        ([Text("a")], "tool_calls", "stop"),
        ([Text("a")], "content_filter", "content_filter"),
        ([Text(CALL)], "stop", "tool_calls"),
        ([Text(CALL)], None, None),
        ([Text(CALL)], "length", "length"),
        ([Call(0, "f", "{}")], "stop", "tool_calls"),
        ([Call(0, "f", "{}")], "function_call", "tool_calls"),
        ([Call(0, "f", "{")], "tool_calls", "stop"),
    ],
)
def test_the_reason_is_corrected_by_evidence_only(pushes: list[Push], said: str | None, known: str | None) -> None:
    stop = normalized("hermes", *pushes, reason=said)[-1]
    assert isinstance(stop, Stop)
    assert stop.reason == known


def test_a_stop_marker_that_leaked_is_told() -> None:
    assert normalized("hermes", Text("Four.<|im_end|>"), Call(0, "f"))[-1] == Stop("tool_calls", "<|im_end|>", 16, 16)


def test_nothing_is_pushed_after_the_end() -> None:
    normalizer = Normalizer("hermes")
    normalizer.finish()
    for act in (lambda: normalizer.push_text("a"), lambda: normalizer.push_call(0, name="f"), normalizer.finish):
        with pytest.raises(ParserFinished):
            act()


def test_a_dialect_may_be_given_itself() -> None:
    assert Normalizer(get_dialect("hermes")).dialect is get_dialect("hermes")
