"""Answers of chat servers: what they really send is read, a whole body as a stream, and nothing raises."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Dialect, Message, assemble, dialects
from dragoman.events import ContentDelta, Event, Stop, merge
from dragoman.stream.chat_reader import ChatReader, read_body
from dragoman.stream.normalize import Channel
from dragoman.types import JSON, TextPart, ThinkingPart, ToolCall
from tests.stream.pushes import some, texts
from tests.streams import cut, cuts, hard


def chunk(finish: str | None = None, index: int = 0, **delta: JSON) -> dict[str, JSON]:
    choice: dict[str, JSON] = {"index": index, "delta": delta, "finish_reason": finish, "logprobs": None}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


def call(index: int | None = None, name: str | None = None, arguments: JSON = None, own: str | None = None) -> JSON:
    placed: dict[str, JSON] = {} if index is None else {"index": index}
    return placed | {"id": own, "type": "function", "function": {"name": name, "arguments": arguments}}


def events(chunks: Iterable[JSON], dialect: str | Dialect = "hermes", choice: int = 0) -> list[Event]:
    reader = ChatReader(dialect, choice=choice)
    return [event for one in chunks for event in reader.feed(one)] + reader.finish()


def message(*chunks: JSON) -> Message:
    return assemble(events(chunks))


F = ToolCall("f", '{"x": 1}', "a")


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([chunk(role="assistant", content=""), chunk(content="Fo"), chunk(content="ur.")], [TextPart("Four.")]),
        ([chunk(reasoning_content="Hm.", content=None), chunk(content="a")], [ThinkingPart("Hm."), TextPart("a")]),
        ([chunk(reasoning="Hm.", content="a")], [ThinkingPart("Hm."), TextPart("a")]),
        ([chunk(reasoning="Hm.", reasoning_content="Hm.")], [ThinkingPart("Hm.")]),
        ([chunk(thinking="Hm.", reasoning=None)], [ThinkingPart("Hm.")]),
        ([chunk(content="<think>\nHm.\n</think>\n\nFour.")], [ThinkingPart("Hm."), TextPart("Four.")]),
        ([chunk(content=[{"type": "text", "text": "a"}, "b", {"text": "c"}])], [TextPart("abc")]),
        (
            [chunk(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}])],
            [ThinkingPart("Hm.")],
        ),
        ([chunk(content=[{"type": "reasoning", "text": "Hm."}])], [ThinkingPart("Hm.")]),
        ([chunk(refusal="I "), chunk(refusal="won't.")], [TextPart("I won't.", "refusal")]),
        ([chunk(content=[{"type": "refusal", "refusal": "No."}])], [TextPart("No.", "refusal")]),
        ([chunk(refusal="No <think>")], [TextPart("No <think>", "refusal")]),
        ([chunk(tool_calls=[call(0, "f", "", "a")]), chunk(tool_calls=[call(0, None, '{"x": 1}')])], [F]),
        ([chunk(tool_calls=[call(None, "f", '{"x": 1}', "a"), call(None, "g", "{}")])], [F, ToolCall("g", "{}")]),
        ([chunk(tool_calls=[call(0, "f", {"x": 1}, "a")])], [ToolCall("f", '{"x":1}', "a")]),
        ([chunk(tool_calls=[{"index": 0, "id": "a", "name": "f", "arguments": '{"x": 1}'}])], [F]),
        ([chunk(function_call={"name": "f"}), chunk(function_call={"arguments": "{}"})], [ToolCall("f", "{}")]),
    ],
)
def test_what_servers_send_is_read(chunks: list[JSON], expected: list[object]) -> None:
    assert list(message(*chunks, chunk("stop")).parts) == expected


def test_the_answer_is_read_behind_the_reason_too() -> None:
    usage: dict[str, JSON] = {"prompt_tokens": 3, "completion_tokens": 1}
    reader = ChatReader("hermes")
    found = reader.feed(chunk("stop", content="a")) + reader.feed({"choices": [], "usage": usage})
    assert (reader.reason, reader.usage, reader.error) == ("stop", usage, None)
    assert merge(found + reader.finish()) == [ContentDelta("a", 0, 1), Stop("stop", None, 1, 1)]


@pytest.mark.parametrize(
    ("said", "calls", "known"),
    [("stop", [], "stop"), ("stop", [call(0, "f")], "tool_calls"), (None, [], None), ("length", [], "length")],
)
def test_the_reason_is_corrected_and_never_invented(said: str | None, calls: list[JSON], known: str | None) -> None:
    stop = events([chunk(content="a"), chunk(tool_calls=calls), chunk(said), {"usage": None}])[-1]
    assert isinstance(stop, Stop)
    assert stop.reason == known


def test_an_error_in_the_stream_is_kept() -> None:
    reader = ChatReader("hermes")
    reader.feed(chunk(content="a"))
    reader.feed({"error": {"message": "overloaded", "code": 503}})
    assert reader.error == {"message": "overloaded", "code": 503}
    reader.feed({"object": "error", "message": "gone"})
    assert reader.error == {"object": "error", "message": "gone"}
    assert merge(reader.finish()) == [Stop(None, None, 1, 1)]


def test_each_choice_has_a_reader() -> None:
    chunks = [chunk(index=1, content="b"), chunk(content="a"), chunk(index=1, content="c"), chunk("stop", index=1)]
    assert assemble(events(chunks, choice=0)).text == "a"
    assert assemble(events(chunks, choice=1)).text == "bc"
    assert assemble(events([{"choices": [{"index": None, "delta": {"content": "a"}}]}])).text == "a"


def test_residue_and_the_channel_of_the_text_are_the_normalisers() -> None:
    reader = ChatReader("hermes", within=Channel.REASONING)
    found = reader.feed(chunk(content="Hm.</think>[TOOL_CALLS]"))
    assert assemble(found + reader.finish()).parts == (ThinkingPart("Hm."), TextPart("[TOOL_CALLS]"))
    assert reader.residue == {"[TOOL_CALLS]": 1}


BROKEN = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.just(1.5) | st.sampled_from(["", "a", "{}", "\ud800", "error"]),
    lambda inside: (
        st.lists(inside, max_size=2)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "index",
                    "delta",
                    "message",
                    "content",
                    "type",
                    "text",
                    "thinking",
                    "reasoning",
                    "refusal",
                    "tool_calls",
                    "function_call",
                    "function",
                    "name",
                    "arguments",
                    "finish_reason",
                    "usage",
                    "error",
                    "object",
                ]
            ),
            inside,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@hard
@given(BROKEN, BROKEN, BROKEN)
def test_no_chunk_raises(whole: JSON, choice: JSON, delta: JSON) -> None:
    reader = ChatReader("hermes")
    for one in (whole, {"choices": [choice]}, {"choices": [{"delta": delta, "finish_reason": choice, "index": whole}]}):
        reader.feed(one)
    assert isinstance(reader.finish()[-1], Stop)


@pytest.mark.parametrize(
    "broken",
    [
        None,
        [],
        "a",
        {"choices": {}},
        {"choices": ["a"]},
        {"choices": [{"delta": []}]},
        chunk(content=7),
        chunk(content=[7]),
        chunk(tool_calls=[call(0, "f"), 7]),
        chunk(tool_calls=[{"index": True, "function": {"name": "f"}}]),
        chunk(tool_calls=[{"function": {"name": 7}}]),
        chunk(tool_calls=[call(0, "f", ["\ud800"])]),
        {"choices": [{"delta": {}, "finish_reason": 7}]},
        {"usage": 7},
    ],
)
def test_what_has_a_wrong_type_is_left_out_and_counted(broken: JSON) -> None:
    reader = ChatReader("hermes")
    reader.feed(broken)
    assert reader.unread == (broken is not None)


def test_parts_in_parts_are_not_followed_without_end() -> None:
    nested: JSON = "Hm."
    for _ in range(50):
        nested = [{"type": "thinking", "thinking": nested}]
    assert message(chunk(content=nested)).parts == ()


# Whole bodies


def body(said: Mapping[str, JSON], finish: str | None) -> dict[str, JSON]:
    return {"object": "chat.completion", "choices": [{"index": 0, "message": said, "finish_reason": finish}]}


def stream(said: Mapping[str, JSON], finish: str | None, places: Sequence[int]) -> list[JSON]:
    """The chunks of a stream that says the same."""
    chunks: list[JSON] = []
    for key in ("reasoning_content", "content"):
        text = said.get(key)
        chunks += [chunk(**{key: piece}) for piece in cut(text if isinstance(text, str) else "", places)]
    calls = said.get("tool_calls")
    for k, one in enumerate(calls if isinstance(calls, list) else []):
        function = one["function"]
        first, *more = [piece for piece in cut(function["arguments"], places) if piece] or [""]
        chunks.append(chunk(tool_calls=[call(k, function["name"], first, one["id"])]))
        chunks += [chunk(tool_calls=[call(k, None, piece)]) for piece in more]
    return [*chunks, chunk(finish)]


@st.composite
def answers(draw: st.DrawFn) -> tuple[Dialect, dict[str, JSON]]:
    dialect = draw(st.sampled_from(dialects()))
    text = st.none() | texts(dialect)
    names, arguments = st.sampled_from(["f", "g"]), st.sampled_from(["{}", '{"a": 1}', "", '{"a'])
    calls = st.lists(st.builds(call, st.none(), names, arguments, st.sampled_from(["a", "b"])), max_size=2)
    return dialect, {"reasoning_content": draw(text), "content": draw(text), "tool_calls": draw(calls)}


@some
@given(answers(), st.sampled_from([None, "stop", "length"]), cuts())
def test_a_body_is_read_as_a_stream_that_says_the_same(
    answer: tuple[Dialect, dict[str, JSON]], finish: str | None, places: list[int]
) -> None:
    dialect, said = answer
    whole = merge(read_body(json.loads(json.dumps(body(said, finish))), dialect))
    assert merge(events(stream(said, finish, places), dialect)) == whole
    assert merge(events(stream(said, finish, range(99)), dialect)) == whole
