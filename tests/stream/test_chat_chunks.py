"""Deltas as chunks and as a body."""

from __future__ import annotations

from typing import Any

import msgspec

from dragoman.events import Problem, ProblemKind
from dragoman.stream.chat_chunks import SHOWN, ChatBody, ChatChunks, TokenEntry
from dragoman.stream.chat_deltas import Content, Reasoning, ToolArguments, ToolName
from dragoman.stream.sse import SseDecoder

DELTAS = [
    Reasoning("Hm."),
    Content('Say "é"\n'),
    ToolName(0, 'c"1', "f"),
    ToolArguments(0, '{"a"'),
    ToolArguments(0, ":1}"),
]


def events(data: bytes) -> list[Any]:
    decoder = SseDecoder()
    return [msgspec.json.decode(event.data) for event in decoder.feed(data) + decoder.finish()]


def test_the_first_chunk_has_the_role_and_the_last_the_reason() -> None:
    writer = ChatChunks("id", "m", 1)
    first, second, last = events(writer.write([Content("a")]) + writer.finish("stop"))
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert second["choices"][0]["delta"] == {"content": "a"}
    assert last["choices"] == [{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}]
    assert {key: first[key] for key in ("id", "object", "created", "model")} == {
        "id": "id",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "m",
    }


def test_an_answer_without_a_word_has_a_role_and_an_end() -> None:
    assert len(events(ChatChunks("id", "m", 1).finish("stop"))) == 2


def test_whatever_the_text_is_the_chunks_are_json() -> None:
    made = events(ChatChunks('i"d', "m\n", 1, index=3, reasoning="reasoning").write(DELTAS))
    deltas = [chunk["choices"][0]["delta"] for chunk in made[1:]]
    assert {chunk["choices"][0]["index"] for chunk in made} == {3}
    assert deltas[:2] == [{"reasoning": "Hm."}, {"content": 'Say "é"\n'}]
    function = {"name": "f", "arguments": ""}
    assert deltas[2] == {"tool_calls": [{"index": 0, "id": 'c"1', "type": "function", "function": function}]}


def test_a_body_says_what_the_chunks_do() -> None:
    body = ChatBody()
    body.write(DELTAS[:3])
    body.write(DELTAS[3:])
    message: Any = body.finish("tool_calls")["message"]
    assert (message["content"], message["reasoning_content"]) == ('Say "é"\n', "Hm.")
    assert message["tool_calls"] == [
        {"id": 'c"1', "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    ]


def test_calls_without_text_have_no_content() -> None:
    body = ChatBody()
    body.write([ToolName(0, "c", "f")])
    message: Any = body.finish("tool_calls")["message"]
    assert message["content"] is None


def test_tokens_go_with_the_text_or_alone() -> None:
    token = TokenEntry("a", -0.5, [97], [])
    _, both = events(ChatChunks("id", "m", 1).write([Content("a")], [token]))
    assert both["choices"][0]["logprobs"]["content"][0]["token"] == "a"
    _, alone = events(ChatChunks("id", "m", 1).write([], [token]))
    assert alone["choices"][0]["delta"] == {}


def test_usage_is_told_behind_all_choices_where_it_is_wanted() -> None:
    wanted = ChatChunks("id", "m", 1, with_usage=True)
    assert events(wanted.write([Content("a")]))[0]["usage"] is None
    assert events(wanted.usage({"total_tokens": 3}))[0]["choices"] == []
    assert ChatChunks("id", "m", 1).usage({"total_tokens": 3}) == b""


def test_problems_are_shown_with_what_the_model_wrote_up_to_a_bound() -> None:
    problem = Problem(ProblemKind.MALFORMED, "x" * (2 * SHOWN), "no", 0, 0)
    *_, last = events(ChatChunks("id", "m", 1).finish("stop", [problem]))
    assert last["choices"][0]["problems"] == [{"kind": "malformed", "detail": "no", "raw": "x" * SHOWN}]
