"""Answers of an OpenAI-compatible chat API to events: the chunks of a stream, or a whole body, which is one chunk.

Reads what servers really send: three names for reasoning, contents in parts, calls in the old way, usage behind the
end, errors in the midst of a stream. What has a type that it should not have is left out and counted, never an
exception; who wants bytes read first finds that in `dragoman.stream.sse`. What leaked is corrected by
`dragoman.stream.normalize`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ..dialect import DEFAULT_POLICY, Dialect, Policy
from ..events import Event
from ..parse.parser import Tools
from ..types import JSON
from .normalize import Normalizer
from .stretch import Channel

__all__ = ["FUNCTION_CALL", "ChatReader", "read_body"]

FUNCTION_CALL = -1
"""The index that stands for a call in the old way, of which there is one."""

_REASONING = ("reasoning_content", "reasoning", "thinking")

_PARTS_DEPTH = 8
"""Lists of parts in parts that are looked into."""


class ChatReader:
    """Reads one choice of an answer, chunk by chunk; each other choice needs a reader that is fed the same chunks.

    `usage` is the last that was told, `error` what an error frame says, as it is: the answer ends there as far as it is
    known. `reason` is the server's own ``finish_reason``; chunks behind it are still read, since usage comes there.
    `unread` counts values of a wrong type; fields that are not known are none. Raises as `Normalizer` does.
    """

    __slots__ = ("choice", "error", "normalizer", "reason", "unread", "usage")

    def __init__(
        self,
        dialect: str | Dialect,
        tools: Tools | None = None,
        *,
        choice: int = 0,
        policy: Policy = DEFAULT_POLICY,
        within: Channel = Channel.TEXT,
    ) -> None:
        self.normalizer = Normalizer(dialect, tools, policy=policy, within=within)
        self.choice = choice
        self.usage: Mapping[str, JSON] | None = None
        self.error: JSON = None
        self.reason: str | None = None
        self.unread = 0

    def feed(self, chunk: JSON) -> list[Event]:
        """What a ``chat.completion.chunk`` decides; also takes a ``chat.completion``. Linear in the chunk."""
        chunk = self._mapping(chunk)
        error = chunk if chunk.get("object") == "error" else chunk.get("error")
        if error:
            self.error = error
        if chunk.get("usage") is not None:
            self.usage = self._mapping(chunk["usage"]) or self.usage
        events: list[Event] = []
        for choice in self._list(chunk.get("choices")):
            fields = self._mapping(choice)
            if fields and (fields.get("index") or 0) == self.choice:
                events += self._read_choice(fields)
        return events

    def finish(self) -> list[Event]:
        """The events of the end, with the reason that the chunks told, if they did."""
        return self.normalizer.finish(self.reason)

    @property
    def residue(self) -> Mapping[str, int]:
        """Markers that still stand in the visible text."""
        return self.normalizer.residue

    def _read_choice(self, choice: Mapping[str, JSON]) -> list[Event]:
        delta = choice.get("delta")
        delta = self._mapping(delta if delta is not None else choice.get("message"))
        content = delta.get("content")
        if len(delta) == 1 and type(content) is str:  # nearly always
            events = self.normalizer.push_text(content)
        else:
            events = self._read_delta(delta)
        if choice.get("finish_reason"):
            self.reason = self._string(choice["finish_reason"]) or self.reason
        return events

    def _read_delta(self, delta: Mapping[str, JSON]) -> list[Event]:
        events: list[Event] = []
        thoughts = (thought for key in _REASONING if (thought := delta.get(key)))
        events += self._push(Channel.REASONING, next(thoughts, None))  # some servers send the same under two names
        events += self._push(Channel.TEXT, delta.get("content"))
        events += self._push(Channel.REFUSAL, delta.get("refusal"))
        if delta.get("tool_calls"):
            for k, call in enumerate(self._list(delta["tool_calls"])):
                events += self._read_call(k, self._mapping(call))
        if delta.get("function_call"):
            events += self._read_call(FUNCTION_CALL, {"index": FUNCTION_CALL, "function": delta["function_call"]})
        return events

    def _push(self, channel: Channel, value: JSON, depth: int = 0) -> list[Event]:
        """A text, or a list of parts, of which those that are thoughts go to their own channel."""
        if not value:
            return []
        if isinstance(value, str):
            return self.normalizer.push(channel, value)
        events: list[Event] = []
        for part in self._list(value) if depth < _PARTS_DEPTH else ():
            if isinstance(part, str):
                events += self._push(channel, part)
                continue
            fields = self._mapping(part)
            match fields.get("type", "text"):
                case "thinking" | "reasoning" | "reasoning_content" as kind:
                    inner = fields.get(str(kind)) or fields.get("text")
                    events += self._push(Channel.REASONING, inner, depth + 1)
                case "refusal":
                    events += self._push(Channel.REFUSAL, fields.get("refusal"), depth + 1)
                case _:
                    events += self._push(channel, fields.get("text"), depth + 1)
        return events

    def _read_call(self, k: int, call: Mapping[str, JSON]) -> list[Event]:
        """A delta of a call; one without an index has that of its place in the list."""
        index = call.get("index")
        if index is None:
            index = k
        elif not isinstance(index, int) or isinstance(index, bool):
            self.unread += 1
            index = k
        function = self._mapping(call["function"]) if call.get("function") is not None else call
        arguments = function.get("arguments")
        if arguments is not None and not isinstance(arguments, str):
            arguments = self._written(arguments)
        return self.normalizer.push_call(
            index, id=self._string(call.get("id")), name=self._string(function.get("name")), arguments=arguments
        )

    def _written(self, arguments: JSON) -> str | None:
        """Arguments as JSON text, of which some servers send the value."""
        try:
            return msgspec.json.encode(arguments).decode()
        except (TypeError, ValueError, RecursionError):
            self.unread += 1
            return None

    def _string(self, value: JSON) -> str | None:
        if isinstance(value, str):
            return value
        self.unread += value is not None
        return None

    def _mapping(self, value: JSON) -> Mapping[str, JSON]:
        if type(value) is dict or isinstance(value, Mapping):
            return value
        self.unread += value is not None
        return {}

    def _list(self, value: JSON) -> Sequence[JSON]:
        if isinstance(value, (list, tuple)):
            return value
        self.unread += value is not None
        return ()


def read_body(
    body: JSON,
    dialect: str | Dialect,
    tools: Tools | None = None,
    *,
    choice: int = 0,
    policy: Policy = DEFAULT_POLICY,
    within: Channel = Channel.TEXT,
) -> list[Event]:
    """All events of one choice of a ``chat.completion``; the same as those of a stream that says the same."""
    reader = ChatReader(dialect, tools, choice=choice, policy=policy, within=within)
    return reader.feed(body) + reader.finish()
