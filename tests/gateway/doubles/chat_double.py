"""A server of OpenAI's chats: what it streams is a chat already, with all that such servers get wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from typing import Any

import msgspec

from .double import Call, Double, Json
from .script import Script

__all__ = ["Chat", "ChatDouble", "Counted"]


class Counted(Enum):
    """Where the usage stands."""

    AFTER = auto()
    """In a chunk of its own without choices, behind the last: as OpenAI has it."""
    WITH = auto()
    """In the last chunk of a choice."""
    NEVER = auto()


class _Message(msgspec.Struct):
    role: str
    content: Any = None


class _StreamOptions(msgspec.Struct):
    include_usage: bool = False


class Chat(msgspec.Struct):
    """A request, as far as the server reads it."""

    model: str
    messages: list[_Message]
    stream: bool = False
    stream_options: _StreamOptions = msgspec.field(default_factory=_StreamOptions)


class ChatDouble(Double):
    """Streams the texts of its script as content, markup and all; `thoughts` come first, as ``reasoning_content``.

    `calls` are pairs of a name and the pieces of its arguments, and come after the content. Without `done` the stream
    ends without ``[DONE]``.
    """

    def __init__(
        self,
        script: Script | Callable[[Json], Script] | None = None,
        *,
        models: Sequence[str] = ("chatty",),
        thoughts: Sequence[str] = (),
        calls: Sequence[tuple[str, Sequence[str]]] = (),
        usage: Counted = Counted.AFTER,
        done: bool = True,
        key: str | None = None,
    ) -> None:
        listed = {
            "object": "list",
            "data": [{"id": model, "object": "model", "owned_by": "chatty"} for model in models],
        }
        path = "/v1/chat/completions"
        super().__init__(script, pages={"/v1/models": listed}, calls={path: Call(Chat, self.events)}, key=key)
        self.thoughts, self.called = tuple(thoughts), tuple(calls)
        self.usage, self.done = usage, done

    def events(self, request: Chat, script: Script) -> Iterator[bytes]:
        """The data of the events, in order."""
        texts = script.texts if script.texts is not None else tuple(f"<{number}>" for number in script.ids)
        usage = {"prompt_tokens": 5, "completion_tokens": len(texts), "total_tokens": 5 + len(texts)}
        wanted = request.stream_options.include_usage
        yield _chunk(request.model, {"role": "assistant", "content": ""})
        for thought in self.thoughts:
            yield _chunk(request.model, {"reasoning_content": thought})
        for text in texts:
            yield _chunk(request.model, {"content": text})
        for delta in self._deltas():
            yield _chunk(request.model, {"tool_calls": [delta]})
        last = {"usage": usage} if wanted and self.usage is Counted.WITH else {}
        yield _chunk(request.model, {}, script.finish, **last)
        if wanted and self.usage is Counted.AFTER:
            yield _chunk(request.model, None, usage=usage)
        if self.done:
            yield b"[DONE]"

    def _deltas(self) -> Iterator[Json]:
        for index, (name, pieces) in enumerate(self.called):
            named = {"name": name, "arguments": ""}
            yield {"index": index, "id": f"call_{index}", "type": "function", "function": named}
            for piece in pieces:
                yield {"index": index, "function": {"arguments": piece}}


def _chunk(model: str, delta: Json | None, finish: str | None = None, **more: Any) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    value = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model, "choices": choices}
    return msgspec.json.encode(value | more)
