"""The output itself tells the dialect: by what one grammar reads as structure and others as text."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from dragoman import Dialect, Message, Parser, aparse, dialects, get_dialect, merge, parse, parse_events
from dragoman.dialect import Example
from dragoman.errors import Inexpressible, InvalidPrompt, InvalidStart, ParserFinished
from dragoman.events import ContentDelta, Stop
from dragoman.recognise import HOLD, Answer, Certainty, Detection, stream
from dragoman.testing import PROMISES, trials

TOLD_LATE = {"laguna", "laguna_s", "ling3", "spark25", "xlam"}
"""Dialects whose calls begin as GLM's or Mistral's do: layout and stop marker tell too late."""

TOLD = [dialect for dialect in dialects() if dialect.models or dialect.signatures or dialect.name == "generic"]
EXAMPLES = [(dialect, example) for dialect in TOLD for example in dialect.examples]


def told(text: str, start: str = "content") -> Answer:
    detection = Detection(lambda dialect: dialect.machine(start))
    return detection.feed(text) or detection.finish()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('<tool_call>\n{"name": "f"', "hermes"),
        ('Let me look.\n<tool_call>\n{"name": "f", "arguments": {}}', "hermes"),
        ("<tool_call>\n<function=f>", "qwen3_coder"),
        ("<think>\nHm.\n</think>\n\n<tool_call>\n<function=f>", "qwen3_coder"),
        ("<|channel|>analysis<|message|>", "harmony"),
        ("[THINK]Hm", "mistral"),
        ('[TOOL_CALLS][{"name": "f"', "mistral_pre_v11"),
        ("<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>", "kimi_k2"),
        ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{", "deepseek_r1"),
        ('<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a"', "deepseek_v31"),
        ('{"name": "f", "parameters": {', "llama3_json"),
        ('<｜DSML｜function_calls>\n<｜DSML｜invoke name="f">\n', "deepseek_v32"),
        ('<｜DSML｜tool_calls>\n<｜DSML｜invoke name="f">\n', "deepseek_v4"),
        ('<function=f>{"a"', "functionary_v31"),
        ("<tool_call>f\n<arg_key>a</arg_key>", "glm45"),
        ('<minimax:tool_call>\n<invoke name="f">\n', "minimax_m2"),
        ('<response>\nHm.\n</response>\n<tool_call>\n{"name": "f"', "ernie45"),
    ],
)
def test_an_opening_tells_its_dialect(text: str, name: str) -> None:
    assert told(text).dialect.name == name


@pytest.mark.parametrize(
    "text",
    ["", "It is sunny.", "Write `<tool_call>` first.", "a <b> c < d", "<think>\nHm.\n</think>\n\nYes.", "x" * 9999],
)
def test_what_tells_nothing_is_generic(text: str) -> None:
    answer = told(text)
    assert (answer.dialect.name, answer.certainty) == ("generic", Certainty.WEAK)
    assert answer.evidence == f"nothing in the first {min(len(text), HOLD)} characters of the output tells another"


def test_a_stop_marker_alone_tells_little() -> None:
    answer = told("It is sunny.<|im_end|>")
    assert "<|im_end|>" in answer.dialect.stops
    assert answer.certainty is Certainty.WEAK


@pytest.mark.parametrize(
    ("dialect", "example"), EXAMPLES, ids=lambda each: getattr(each, "name", getattr(each, "title", ""))
)
def test_an_example_of_any_dialect_is_read_as_its_own_dialect_reads_it(dialect: Dialect, example: Example) -> None:
    told = parse(example.text, "auto", example.tools, start=example.start, reason=example.reason)
    known = parse(example.text, dialect, example.tools, start=example.start, reason=example.reason)
    assert told.tool_calls == known.tool_calls
    assert told == known or dialect.name in TOLD_LATE


@given(st.data())
def test_the_answer_does_not_depend_on_the_cuts(data: st.DataObject) -> None:
    _, example = data.draw(st.sampled_from(EXAMPLES))
    text = data.draw(st.sampled_from(("", "Hm. ", "<", "x" * (HOLD - 20)))) + example.text
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    detection = Detection(lambda dialect: dialect.machine(example.start))
    answer = None
    for begin, end in zip((0, *cuts), (*cuts, len(text)), strict=True):
        answer = answer or detection.feed(text[begin:end])
    assert (answer or detection.finish()) == told(text, example.start)


@pytest.mark.parametrize(
    "text", ["Hm. <tool_call>\n<function=f>\n</function>\n</tool_call> x", "a<think>b</think>c<|im_end|>"]
)
def test_a_parser_keeps_its_promises_without_knowing_its_dialect(text: str) -> None:
    whole = parse_events(text, "auto")
    spans = [(event.start, event.end) for event in whole if event.start < event.end]
    assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
    for at in range(len(text) + 1):
        parser = Parser("auto")
        events = parser.feed(text[:at])
        assert parser.held <= parser.hold_bound
        assert merge(events + parser.feed(text[at:]) + parser.finish()) == whole
        assert merge(parse_events(text[:at], "auto"))[-1].end == at


@pytest.mark.slow
def test_a_parser_keeps_them_on_many_inputs() -> None:
    """Fewer than of other dialects, as each is read by the machines of all of them."""
    random = Random(0)
    for trial in random.sample([*trials(get_dialect("auto"), random, 20)], 50):
        for promise in PROMISES.values():
            promise(trial, random)


def test_a_parser_holds_until_it_knows() -> None:
    parser = Parser("auto")
    assert parser.feed("Let me look.\n<tool_call>\n<func") == []
    assert (parser.dialect.name, parser.held, parser.position, parser.stopped) == ("auto", 30, 30, False)
    assert "'<function='" in " ".join(parser.accepts())
    first, *_ = parser.feed("tion=f>")
    assert first == ContentDelta("Let me look.", 0, 12)
    assert (parser.dialect.name, parser.position) == ("qwen3_coder", 37)
    assert parser.hold_bound == get_dialect("qwen3_coder").hold_bound


def test_what_is_held_has_a_bound() -> None:
    parser = Parser("auto")
    bound = parser.hold_bound
    assert bound == max(HOLD, *(dialect.hold_bound for dialect in dialects()))
    for _ in range(200):
        parser.feed("word ")
        assert parser.held <= bound
    assert parser.dialect.name == "generic"


def test_a_copy_goes_its_own_way() -> None:
    parser = Parser("auto")
    parser.feed("<tool_call>\n")
    twin = parser.copy()
    parser.feed("<function=f>")
    twin.feed('{"name": "f"')
    assert (parser.dialect.name, twin.dialect.name) == ("qwen3_coder", "hermes")


def test_bytes_and_the_end_are_read_alike() -> None:
    text = "Grüße.<|im_end|>"
    parser = Parser("auto")
    events = [event for byte in text.encode() for event in parser.feed_bytes(bytes([byte]))]
    assert merge(events + parser.finish()) == parse_events(text, "auto")
    with pytest.raises(ParserFinished):
        parser.feed("x")
    with pytest.raises(ParserFinished):
        parser.feed_bytes(b"x")
    with pytest.raises(ParserFinished):
        parser.finish()


def test_a_dialect_that_writes_no_calls_may_still_have_read_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(message: Message) -> str:
        raise Inexpressible("hermes", 0, "calls")

    silent = structs.replace(get_dialect("hermes"), writer=refuse)
    monkeypatch.setattr(stream, "dialects", lambda: (silent,))
    monkeypatch.setattr(stream, "_markers", stream._markers.__wrapped__)
    assert told('<tool_call>{"name": "f"').dialect is silent


def test_a_parser_that_was_fed_nothing_only_stops() -> None:
    assert Parser("auto").finish("length") == [Stop("length", None, 0, 0)]


def test_only_dialects_that_have_the_start_state_come_into_question() -> None:
    message = parse("Hm.\n</think>\n\n<tool_call>\n<function=f>\n</function>\n</tool_call>", "auto", start="reasoning")
    assert (message.thinking, [call.name for call in message.tool_calls]) == ("Hm.", ["f"])
    with pytest.raises(InvalidStart):
        Parser("auto", start="nowhere")


def test_a_prefill_counts_as_begun_and_a_prompt_needs_its_dialect() -> None:
    prefilled = parse("Hm.\n</think>\n\nYes.", "auto", prefill="<think>\n")
    assert (prefilled.thinking, prefilled.text) == ("Hm.", "Yes.")
    cut = parse('ool_call>\n{"name": "f", "arguments": {}}\n</tool_call>', "auto", prefill="Hm. <t")
    assert [call.name for call in cut.tool_calls] == ["f"]
    told = Parser("auto", prefill="<tool_call>\n<function=f>")
    assert (told.dialect.name, told.held, told.position) == ("qwen3_coder", 0, 0)
    with pytest.raises(InvalidPrompt):
        Parser("auto", prompt="<|im_start|>assistant\n")


async def chunks(*texts: str):  # type: ignore[no-untyped-def]
    for text in texts:
        yield text


def test_an_asynchronous_stream_can_be_told_too() -> None:
    import asyncio

    async def read() -> list[str]:
        return [type(event).__name__ async for event in aparse(chunks("<tool_call>\n", "<function=f>"), "auto")]

    assert asyncio.run(read()).count("CallBegin") == 1
