"""The kit itself: it passes a good dialect, and names the very promise that a broken one breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

import pytest
from msgspec.structs import replace

from dragoman import Dialect, Example, Message, Parser, TextPart, ThinkingPart, Tool, ToolCall
from dragoman.dialects.generic import generic
from dragoman.errors import Inexpressible, NotStreamable
from dragoman.events import (
    ArgumentsDelta,
    ContentDelta,
    Event,
    Markup,
    Stop,
)
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar
from dragoman.testing import (
    PROMISES,
    Broken,
    Report,
    Result,
    Trial,
    check_dialect,
    chunkings,
    made_up_message,
    made_up_trial,
    mutations,
    trials,
)

THOUGHT_AND_CALL = Message("assistant", (ThinkingPart("a"), ToolCall("f", "{}")))
EXAMPLES = (
    Example(
        "a thought and a call", '<t>\na\n</t>\n\n<call>\n{"name": "f", "arguments": {}}\n</call>', THOUGHT_AND_CALL
    ),
    Example("an answer", "Write `<call>`.", Message("assistant", (TextPart("Write `<call>`."),))),
)
GOOD = replace(
    generic(think=("<t>", "</t>"), call=("<call>", "</call>"), stops=("<|end|>",), name="good"), examples=EXAMPLES
)


def failed(dialect: Dialect) -> dict[str, str]:
    report = check_dialect(dialect, max_examples=3)
    return {result.name: result.detail for result in report.results if result.status == "failed"}


# Dialects


def test_a_good_dialect_keeps_every_promise() -> None:
    done: list[float] = []
    report = check_dialect(GOOD, max_examples=3, progress=done.append)
    assert [result for result in report.results if result.status != "passed"] == []
    assert [result.name for result in report.results] == ["examples", *PROMISES]
    assert all(result.cases > 0 for result in report.results)
    assert (report.dialect, report.ok) == ("good", True)
    assert done == [(k + 1) / len(PROMISES) for k in range(len(PROMISES))]


def test_the_same_seed_makes_the_same_inputs() -> None:
    assert list(trials(GOOD, Random(1), 3)) == list(trials(GOOD, Random(1), 3))


def test_a_writer_that_writes_the_wrong_marker_cannot_be_read_back() -> None:
    broken = failed(replace(GOOD, writer=lambda message: GOOD.writer(message).replace("<call>", "<cal>")))
    assert "two-way" in broken
    assert "examples" not in broken
    assert "dialect good, start 'content', input" in broken["two-way"]


def test_a_writer_that_writes_too_much_has_problems() -> None:
    broken = failed(replace(GOOD, writer=lambda message: GOOD.writer(message) + "</call>"))
    assert "what the dialect writes has a problem: Problem(kind=<ProblemKind.ORPHAN_MARKER" in broken["one source"]


def test_a_grammar_that_loses_text_by_its_labels_is_found() -> None:
    broken = failed(replace(GOOD, grammar=Grammar(b.until())))
    assert sorted(broken) == ["examples", "two-way"]


def test_a_wrong_example_is_found() -> None:
    wrong = replace(GOOD.examples[0], message=Message("assistant", (TextPart("wrong"),)))
    broken = failed(replace(GOOD, examples=(GOOD.examples[1], wrong)))
    assert list(broken) == ["examples"]
    assert "not\n  Message(role='assistant', parts=(TextPart(text='wrong', channel=None),))" in broken["examples"]


def test_an_example_that_cannot_even_be_tried_is_found() -> None:
    broken = failed(replace(GOOD, examples=(replace(GOOD.examples[0], start="nowhere"),)))
    assert broken["examples"].startswith("InvalidStart: dialect 'good' can't start in 'nowhere'")


def test_a_writer_that_fails_is_reported() -> None:
    def writer(message: Message) -> str:
        raise LookupError("where is it?")

    assert failed(replace(GOOD, writer=writer)) == {"renders": "LookupError: where is it?"}


def test_a_writer_that_can_write_nothing_is_reported() -> None:
    def writer(message: Message) -> str:
        raise Inexpressible("good", 0, "no way")

    assert failed(replace(GOOD, writer=writer)) == {"renders": "not one made-up message could be written"}


def test_a_grammar_that_cannot_be_streamed_is_refused() -> None:
    with pytest.raises(NotStreamable):
        check_dialect(replace(GOOD, grammar=Grammar(b.peek(b.until("x")) + b.until())))


def test_a_report_is_fine_where_every_promise_held() -> None:
    passed, not_passed = Result("a", "passed", "", 3), Result("b", "failed", "why", 1)
    assert Report("d", (passed,)).ok
    assert not Report("d", (passed, not_passed)).ok


# Parsers: what no dialect can break, a faulty machine would

Change = Callable[[list[Event], str], Iterable[Event]]


class Faulty:
    """A parser whose events are changed before anyone sees them; `change` is told the chunk, or that it ends."""

    def __init__(self, parser: Parser, change: Change, held: int) -> None:
        self._parser, self._change, self.held, self.hold_bound = parser, change, held, 8
        self._chunks = 0

    def feed(self, chunk: str) -> list[Event]:
        self._chunks += 1
        return list(self._change(self._parser.feed(chunk), chunk))

    def feed_bytes(self, chunk: bytes) -> list[Event]:
        return list(self._change(self._parser.feed_bytes(chunk), repr(chunk)))

    def finish(self, reason: str | None) -> list[Event]:
        return list(self._change(self._parser.finish(reason), f"END {self._chunks}"))

    def copy(self) -> Faulty:
        return Faulty(self._parser.copy(), self._change, self.held)


class FaultyTrial(Trial, frozen=True):
    """An input for a faulty parser."""

    change: Change = lambda events, chunk: events
    held: int = 0

    def parser(self) -> Parser:
        return Faulty(super().parser(), self.change, self.held)  # type: ignore[return-value]


TEXT = 'Hé! <call>{"name": "f", "arguments": {"x": 1}}</call>'
MESSAGE = Message("assistant", (TextPart("Hé! "), ToolCall("f", '{"x": 1}')))
TOOLS = (Tool("f"),)


def without(*kinds: type) -> Change:
    return lambda events, chunk: [event for event in events if not isinstance(event, kinds)]


def replaced(kind: type, **fields: object) -> Change:
    return lambda events, chunk: [replace(e, **fields) if isinstance(e, kind) else e for e in events]


def at_the_end(*more: Event, of: str = "") -> Change:
    """Events too many, behind the stop; only if so many chunks came, where that is said."""
    return lambda events, chunk: [*events, *(more if chunk.startswith("END") and chunk.endswith(of) else ())]


def where_chunks(are: Callable[[str], bool], change: Change) -> Change:
    return lambda events, chunk: change(events, chunk) if are(chunk) else events


def upper(events: list[Event], chunk: str) -> list[Event]:
    return [replace(e, text=e.text.upper()) if isinstance(e, ContentDelta) else e for e in events]


LATE = Markup("", 53, 53)


@pytest.mark.parametrize(
    ("promise", "change", "what"),
    [
        ("total", without(Stop), "not exactly one Stop"),
        ("total", at_the_end(Stop(None, None, 53, 53)), "not exactly one Stop"),
        ("lossless", without(ContentDelta), "the spans leave a gap or overlap at 0"),
        ("lossless", at_the_end(Markup("</call>", 46, 53)), "the spans leave a gap or overlap at"),
        ("lossless", replaced(ContentDelta, text="Ho! "), "not the input's own text"),
        ("lossless", lambda events, chunk: [e for e in events if e.end < 47], "the spans end at 46"),
        ("chunk-invariant", where_chunks(lambda chunk: len(chunk) == 1, upper), "it gives\n  event 0"),
        ("chunk-invariant", at_the_end(LATE, of="53"), "it gives\n  10 events, not 9"),
        ("chunk-invariant", where_chunks(lambda chunk: chunk.startswith("b'"), upper), "fed byte by byte it gives"),
        ("monotone", where_chunks(lambda chunk: len(chunk) == 1, upper), "gives other events per character"),
        ("monotone", at_the_end(LATE, of=" 2"), "was taken back"),
        ("bounded", None, "9 characters are held at 0, more than 8"),
        ("batch = stream", upper, "parse_events gives other events than the stream"),
        ("continued", replaced(Markup, text="?"), "not as the end of"),
        ("continued", replaced(ArgumentsDelta, json="{}"), "not as the end of"),
        ("honest", replaced(ArgumentsDelta, json='{"x": '), "a complete call has arguments that are no JSON"),
        ("ordered", at_the_end(Markup("", 0, 0)), "out of order: Markup"),
    ],
)
def test_a_faulty_parser_breaks_this_promise(promise: str, change: Change | None, what: str) -> None:
    trial = FaultyTrial(GOOD, TEXT, TOOLS, message=MESSAGE, held=0 if change else 9, change=change or without())
    found = [what_is_broken(promise, trial, seed) for seed in range(4)]
    assert any(what in broken for broken in found)


def what_is_broken(promise: str, trial: Trial, seed: int) -> str:
    try:
        PROMISES[promise](trial, Random(seed))
    except Broken as broken:
        return str(broken)
    return ""


SPOILT = replace(GOOD, grammar=Grammar(b.malformed(b.until())))


@pytest.mark.parametrize(
    ("trial", "what"),
    [
        (Trial(GOOD, "a</call>"), "Problem(kind=<ProblemKind.ORPHAN_MARKER"),
        (Trial(GOOD, TEXT, (Tool("g"),)), "CallEnd(index=0"),
        (Trial(SPOILT, "a"), "Malformed(text='a'"),
    ],
)
def test_what_a_dialect_writes_must_have_no_problem(trial: Trial, what: str) -> None:
    with pytest.raises(Broken) as caught:
        PROMISES["one source"](replace(trial, message=MESSAGE), Random(0))
    assert f"what the dialect writes has a problem: {what}" in str(caught.value)


@pytest.mark.parametrize("text", ["Ho!", "Hé! <|end|>"])
def test_what_a_dialect_writes_must_be_the_message_before_any_stop_marker(text: str) -> None:
    with pytest.raises(Broken, match="read as"):
        PROMISES["two-way"](Trial(GOOD, text, message=MESSAGE), Random(0))


def test_what_is_held_after_the_end_is_found() -> None:
    with pytest.raises(Broken, match="something is still held after the end"):
        PROMISES["bounded"](FaultyTrial(GOOD, TEXT, held=1), Random(0))


@pytest.mark.parametrize("promise", PROMISES)
@pytest.mark.parametrize("text", [TEXT, "", "\ud800"])
def test_a_sound_parser_keeps_each_promise(promise: str, text: str) -> None:
    PROMISES[promise](Trial(GOOD, text, TOOLS, message=MESSAGE if text == TEXT else None), Random(0))


def test_arguments_that_say_they_are_text_need_not_be_json() -> None:
    own = replace(GOOD, grammar=Grammar(b.call(b.name("f"), b.arguments(b.until(";"), raw=True), close=";")))
    PROMISES["honest"](Trial(own, "f(x);"), Random(0))


# Made-up input


def test_a_text_is_cut_in_all_these_ways() -> None:
    cuttings = list(chunkings("a<b>c", Random(0), ["<b>", "absent"]))
    assert cuttings[:3] == [["a<b>c"], ["a", "<", "b", ">", "c"], ["a<", "b>c"]]
    assert {"".join(cutting) for cutting in cuttings} == {"a<b>c"}


def test_a_marker_is_deleted_doubled_moved_and_cut() -> None:
    mutated = list(mutations("a<b>c", ["<b>", "absent"], Random(0)))
    assert mutated[:2] == ["ac", "a<b><b>c"]
    assert sorted(mutated[2]) == sorted("a<b>c")
    assert mutated[3] == "a<>c"
    assert "a<b>c".startswith(mutated[4])


def test_a_message_made_up_declares_the_tools_it_calls() -> None:
    for seed in range(20):
        message, tools = made_up_message(GOOD, Random(seed))
        assert {call.name for call in message.tool_calls} == {tool.name for tool in tools}


def test_a_trial_made_up_is_what_the_dialect_writes() -> None:
    trial = made_up_trial(GOOD, Random(0))
    assert trial.message is not None
    assert trial.text == GOOD.render(trial.message)
