"""Conversations of a hundred messages, each time with other text: nobody has seen it before, not even its words' order.

The text is Python's own documentation, as `pydoc` shows it: prose, code and tables. A plain conversation is talk; one
with calls has a thought, a text and a call in each of the model's messages, and a tool's answer behind it. Both end
where the model is to go on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from json import dumps, loads
from pydoc_data.topics import topics
from random import Random

from dragoman.types import Message, Part, TextPart, ThinkingPart, ToolCall

__all__ = ["KINDS", "as_dicts", "conversation"]

KINDS = ("talk", "calls")
"""What a conversation may be made of."""

MESSAGES = 100


@cache
def _paragraphs() -> tuple[str, ...]:
    found = (paragraph.strip() for topic in topics.values() for paragraph in topic.split("\n\n"))
    return tuple(paragraph for paragraph in found if 80 < len(paragraph) < 700)


def conversation(kind: str, seed: int, messages: int = MESSAGES) -> tuple[Message, ...]:
    """A conversation of a kind; the same for the same seed."""
    random = Random(f"{kind} {seed}")

    def text() -> str:
        words = random.choice(_paragraphs()).split(" ")
        return " ".join(words[random.randrange(len(words) // 2 + 1) :]) + f" ({random.randrange(10**6)})"

    written = [Message("system", (TextPart(text()),)), Message("user", (TextPart(text()),))]
    while len(written) < messages:
        written += _talk(text) if kind == "talk" else _round(text, len(written))
    return tuple(written)


def _talk(text: Callable[[], str]) -> tuple[Message, Message]:
    return Message("assistant", (TextPart(text()),)), Message("user", (TextPart(text()),))


def _round(text: Callable[[], str], number: int) -> tuple[Message, Message]:
    """A call with what the model thinks and says before it, and its answer."""
    call = ToolCall("search", dumps({"query": text()[:80], "limit": number}, ensure_ascii=False), f"call_{number}")
    answer = TextPart(dumps({"found": [text()], "more": False}, ensure_ascii=False))
    said = Message("assistant", (ThinkingPart(text()), TextPart(text()), call))
    return said, Message("tool", (answer,), "search", f"call_{number}")


def as_dicts(messages: tuple[Message, ...], *, decoded: bool = True) -> list[dict[str, object]]:
    """The messages as OpenAI's API has them; arguments as objects where they are `decoded`."""

    def call(part: Part) -> dict[str, object]:
        assert isinstance(part, ToolCall)
        arguments = loads(part.arguments) if decoded else part.arguments
        return {"type": "function", "id": part.id, "function": {"name": part.name, "arguments": arguments}}

    written = []
    for message in messages:
        each: dict[str, object] = {"role": message.role, "content": message.text}
        if message.thinking:
            each["reasoning_content"] = message.thinking
        if message.tool_calls:
            each["tool_calls"] = [call(part) for part in message.tool_calls]
        if message.role == "tool":
            each |= {"name": message.name, "tool_call_id": message.call_id}
        written.append(each)
    return written
