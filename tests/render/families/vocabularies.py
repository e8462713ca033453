"""Tokenizers of families whose vocabularies no package brings along: o200k's ranks with the family's control tokens."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

from dragoman.render.rendered import Rendered
from dragoman.tokenizers.tiktoken import TiktokenTokenizer, from_ranks
from dragoman.tokenizers.vocabularies import O200K, o200k_ranks
from tests.render.conversations import conversations

__all__ = ["DEEPSEEK", "KIMI", "conversations_with_markers", "ids_of", "with_control"]

DEEPSEEK = (
    *(
        "<｜begin▁of▁sentence｜>",
        "<｜end▁of▁sentence｜>",
        "<｜▁pad▁｜>",
        "<think>",
        "</think>",
        "<｜User｜>",
        "<｜Assistant｜>",
    ),
    *("<|EOT|>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    *("<｜tool▁outputs▁begin｜>", "<｜tool▁outputs▁end｜>", "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>"),
    "<｜tool▁sep｜>",
)
"""Of DeepSeek V3, R1 and V3.1."""

KIMI = (
    *("[BOS]", "[EOS]", "<|im_end|>", "<|im_user|>", "<|im_assistant|>", "<|im_system|>", "<|im_middle|>"),
    *("<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", "<|tool_call_begin|>", "<|tool_call_end|>"),
    *("<|tool_call_argument_begin|>", "<think>", "</think>"),
)
"""Of Kimi K2 and K2-Thinking."""


@cache
def with_control(tokens: tuple[str, ...]) -> TiktokenTokenizer:
    """o200k with these control tokens behind its own ids."""
    ranks = o200k_ranks()
    return from_ranks("o200k", ranks, O200K, {token: len(ranks) + at for at, token in enumerate(tokens)})


def ids_of(rendered: Rendered, tokenizer: TiktokenTokenizer) -> list[int]:
    """What the library itself makes of the text, control tokens and all, cut where the model began to write."""
    pieces, sampled = [""], False
    for segment in rendered.segments:
        if segment.sampled and not sampled:
            pieces.append("")
        pieces[-1] += segment.text
        sampled = segment.sampled
    return [token for piece in pieces for token in tokenizer.encoding.encode(piece, allowed_special="all")]


def conversations_with_markers(**shape: Any) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Conversations whose texts spell markers, as they are in their arguments too.

    Those that arguments spell in escapes of JSON are written without them, which no chat template does.
    """
    return conversations(markers=True, **shape).map(with_arguments_as_text)


def with_arguments_as_text(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        message | {"tool_calls": [call | {"function": as_text(call["function"])} for call in message["tool_calls"]]}
        if "tool_calls" in message
        else message
        for message in messages
    ]


def as_text(function: dict[str, Any]) -> dict[str, Any]:
    return function | {"arguments": json.dumps(function["arguments"], ensure_ascii=False)}
