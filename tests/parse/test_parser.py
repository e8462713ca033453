"""The parser: what may be asked of it at any moment, what it refuses, and what the caller's choices change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest
from msgspec.structs import replace

from dragoman import (
    Message,
    Parser,
    Policy,
    TextPart,
    ThinkingPart,
    Tool,
    ToolCall,
    aparse,
    get_dialect,
    parse,
    parse_events,
)
from dragoman.errors import InvalidStart, InvalidTool, ParserFinished, UnknownDialect
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
    Stop,
    merge,
)
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar
from dragoman.parse import parser as module
from dragoman.parse.parser import TOOLBOX_LIMIT, Tools, toolbox
from dragoman.types import JSON

CALL = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'


# Feeding


def test_text_comes_out_as_soon_as_it_can_be_no_marker() -> None:
    parser = Parser("hermes")
    assert parser.feed("Hi <") == [ContentDelta("Hi ", 0, 3)]
    assert (parser.held, parser.position) == (1, 4)
    assert parser.feed("3") == [ContentDelta("<3", 3, 5)]
    assert (parser.held, parser.position) == (0, 5)
    assert parser.held <= parser.hold_bound


def test_an_empty_chunk_says_nothing() -> None:
    parser = Parser("hermes")
    assert (parser.feed(""), parser.feed_bytes(b""), parser.position) == ([], [], 0)


def test_bytes_are_read_as_text_is_wherever_they_are_cut() -> None:
    parser = Parser("hermes")
    assert parser.feed_bytes("é".encode()[:1]) == []
    assert parser.feed_bytes("é".encode()[1:]) == [ContentDelta("é", 0, 1)]
    assert parser.finish("stop") == [Stop("stop", None, 1, 1)]


def test_half_a_character_at_the_end_is_reported() -> None:
    parser = Parser("hermes")
    parser.feed_bytes(b"\xe2")
    assert parser.finish() == [
        ContentDelta("\ufffd", 0, 1),
        Problem(ProblemKind.INVALID_UTF8, "e2", "not UTF-8: read as U+FFFD", 1, 1),
        Stop(None, None, 1, 1),
    ]


@pytest.mark.parametrize("late", [b"", b"a", b"\xe2"])
def test_nothing_can_be_fed_after_the_end(late: bytes) -> None:
    parser = Parser("hermes")
    parser.feed("Hi")
    parser.finish()
    with pytest.raises(ParserFinished, match="the parser has finished: make a new one for new input"):
        parser.feed(late.decode(errors="replace"))
    with pytest.raises(ParserFinished):
        parser.feed_bytes(late)
    with pytest.raises(ParserFinished):
        parser.finish()


def test_a_copy_goes_its_own_way() -> None:
    parser = Parser("hermes")
    parser.feed("a<tool_")
    parser.feed_bytes("é".encode()[:1])
    other = parser.copy()
    assert merge(parser.feed_bytes("é".encode()[1:])) == [ContentDelta("<tool_é", 1, 8)]
    assert merge(other.finish("length")) == [
        ContentDelta("<tool_\ufffd", 1, 8),
        Problem(ProblemKind.INVALID_UTF8, "c3", "not UTF-8: read as U+FFFD", 8, 8),
        Stop("length", None, 8, 8),
    ]
    assert parser.copy().feed("!") == [ContentDelta("!", 8, 9)]


def test_a_copy_reads_the_same_call_with_its_own_arguments() -> None:
    parser = Parser("hermes")
    parser.feed(CALL[: CALL.index("}")])
    other = parser.copy()
    assert merge(other.feed('"x": 1}')) == [ArgumentsDelta(0, '"x": 1}', 40, 47)]
    assert merge(parser.feed("}")) == [ArgumentsDelta(0, "}", 40, 41)]


def test_it_says_what_may_come_next() -> None:
    parser = Parser("hermes")
    assert "'<think>'" in parser.accepts()
    parser.feed('<tool_call>\n{"name"')
    assert "':'" in parser.accepts()


# The end


@pytest.mark.parametrize(
    ("text", "reason", "stop"),
    [
        ("Hi", "stop", Stop("stop", None, 2, 2)),
        ("Hi", "length", Stop("length", None, 2, 2)),
        ("Hi", None, Stop(None, None, 2, 2)),
        ("Hi<|im_end|>", "stop", Stop("stop", "<|im_end|>", 2, 12)),
        ("Hi<|im_end|>", "length", Stop("stop", "<|im_end|>", 2, 12)),
        (CALL, "stop", Stop("tool_calls", None, 55, 55)),
        (CALL, None, Stop("tool_calls", None, 55, 55)),
        (CALL, "length", Stop("length", None, 55, 55)),
        (CALL + "<|im_end|>", "stop", Stop("tool_calls", "<|im_end|>", 55, 65)),
        (CALL[:-20], "stop", Stop("stop", None, 35, 35)),
    ],
)
def test_there_is_one_stop_and_it_tells_why(text: str, reason: str | None, stop: Stop) -> None:
    parser = Parser("hermes")
    events = parser.feed(text) + parser.finish(reason)
    assert [event for event in events if isinstance(event, Stop)] == [stop]
    assert parser.stopped is (stop.marker is not None)


# What it is made of


def test_an_unknown_dialect_is_refused_with_the_names_most_like_it() -> None:
    with pytest.raises(UnknownDialect) as caught:
        Parser("harmon")
    assert caught.value.near[0] == "harmony"
    assert str(caught.value) == "unknown dialect 'harmon'; did you mean 'harmony'?"
    with pytest.raises(UnknownDialect, match="unknown dialect 'xyzzy'; known are apertus, apriel, "):
        Parser("xyzzy")


def test_a_start_that_the_dialect_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidStart) as caught:
        Parser("hermes", start="middle")
    assert str(caught.value) == "dialect 'hermes' can't start in 'middle'; it can start in content, reasoning"


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([{"name": ""}], "tool: name should be a non-empty string, found ''"),
        (
            [{"function": {"name": "f", "parameters": []}}],
            "tool 'f': parameters should be a JSON Schema object, found []",
        ),
        (["f"], "tool: tool should be a Tool or an object as in OpenAI's API, found 'f'"),
        ([{"name": "f"}, {"name": "f"}], "tool 'f': name should be a name that no other tool has, found 'f'"),
        (
            [Tool("f", "", {"properties": {"x": {"type": "text"}}})],
            "tool 'f': parameters.properties.x.type should be one or several JSON types, found 'text'",
        ),
    ],
)
def test_tools_that_cannot_be_read_are_refused(tools: Tools, message: str) -> None:
    with pytest.raises(InvalidTool) as caught:
        Parser("hermes", tools)
    assert str(caught.value) == message


@pytest.mark.parametrize("odd", [{1, 2j}, object(), "\ud800"])
def test_tools_that_json_cannot_write_are_refused(odd: JSON) -> None:
    with pytest.raises(InvalidTool) as caught:
        Parser("hermes", [{"name": "f", "parameters": {"properties": {"x": {"default": odd}}}}])
    assert (caught.value.where, caught.value.expected) == ("tools", "values that JSON can write")


def test_tools_that_hold_themselves_are_refused() -> None:
    schema: dict[str, JSON] = {}
    schema["not"] = schema
    with pytest.raises(InvalidTool, match="values that JSON can write"):
        Parser("hermes", [{"name": "f", "parameters": schema}])


def test_tools_are_known_by_what_is_in_them() -> None:
    tool: dict[str, JSON] = {"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}
    before = toolbox([tool])
    assert toolbox([{"name": "f", "parameters": {"properties": {"x": {"type": "integer"}}}}]) is before
    tool["parameters"] = {"properties": {"x": {"type": "string"}}}
    after = toolbox([tool])
    assert before.shapes["f"].arguments == {"x": frozenset(["integer"])}
    assert after.shapes["f"].arguments == {"x": frozenset(["string"])}


def test_only_so_many_sets_of_tools_are_remembered() -> None:
    kept = toolbox([Tool("kept")])
    for k in range(TOOLBOX_LIMIT - 1):
        toolbox([Tool(f"f{k}")])
    assert toolbox([Tool("kept")]) is kept
    for k in range(TOOLBOX_LIMIT):
        toolbox([Tool(f"g{k}")])
    assert toolbox([Tool("kept")]) is not kept
    assert len(module._toolboxes) == TOOLBOX_LIMIT


@pytest.mark.parametrize(
    "tool",
    [
        Tool("f", "", {"properties": {"n": {"type": "integer"}}}),
        {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}},
        {"type": "function", "function": {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}}},
    ],
)
def test_a_tool_comes_as_ours_or_as_in_openais_api(tool: Tool | Mapping[str, JSON]) -> None:
    text = "<tool_call>\n<function=f>\n<parameter=n>\n12\n</parameter>\n</function>\n</tool_call>"
    assert parse(text, "qwen3_coder", [tool]) == Message("assistant", (ToolCall("f", '{"n": 12}'),))


# The caller's choices


@pytest.mark.parametrize("text", [f"`{CALL}`", f"```\n{CALL}\n```"])
def test_markup_in_code_is_text_unless_the_caller_wants_calls(text: str) -> None:
    assert parse(text, "hermes") == Message("assistant", (TextPart(text),))
    assert parse(text, "hermes", policy=Policy(calls_in_code=True)).tool_calls == (ToolCall("f", "{}"),)


def test_a_call_in_a_thought_is_a_call_unless_the_caller_wants_none() -> None:
    text = f"<think>One.{CALL}Two.</think>"
    parts = (ThinkingPart("One."), ToolCall("f", "{}"), ThinkingPart("Two."))
    assert parse(text, "hermes") == Message("assistant", parts)
    thought = ThinkingPart(f"One.{CALL}Two.")
    assert parse(text, "hermes", policy=Policy(calls_in_reasoning=False)) == Message("assistant", (thought,))


def test_a_parse_may_begin_inside_a_thought() -> None:
    expected = Message("assistant", (ThinkingPart("One."), TextPart("Two.")))
    assert parse("One.\n</think>\n\nTwo.", "hermes", start="reasoning") == expected


# Whole and streamed


def test_a_whole_output_is_its_merged_events() -> None:
    unknown = Problem(ProblemKind.UNKNOWN_TOOL, "f", "no such tool was given", 21, 21)
    assert parse_events(CALL, "hermes", [Tool("g")], reason="stop") == [
        Markup('<tool_call>\n{"name": ', 0, 21),
        CallBegin(0, "f", None, 21, 24),
        Markup(', "arguments": ', 24, 39),
        ArgumentsDelta(0, "{}", 39, 41),
        Markup("}", 41, 42),
        CallEnd(0, CallStatus.COMPLETE, (unknown,), None, 42, 42),
        Markup("\n</tool_call>", 42, 55),
        Stop("tool_calls", None, 55, 55),
    ]


def test_a_stream_gives_the_same_events_as_the_whole() -> None:
    async def chunks() -> AsyncIterator[str]:
        for char in CALL:
            yield char

    async def collected() -> list[Event]:
        return [event async for event in aparse(chunks(), "hermes", reason="stop")]

    assert merge(asyncio.run(collected())) == parse_events(CALL, "hermes", reason="stop")


# Alternatives that are given up


def test_a_call_or_a_stop_that_was_no_such_thing_leaves_no_trace_in_the_reason() -> None:
    call = b.call("@" + b.name(b.chars("a-z")) + b.arguments(b.json()), close=b.literal(";"))
    own = replace(get_dialect("hermes"), grammar=Grammar(b.choice(call + "!", b.stop("#") + "!", b.content(b.until()))))
    assert parse_events("@f{};?", own) == [ContentDelta("@f{};?", 0, 6), Stop(None, None, 6, 6)]
    assert parse_events("#?", own) == [ContentDelta("#?", 0, 2), Stop(None, None, 2, 2)]
