"""Harmony outputs as a worker samples them, and the chats that they answer."""

from __future__ import annotations

from typing import Any

from dragoman.render.encode import Encoder
from dragoman.segments import Segment
from dragoman.tokenizers import get_tokenizer

__all__ = ["ANALYSIS", "CALL", "FINAL", "MODEL", "PREAMBLE", "TOOL", "ask", "ids_of", "text_of"]

MODEL = "gpt-oss-20b"

ANALYSIS = "<|channel|>analysis<|message|>The weather, then.<|end|><|start|>assistant"
PREAMBLE = "<|channel|>commentary<|message|>I look at the sky.<|end|><|start|>assistant"
CALL = (
    "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    '{"city":"Paris","unit":"c"}<|call|>'
)
FINAL = "<|channel|>final<|message|>It is mild in Paris.<|return|>"

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "unit": {"type": "string", "enum": ["c", "f"]}},
            "required": ["city"],
        },
    },
}


def ids_of(text: str) -> tuple[int, ...]:
    """The tokens of a text, in which control tokens are spelled."""
    return tuple(Encoder(get_tokenizer("o200k_harmony")).encode([Segment(text, control=True)])[0])


def text_of(ids: list[int]) -> str:
    """The text of tokens."""
    tokenizer = get_tokenizer("o200k_harmony")
    return b"".join(map(tokenizer.token_bytes, ids)).decode()


def ask(content: str = "How is the weather in Paris?", **fields: Any) -> dict[str, Any]:
    """A chat."""
    return {"model": MODEL, "messages": [{"role": "user", "content": content}], **fields}
