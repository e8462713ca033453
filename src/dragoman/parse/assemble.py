"""Events to a message: ordered parts, nothing moved and nothing joined that the model kept apart."""

from __future__ import annotations

from collections.abc import Iterable

from ..events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Markup,
    Problem,
    ProblemKind,
    ReasoningDelta,
)
from ..types import Message, Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall

__all__ = ["Assembler", "assemble"]

_UNREAD = frozenset([ProblemKind.MALFORMED, ProblemKind.INCOMPLETE])


class Assembler:
    """Builds a message as events come; `message` may be asked for at any time.

    Markup between two texts, or two thoughts, keeps them apart: they were two messages or two blocks. A call that
    is not complete becomes an `UnparsedToolCall` with what the model wrote.
    """

    __slots__ = ("_arguments", "_begun", "_channel", "_name", "_parts", "_pieces", "_role", "_thinking")

    def __init__(self, role: str = "assistant") -> None:
        self._role = role
        self._parts: list[Part] = []
        self._pieces: list[str] = []  # of the text or thought that is open
        self._thinking = False
        self._channel: str | None = None
        self._begun: CallBegin | None = None
        self._arguments: list[str] = []
        self._name: str | None = None  # of the call that has just failed

    def feed(self, events: Iterable[Event]) -> None:
        """Take more events; linear in their text."""
        for event in events:
            match event:
                case ContentDelta():
                    self._add(event.text, False, event.channel)
                case ReasoningDelta():
                    self._add(event.text, True, None)
                case ArgumentsDelta():
                    self._arguments.append(event.json)
                case Markup():
                    self._close()
                case CallBegin():
                    self._close()
                    self._begun, self._arguments = event, []
                case CallEnd():
                    self._end(event)
                case Problem() if event.kind in _UNREAD:
                    self._close()
                    self._parts.append(UnparsedToolCall(event.raw, event.detail, self._name))
                    self._name = None
                case _:
                    pass

    @property
    def message(self) -> Message:
        """The message so far; an open text counts, an open call does not."""
        parts = list(self._parts)
        text = "".join(self._pieces)
        if text:
            parts.append(self._open_part(text))
        return Message(self._role, tuple(parts))

    def _add(self, text: str, thinking: bool, channel: str | None) -> None:
        if self._pieces and (thinking is not self._thinking or channel != self._channel):
            self._close()
        self._thinking, self._channel = thinking, channel
        self._pieces.append(text)

    def _open_part(self, text: str) -> Part:
        return ThinkingPart(text) if self._thinking else TextPart(text, self._channel)

    def _close(self) -> None:
        text = "".join(self._pieces)
        if text:
            self._parts.append(self._open_part(text))
        self._pieces = []

    def _end(self, event: CallEnd) -> None:
        begun, self._begun = self._begun, None
        if begun is None:
            return
        if event.status is CallStatus.COMPLETE:
            self._parts.append(ToolCall(begun.name, "".join(self._arguments), event.id))
        else:
            self._name = begun.name
        self._arguments = []


def assemble(events: Iterable[Event], role: str = "assistant") -> Message:
    """The message that all these events make."""
    assembler = Assembler(role)
    assembler.feed(events)
    return assembler.message
