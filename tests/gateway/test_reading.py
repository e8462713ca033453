"""What a worker gives, read as events: ids, text or chunks, with what an answer says beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dragoman.events import ContentDelta, Event, ReasoningDelta
from dragoman.gateway.reading import ChatReading, ParsedReading, PlainReading, Reading
from dragoman.gateway.served import load_model
from dragoman.gateway.workers.order import Chunk, Output, Piece, Prompt, TokenLogprob, Usage

from .harmony import ANALYSIS, FINAL, ids_of

MODEL = load_model("gpt-oss-20b")
IDS = ids_of(ANALYSIS + FINAL)


def parsed(**fields: Any) -> ParsedReading:
    return ParsedReading(MODEL.dialect, (), Prompt(), MODEL.tokenizer, **fields)


def said(reading: Reading, *pieces: Piece, kind: type[ContentDelta | ReasoningDelta] = ContentDelta) -> str:
    """The text of one kind, the pieces read one by one."""
    events: list[Event] = []
    for piece in pieces:
        events += reading.feed([piece])
    events += reading.finish()
    return "".join(event.text for event in events if isinstance(event, kind))


def test_ids_are_read_by_the_dialect() -> None:
    reading = parsed()
    assert said(reading, Output(ids=IDS), Output(finish="stop", usage=Usage(5, len(IDS)))) == "It is mild in Paris."
    assert (reading.ended, reading.reason, reading.counts()[0]) == (True, "stop", len(IDS))
    assert 0 < reading.counts()[1] < len(IDS)


@pytest.mark.parametrize("missing", [1, 3, len(IDS) - 1])
def test_ids_without_log_probabilities_are_read_all_the_same(missing: int) -> None:
    scored = tuple(TokenLogprob(token, -1.0) for token in IDS[: len(IDS) - missing])
    assert said(parsed(logprobs=True), Output(ids=IDS, logprobs=scored)) == "It is mild in Paris."


def test_an_output_ends_before_a_token_at_which_the_caller_wants_it_to() -> None:
    cut = ids_of(FINAL)[6]
    reading = parsed(cuts=frozenset({cut}))
    text = said(reading, Output(ids=ids_of(FINAL)))
    assert text != "It is mild in Paris."
    assert "It is mild in Paris.".startswith(text)
    assert (reading.ended, reading.reason, reading.matched) == (True, "stop", cut)


def test_text_is_read_by_the_dialect_too() -> None:
    reading = ParsedReading(load_model("qwen3").dialect, (), Prompt(), None)
    assert said(reading, Output(text="<think>so</think>It is"), Output(text=" mild.<|im_end|>")) == "It is mild."
    assert reading.counts() == (2, 0)


def chunk(reason: str | None = None, **delta: Any) -> Chunk:
    return Chunk({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def test_chunks_of_a_chat_are_cleaned() -> None:
    reading = ChatReading(load_model("qwen3").dialect, ())
    pieces = (chunk(content="<think>so</think>"), chunk(content="It is mild."), chunk("stop"))
    assert said(reading, *pieces) == "It is mild."
    assert (reading.reason, reading.counts()) == ("stop", (3, 0))


def test_what_a_chat_says_it_used_is_known_as_far_as_it_is_of_the_right_type() -> None:
    reading = ChatReading(load_model("qwen3").dialect, ())
    reading.feed([Chunk({"usage": {"prompt_tokens": 7, "completion_tokens": "3", "prompt_tokens_details": None}})])
    assert reading.usage == Usage(7, None, None)


@pytest.mark.parametrize("special", [False, True])
def test_a_completion_is_text_without_the_token_that_ended_it(special: bool) -> None:
    ids: Sequence[int] = ids_of("<|start|>Hi<|return|>")
    reading = PlainReading(MODEL.tokenizer, ends=frozenset(MODEL.stop_ids), with_special=special)
    assert said(reading, Output(ids=ids)) == ("<|start|>Hi" if special else "Hi")
    assert (reading.ended, reading.matched) == (True, ids[-1])
