"""How a worker's output is read; all that dialects say of it is tried in `test_dialects`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from dragoman import get_dialect
from dragoman.events import Event
from dragoman.gateway.reading import ParsedReading
from dragoman.gateway.workers.order import Output, Prompt, TokenLogprob, Usage
from dragoman.stream.chat_deltas import ChatDeltas, ToolArguments
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Tool

TOKENIZER = ByteTokenizer(("<tool_call>", "</tool_call>", "<think>", "</think>", "<|im_end|>"))
PING = Tool("ping", "", {"type": "object", "properties": {}})
CALL = '<tool_call>\n{"name": "ping", "arguments": {"a": "é"}}\n</tool_call>'


def reading(**fields: Any) -> ParsedReading:
    return ParsedReading(get_dialect("hermes"), [PING], Prompt(), TOKENIZER, **fields)


def letters(text: str) -> list[int]:
    """Markers too are spelled by ordinary tokens."""
    return TOKENIZER.encode(text)


def content(events: Sequence[Event]) -> str:
    return "".join(getattr(event, "text", "") for event in events if type(event).__name__ == "ContentDelta")


def arguments(events: Sequence[Event]) -> str:
    """The arguments of the calls."""
    return "".join(delta.json for delta in ChatDeltas(lambda: "call_").feed(events) if isinstance(delta, ToolArguments))


def test_a_marker_that_ordinary_tokens_spell_is_text() -> None:
    it = reading()
    events = [*it.feed([Output(letters(CALL))]), *it.finish()]
    assert (content(events), arguments(events)) == (CALL, "")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_by_spelling_it_is_a_marker(size: int) -> None:
    it = reading(by_spelling=True)
    ids = letters(CALL)
    pieces = [Output(ids[at : at + size]) for at in range(0, len(ids), size)]
    events = [*it.feed(pieces), *it.finish()]
    assert (content(events), arguments(events)) == ("", '{"a": "é"}')
    assert it.counts() == (len(ids), 0)


def test_by_spelling_a_control_token_is_what_it_spells() -> None:
    it = reading(by_spelling=True)
    control = TOKENIZER.control
    ids = [control["<think>"], *letters("wéll"), control["</think>"], *letters("so"), control["<|im_end|>"]]
    events = it.feed([Output(ids, usage=Usage(completion=len(ids)))])
    assert it.ended
    assert content([*events, *it.finish()]) == "so"
    assert it.counts() == (len(ids), 5)


def test_by_spelling_text_may_stand_between_ids() -> None:
    it = reading(by_spelling=True, logprobs=True)
    a, b = TokenLogprob(ord("a"), -1.0), TokenLogprob(ord("b"), -2.0)
    events = it.feed([Output(letters("a"), logprobs=(a,)), Output(text="b", logprobs=(b,))])
    assert content([*events, *it.finish()]) == "ab"
    assert [(token.token, token.logprob) for token in it.tokens] == [("a", -1.0), ("b", -2.0)]


def test_by_spelling_the_callers_own_stop_token_cuts() -> None:
    it = reading(by_spelling=True, cuts=frozenset({ord("c")}))
    assert content([*it.feed([Output(letters("abcd"))]), *it.finish()]) == "ab"
    assert (it.ended, it.reason, it.matched) == (True, "stop", ord("c"))
