"""Deltas of a chat as the bytes of a stream of ``chat.completion.chunk``, and whole as the message of a body.

The fields are those of OpenAI's API (``ChatCompletionChunk`` and ``ChatCompletion`` of the `openai` package), and one
more, under a name that can be chosen, for thoughts: ``reasoning_content`` as DeepSeek, SGLang and llama.cpp have it, or
``reasoning`` as vLLM does. What is the same in all chunks of a stream is written once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, assert_never

import msgspec
from msgspec import Struct

from ..events import Problem
from ..types import JSON
from .chat_deltas import ChatDelta, Content, Reasoning, Refusal, ToolArguments, ToolName

__all__ = ["DONE", "ChatBody", "ChatChunks", "ReasoningField", "TokenEntry", "shown_problems"]

ReasoningField: TypeAlias = Literal["reasoning_content", "reasoning"]
"""What thoughts are called in the answer."""

DONE = b"data: [DONE]\n\n"

SHOWN = 4096
"""Characters of a problem's raw text that an answer shows."""

_encode = msgspec.json.Encoder().encode


class TokenEntry(Struct, frozen=True):
    """A token of the visible text with its log probability, as ``logprobs.content`` lists them."""

    token: str
    logprob: float
    bytes: list[int] | None = None
    top_logprobs: Sequence[TokenEntry] | msgspec.UnsetType = msgspec.UNSET


class ChatChunks:
    """Writes the chunks of one choice; everything it gives is whole server-sent events."""

    __slots__ = ("_begin", "_begun", "_end", "_head", "_reasoning", "_usage", "_with_usage")

    def __init__(
        self,
        answer: str,
        model: str,
        created: int,
        *,
        index: int = 0,
        reasoning: ReasoningField = "reasoning_content",
        with_usage: bool = False,
    ) -> None:
        """Chunks of the answer with this id; those of a stream that ends `with_usage` say that there is none yet."""
        head = {"id": answer, "object": "chat.completion.chunk", "created": created, "model": model}
        self._head = b"data: " + _encode(head)[:-1]
        self._begin = self._head + b',"choices":[{"index":%d,"delta":' % index
        self._with_usage = with_usage
        self._usage = b',"usage":null}\n\n' if with_usage else b"}\n\n"
        self._end = b',"logprobs":null,"finish_reason":null}]' + self._usage
        self._reasoning = b'{"%s":' % reasoning.encode()
        self._begun = False

    def write(self, deltas: Sequence[ChatDelta], tokens: Sequence[TokenEntry] = ()) -> bytes:
        """A chunk for each delta; `tokens` go with the first that is visible text, or stand alone."""
        if self._begun and len(deltas) == 1 and not tokens:
            return self._begin + self._delta(deltas[0]) + self._end
        out: list[bytes] = []
        if not self._begun:
            self._begun = True
            out.append(self._begin + b'{"role":"assistant","content":""}' + self._end)
        for delta in deltas:
            out += (self._begin, self._delta(delta))
            if tokens and isinstance(delta, Content):
                out.append(self._with(tokens))
                tokens = ()
            else:
                out.append(self._end)
        if tokens:
            out += (self._begin, b"{}", self._with(tokens))
        return b"".join(out)

    def finish(self, reason: str | None, problems: Sequence[Problem] = ()) -> bytes:
        """The last chunk of the choice."""
        first = b"" if self._begun else self.write(())
        extra = b',"problems":' + _encode(shown_problems(problems)) if problems else b""
        return b"".join(
            [first, self._begin, b'{},"logprobs":null,"finish_reason":', _encode(reason), extra, b"}]", self._usage]
        )

    def usage(self, usage: dict[str, JSON]) -> bytes:
        """The chunk behind all choices that says what was used, if it is wanted."""
        if not self._with_usage:
            return b""
        return self._head + b',"choices":[],"usage":' + _encode(usage) + b"}\n\n"

    def _delta(self, delta: ChatDelta) -> bytes:
        match delta:
            case Content(text=text):
                return b'{"content":' + _encode(text) + b"}"
            case Refusal(text=text):
                return b'{"refusal":' + _encode(text) + b"}"
            case Reasoning(text=text):
                return self._reasoning + _encode(text) + b"}"
            case ToolArguments(index=index, json=json):
                return b'{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}' % (index, _encode(json))
            case ToolName(index=index, id=id, name=name):
                given = (index, _encode(id), _encode(name))
                return (
                    b'{"tool_calls":[{"index":%d,"id":%s,"type":"function",'
                    b'"function":{"name":%s,"arguments":""}}]}' % given
                )
            case unknown:
                assert_never(unknown)

    def _with(self, tokens: Sequence[TokenEntry]) -> bytes:
        return b',"logprobs":{"content":' + _encode(tokens) + b',"refusal":null},"finish_reason":null}]' + self._usage


class ChatBody:
    """Collects the deltas of one choice for a body."""

    __slots__ = ("_calls", "_index", "_pieces", "_reasoning", "_tokens", "_with_tokens")

    def __init__(
        self, *, index: int = 0, reasoning: ReasoningField = "reasoning_content", with_tokens: bool = False
    ) -> None:
        self._index, self._reasoning, self._with_tokens = index, reasoning, with_tokens
        self._pieces: dict[type, list[str]] = {Content: [], Reasoning: [], Refusal: []}
        self._calls: dict[int, tuple[ToolName, list[str]]] = {}
        self._tokens: list[TokenEntry] = []

    def write(self, deltas: Iterable[ChatDelta], tokens: Sequence[TokenEntry] = ()) -> None:
        """Take more."""
        self._tokens += tokens
        for delta in deltas:
            match delta:
                case Content(text=text) | Reasoning(text=text) | Refusal(text=text):
                    self._pieces[type(delta)].append(text)
                case ToolName(index=index):
                    self._calls[index] = (delta, [])
                case ToolArguments(index=index, json=json):
                    self._calls[index][1].append(json)
                case unknown:
                    assert_never(unknown)

    def finish(self, reason: str | None, problems: Sequence[Problem] = ()) -> dict[str, JSON]:
        """The choice; its ``content`` is ``null`` where there are calls and no text."""
        text, thoughts = "".join(self._pieces[Content]), "".join(self._pieces[Reasoning])
        calls: list[JSON] = [
            {"id": name.id, "type": "function", "function": {"name": name.name, "arguments": "".join(pieces)}}
            for _, (name, pieces) in sorted(self._calls.items())
        ]
        message: dict[str, JSON] = {"role": "assistant", "content": text if text or not calls else None}
        message["refusal"] = "".join(self._pieces[Refusal]) or None
        if thoughts:
            message[self._reasoning] = thoughts
        if calls:
            message["tool_calls"] = calls
        listed: JSON = msgspec.to_builtins(self._tokens)
        logprobs: JSON = {"content": listed, "refusal": None} if self._with_tokens else None
        choice: dict[str, JSON] = {
            "index": self._index,
            "message": message,
            "logprobs": logprobs,
            "finish_reason": reason,
        }
        if problems:
            choice["problems"] = shown_problems(problems)
        return choice


def shown_problems(problems: Iterable[Problem]) -> list[JSON]:
    """What an answer says of problems: their kind, detail, and the raw text up to `SHOWN` characters."""
    return [{"kind": problem.kind.value, "detail": problem.detail, "raw": problem.raw[:SHOWN]} for problem in problems]
