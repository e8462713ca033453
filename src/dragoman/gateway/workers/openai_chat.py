"""Any server that speaks OpenAI's chats: it renders and parses for itself, and we pass on what it streams.

What of its markup such a server leaks is not cleaned here but where chunks are read. For the kinds of servers that can
be given prompts there are wires of their own, beside this file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ...errors import Refused, WorkerFailed
from ...stream.sse import ServerSentEvent
from ...types import JSON
from ..transport import Client
from .order import Chunk, Order, Piece
from .pages import models_of
from .reading import EventReader
from .worker import Capabilities, Dispatch, Reader, Speech

__all__ = ["ChatEvents", "OpenAIChat", "ask"]

KIND = "openai"
OURS = frozenset(
    {"n", "bootstrap_host", "bootstrap_port", "bootstrap_room", "ec_transfer_params", "kv_transfer_params"}
)
"""Fields that are not the caller's to set: an order is one output, and no client sends a worker to another host."""


class OpenAIChat:
    """How a server with ``/v1/chat/completions`` is spoken to."""

    kind = KIND

    def build(self, order: Order, capabilities: Capabilities) -> Dispatch:
        """The caller's own request, streamed and with usage; raises `Refused` for what is no chat."""
        if order.chat is None:
            raise Refused(400, "unsupported_endpoint", f"the worker of {order.model!r} takes chats only")
        chat = {name: value for name, value in order.chat.items() if name not in OURS}
        options = chat.get("stream_options")
        fields: dict[str, JSON] = {
            **order.sampling.extra,
            **chat,
            "model": order.model,
            "stream": True,
            "stream_options": {**(options if isinstance(options, Mapping) else {}), "include_usage": True},
        }
        return Dispatch("POST", "/v1/chat/completions", msgspec.json.encode(fields), order.headers)

    def reader(self, order: Order, capabilities: Capabilities) -> Reader:
        """Who reads the answer to it."""
        return EventReader(self.kind, ChatEvents(self.kind))


class ChatEvents:
    """Reads a stream of chunks; it may end in ``[DONE]``, and must have had a reason to end."""

    def __init__(self, kind: str = KIND) -> None:
        self._kind = kind
        self._chunks: list[Piece] = []
        self._finished = False  # a choice has its reason
        self._done = False

    def read(self, event: ServerSentEvent) -> None:
        """A chunk, an error, or the end."""
        value: Mapping[str, JSON] = _decode(event.data)
        if event.event == "error" or value.get("error") or value.get("object") == "error":
            raise self._fault(value)
        self._finished = self._finished or _has_reason(value)
        self._chunks.append(Chunk(value))

    def end(self) -> None:
        """No more events: too early, unless the answer had ended."""
        if not self._finished and not self._done:
            raise WorkerFailed(self._kind, "its stream ended before the answer did")

    def take(self, *, last: bool = False) -> list[Piece]:
        """The chunks since the last time."""
        self._done = self._done or last
        chunks, self._chunks = self._chunks, []
        return chunks

    def _fault(self, value: Mapping[str, JSON]) -> WorkerFailed:
        """The error that a frame tells, however the server forms it."""
        told = value.get("error", value)
        if not isinstance(told, Mapping):
            return WorkerFailed(self._kind, str(told))
        code = told.get("code")
        message = told.get("message")
        status = code if isinstance(code, int) and 400 <= code < 600 else None
        return WorkerFailed(self._kind, message if isinstance(message, str) else "an error without a message", status)


_decode = msgspec.json.Decoder(dict[str, Any]).decode


def _has_reason(value: Mapping[str, JSON]) -> bool:
    choices = value.get("choices")
    return isinstance(choices, list) and any(
        isinstance(choice, Mapping) and choice.get("finish_reason") is not None for choice in choices
    )


async def ask(url: str, client: Client, key: str | None = None) -> Capabilities | None:
    """What the server at this address can do; ``None`` if it lists no models. Raises `WorkerFailed`."""
    listed = await models_of(url, client, key)
    if not listed:
        return None
    return Capabilities(kind=KIND, speech=(Speech.CHAT,), models=tuple(model.id for model in listed))
