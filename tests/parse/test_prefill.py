"""Where the model begins: found in a prompt, read before the first character, and never published."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from dragoman import (
    Dialect,
    Parser,
    TextPart,
    ThinkingPart,
    ToolCall,
    UnparsedToolCall,
    aparse,
    assemble,
    generation_prefill,
    get_dialect,
    parse,
    parse_events,
    prefill_in,
)
from dragoman.dialects.generic import generic
from dragoman.errors import InvalidPrompt, InvalidStart, ParserFinished
from dragoman.events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Markup,
    Problem,
    ProblemKind,
    ReasoningDelta,
    Stop,
    TagDelta,
    TagEnd,
    merge,
)
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar
from dragoman.parse.prefill import PREFILL_LIMIT

USER, ASSISTANT = "<|im_start|>user\nHi<|im_end|>\n", "<|im_start|>assistant\n"
CALL = '<tool_call>\n{"name": "f", "arguments": {"x": 1}}\n</tool_call>'
OPEN = CALL.index(": 1")
HERMES = get_dialect("hermes")


# Finding it


@pytest.mark.parametrize(
    ("dialect", "prompt", "prefill"),
    [
        ("hermes", USER + ASSISTANT, ""),
        ("hermes", USER + ASSISTANT + "<think>\n", "<think>\n"),
        ("hermes", USER + ASSISTANT + "Yes.<|im_end|>\n" + USER + ASSISTANT + "No", "No"),
        ("hermes", f"<|im_start|>user\nWrite {ASSISTANT!r} or {ASSISTANT}.<|im_end|>\n" + ASSISTANT, ""),
        ("hermes", "<|start_of_role|>assistant<|end_of_role|>", ""),
        ("qwen3_coder", USER + ASSISTANT + "<think>\n\n</think>\n\n", "<think>\n\n</think>\n\n"),
        ("deepseek_r1", "<｜User｜>Hi<｜Assistant｜><think>\n", "<think>\n"),
        ("deepseek_r1", "<｜Assistant｜>...<｜tool▁outputs▁begin｜>...<｜tool▁outputs▁end｜>", ""),
        ("deepseek_v31", "<｜User｜>Hi<｜Assistant｜></think>", "</think>"),
        ("deepseek_v31", "<｜Assistant｜></think>...<｜tool▁output▁begin｜>...<｜tool▁output▁end｜>", ""),
        ("harmony", "<|start|>user<|message|>Hi<|end|><|start|>assistant", ""),
        (
            "harmony",
            "<|start|>assistant<|channel|>analysis<|message|>Hm<|end|><|start|>assistant<|channel|>",
            "<|channel|>",
        ),
        ("kimi_k2", "<|im_assistant|>assistant<|im_middle|><think></think>", "<think></think>"),
        ("llama3_json", "<|start_header_id|>assistant<|end_header_id|>\n\n", ""),
        ("mistral", "<s>[INST]Hi[/INST]Yes.</s>[INST]Hi[/INST]", ""),
        ("mistral", "[INST]Hi[/INST][TOOL_CALLS]f[ARGS]{}</s>[TOOL_RESULTS]1[/TOOL_RESULTS]", ""),
    ],
)
def test_the_prefill_stands_behind_the_last_beginning_of_a_turn(dialect: str, prompt: str, prefill: str) -> None:
    assert prefill_in(prompt, get_dialect(dialect)) == prefill


def test_of_two_beginnings_at_one_place_the_longer_counts() -> None:
    for turns in (("<a>", "<a>\n"), ("<a>\n", "<a>")):
        assert prefill_in("<a>\nHi", replace(HERMES, turns=turns)) == "Hi"


def test_a_prompt_without_a_turn_of_the_assistant_is_refused() -> None:
    with pytest.raises(InvalidPrompt) as caught:
        prefill_in("x" * 20 + USER, HERMES)
    assert str(caught.value) == (
        "dialect 'hermes': expected '<|im_start|>assistant\\n' or '<|start_of_role|>assistant<|end_of_role|>' in the "
        "prompt, found an end like 'xxxxxxxxxx<|im_start|>user\\nHi<|im_end|>\\n'; "
        "render it with its generation prompt, or give prefill= or start= instead"
    )


def test_a_turn_too_far_back_is_not_looked_for() -> None:
    assert len(prefill_in(ASSISTANT + "x" * PREFILL_LIMIT, HERMES)) == PREFILL_LIMIT
    with pytest.raises(InvalidPrompt, match="in the prompt's last 1048576 characters"):
        prefill_in(ASSISTANT + "x" * (PREFILL_LIMIT + 99), HERMES)
    with pytest.raises(InvalidPrompt, match="at most 1048576 characters, found 1048577"):
        Parser("hermes", prefill="x" * (PREFILL_LIMIT + 1))


def test_a_dialect_that_does_not_know_how_a_turn_begins_says_so() -> None:
    with pytest.raises(InvalidPrompt, match="give prefill= or start= instead"):
        Parser("generic", prompt=ASSISTANT)
    own = generic(turns=("<bot>",))
    assert parse("Hm</think>", own, prompt="<bot><think>").thinking == "Hm"


@pytest.mark.parametrize(
    ("dialect", "prompt", "end"),
    [
        ("hermes", ASSISTANT + "Yes.<|im_end|>\n" + USER, "<|im_end|>"),
        ("hermes", ASSISTANT + CALL + "<|im_end|>", "<|im_end|>"),
        ("deepseek_v31", "<｜Assistant｜></think>Yes.<｜end▁of▁sentence｜><｜User｜>Hi", "<｜end▁of▁sentence｜>"),
        ("harmony", "<|start|>assistant<|message|>Yes.<|end|><|start|>user<|message|>Hi<|end|>", "<|start|>"),
    ],
)
def test_a_turn_that_is_over_is_refused(dialect: str, prompt: str, end: str) -> None:
    with pytest.raises(InvalidPrompt) as caught:
        Parser(dialect, prompt=prompt)
    assert caught.value.found == f"its end, {end!r}"


def test_only_one_way_to_say_where_the_model_begins_may_be_taken() -> None:
    with pytest.raises(InvalidPrompt, match="found a prompt and a prefill; give one of them"):
        Parser("hermes", prompt=ASSISTANT, prefill="a")
    with pytest.raises(InvalidPrompt, match="found a prompt and a start state; give one of them"):
        Parser("hermes", prompt=ASSISTANT, start="reasoning")
    with pytest.raises(InvalidStart):
        Parser("hermes", start="middle", prefill="a")
    assert parse("b</think>", "hermes", start="reasoning", prefill="a").parts == (ThinkingPart("b"),)


def test_what_a_template_adds_is_told_from_the_conversation() -> None:
    assert generation_prefill(USER + ASSISTANT + "<think>\n", USER, HERMES) == "<think>\n"
    mistral = get_dialect("mistral")
    assert generation_prefill("[INST]Hi[/INST]", "[INST]Hi[/INST]", mistral) == ""
    with pytest.raises(InvalidPrompt, match="another beginning; render the same messages twice"):
        generation_prefill(ASSISTANT, USER, HERMES)
    with pytest.raises(InvalidPrompt, match="expected '<bot>' in the prompt"):
        generation_prefill("<user>Hi", "<user>", replace(mistral, turns=("<bot>",)))


# Reading it


@pytest.mark.parametrize(
    ("dialect", "prefill", "text", "parts"),
    [
        ("hermes", "", "Hi", (TextPart("Hi"),)),
        ("hermes", "<think>\n", "Hm.\n</think>\n\nHi", (ThinkingPart("Hm."), TextPart("Hi"))),
        ("hermes", "<think>\n", "<think>\nHm.\n</think>\n\nHi", (ThinkingPart("Hm."), TextPart("Hi"))),
        ("hermes", "<think>", "\n<think>Hm.</think>Hi", (ThinkingPart("Hm."), TextPart("Hi"))),
        ("hermes", "<think>\nWell", ", no.</think>Hi", (ThinkingPart(", no."), TextPart("Hi"))),
        ("hermes", "<think>\n\n</think>\n\n", "Hi", (TextPart("Hi"),)),
        ("hermes", "<think>\n\n</think>\n\n", "<think>Hm.</think>Hi", (ThinkingPart("Hm."), TextPart("Hi"))),
        ("hermes", "<think></thi", "nk>Hi", (TextPart("Hi"),)),
        ("hermes", "Sure, here", " it is.", (TextPart(" it is."),)),
        ("hermes", "Sure <tool", "box>", (TextPart("box>"),)),
        ("hermes", CALL[:20], CALL[20:], (ToolCall("f", '{"x": 1}'),)),
        ("hermes", CALL[:OPEN], CALL[OPEN:], (ToolCall("f", '{"x": 1}'),)),
        ("hermes", CALL, "", ()),
        ("hermes", CALL[:40], "}}}", (UnparsedToolCall(CALL[:40] + "}}}", "", "f"),)),
        ("deepseek_v31", "<think>", "Hm.</think>Hi", (ThinkingPart("Hm."), TextPart("Hi"))),
        ("deepseek_v31", "<think>", "<think>Hm.</think>Hi", (ThinkingPart("Hm."), TextPart("Hi"))),
        ("deepseek_v31", "</think>", "Hi", (TextPart("Hi"),)),
        ("deepseek_v31", "</think>", '"Hi"', (TextPart('"Hi"'),)),
        ("kimi_k2", "<think></think>", "Hi", (TextPart("Hi"),)),
        ("mistral", "[TOOL_CALLS]f", '[ARGS]{"x": 1}', (ToolCall("f", '{"x": 1}'),)),
        ("harmony", "<|channel|>analysis<|message|>", "Hm.<|end|>", (ThinkingPart("Hm."),)),
        ("harmony", "<|channel|>commentary to=functions.f", "<|message|>{}<|call|>", (ToolCall("f", "{}"),)),
        ("llama3_json", '{"name": "f", "parameters": ', '{"x": 1}}', (ToolCall("f", '{"x": 1}'),)),
        (
            "qwen3_coder",
            "<tool_call>\n<function=f>\n<parameter=x>\na",
            "b\n</parameter>\n</function>\n</tool_call>",
            (ToolCall("f", '{"x": "ab"}'),),
        ),
    ],
)
def test_the_output_goes_on_where_the_prefill_ends(
    dialect: str, prefill: str, text: str, parts: tuple[object, ...]
) -> None:
    found = parse(text, dialect, prefill=prefill).parts
    assert [replace(part, error="") if isinstance(part, UnparsedToolCall) else part for part in found] == list(parts)


def test_a_call_that_is_open_is_published_with_the_first_character() -> None:
    parser = Parser("hermes", prefill=CALL[:OPEN])
    assert (parser.feed(""), parser.position) == ([], 0)
    assert parser.feed(CALL[OPEN]) == [
        CallBegin(0, "f", None, 0, 0),
        ArgumentsDelta(0, '{"x"', 0, 0),
        ArgumentsDelta(0, ":", 0, 1),
    ]
    assert merge(parser.feed(CALL[OPEN + 1 :])) == [
        ArgumentsDelta(0, " 1}", 1, 4),
        Markup("}", 4, 5),
        CallEnd(0, CallStatus.COMPLETE, (), None, 5, 5),
        Markup("\n</tool_call>", 5, 18),
    ]
    assert parser.finish() == [Stop("tool_calls", None, 18, 18)]


def test_a_call_that_is_open_is_published_if_the_model_writes_nothing() -> None:
    begun = CallBegin(0, "f", None, 0, 0)
    assert Parser("hermes", prefill=CALL[:OPEN]).finish()[:3] == [
        begun,
        ArgumentsDelta(0, '{"x"', 0, 0),
        CallEnd(0, CallStatus.INCOMPLETE, (), None, 0, 0),
    ]
    assert Parser("hermes", prefill=CALL[:40]).feed(" ")[0] == begun


def test_calls_that_are_closed_in_the_prefill_do_not_count() -> None:
    events = parse_events("\n" + CALL, "hermes", prefill=CALL + "\n" + CALL)
    assert [event.index for event in events if isinstance(event, CallBegin | CallEnd)] == [0, 0]
    assert parse_events("Hi", "hermes", prefill=CALL, reason="stop")[-1] == Stop("stop", None, 2, 2)


def test_problems_of_the_prefill_are_not_the_models() -> None:
    assert parse_events("Hi", "hermes", prefill="a</tool_call>b") == [ContentDelta("Hi", 0, 2), Stop(None, None, 2, 2)]
    (problem,) = (e for e in parse_events("k>Hi", "deepseek_v31", prefill="</thin") if isinstance(e, Problem))
    assert problem == Problem(ProblemKind.ORPHAN_MARKER, "</think>", "a closing marker with nothing open", 0, 2)


def test_the_diagnoses_of_an_open_call_are_kept() -> None:
    events = parse_events(CALL[OPEN:], "hermes", [], prefill=CALL[:OPEN])
    (end,) = (event for event in events if isinstance(event, CallEnd))
    assert [(problem.kind, problem.start) for problem in end.problems] == [(ProblemKind.UNKNOWN_TOOL, 0)]


def test_what_was_undecided_is_cut_where_the_model_begins() -> None:
    parser = Parser("hermes", prefill="Sure <to")
    assert (parser.held, parser.position) == (3, 0)
    twin = parser.copy()
    assert parser.feed("w") == [ContentDelta("w", 0, 1)]
    assert merge(twin.feed("ol_call>?")) == [ContentDelta("ol_call>?", 0, 9)]
    assert parse_events("", "hermes", prefill="Sure <to") == [Stop(None, None, 0, 0)]
    assert parse_events("ink>Hm", "hermes", prefill="a<th")[:2] == [Markup("ink>", 0, 4), ReasoningDelta("Hm", 4, 6)]


def test_tags_of_ones_own_grammar_are_cut_too() -> None:
    root = b.choice(b.tag("t", "abc") + "!", b.tag("u", b.until()))
    own: Dialect = replace(HERMES, grammar=Grammar(root))
    assert parse_events("c!", own, prefill="ab")[:3] == [TagDelta("t", "c", 0, 1), TagEnd("t", 1, 1), Markup("!", 1, 2)]
    assert parse_events("!", own, prefill="abc")[:2] == [TagEnd("t", 0, 0), Markup("!", 0, 1)]


def test_bytes_copies_and_the_end_are_as_without_a_prefill() -> None:
    parser = Parser("hermes", prefill=CALL[:OPEN])
    assert parser.feed_bytes("é".encode()[:1]) == []
    twin = parser.copy()
    for each in (parser, twin):
        events = each.feed_bytes("é".encode()[1:]) + each.finish()
        assert events[0] == CallBegin(0, "f", None, 0, 0)
        with pytest.raises(ParserFinished):
            each.feed("")
    late = Parser("hermes", prefill="a").copy()
    assert late.feed_bytes(b"b") == [ContentDelta("b", 0, 1)]


def test_an_asynchronous_stream_may_go_on_from_a_prompt() -> None:
    async def chunks() -> AsyncIterator[str]:
        for chunk in ("Hm", ".</think>Hi"):
            yield chunk

    async def collect() -> list[Event]:
        return [event async for event in aparse(chunks(), "hermes", prompt=ASSISTANT + "<think>")]

    events = asyncio.run(collect())
    assert assemble(events).parts == (ThinkingPart("Hm."), TextPart("Hi"))
    assert merge(events)[0] == ReasoningDelta("Hm.", 0, 3)


@pytest.mark.parametrize(
    ("dialect", "prefill", "text"),
    [
        (
            "k2_horizon",
            "<ifm|tool_calls>\n<ifm|tool_call>f0\n<ifm|arg_key>a</ifm|arg_key>\n<ifm|arg_value>it's.<",
            "/i\n</ifmfm|arg_value>\n<ifm|arg_key>b</ifm|arg_key>|tool_call>",
        ),
        (
            "glm47",
            "<tool_call>f0<arg_key>a</arg_key><arg_value> a < ba <",
            " b\n</arg_value><arg_key>b</arg_key><arg_v",
        ),
    ],
)
def test_what_a_broken_call_was_is_kept_whole_from_its_beginning_in_the_prefill(
    dialect: str, prefill: str, text: str
) -> None:
    for chunks in ([text], list(text)):
        parser = Parser(dialect, prefill=prefill)
        events = [event for chunk in chunks for event in parser.feed(chunk)] + parser.finish("length")
        (problem,) = (event for event in events if isinstance(event, Problem))
        assert problem.raw == prefill + text
