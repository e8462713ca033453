"""What a family writes a conversation on: it says what it writes and whose that is, the page keeps the segments.

Two things a family need not care for. Caller's text can't become markup, since only what is written by `mark` and its
like may spell control tokens. And what a model would have sampled is found out here: of an assistant's turn it is
whatever comes behind the generation prompt, up to the stop marker; a turn that begins otherwise was rewritten for
history, and nothing of it was sampled as it stands there.
"""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from ..dialect import Dialect
from ..errors import Inexpressible, InvalidConversation
from ..segments import NOBODY, Kind, Segment
from ..types import Message, TextPart, ToolCall
from .values import Declaration

__all__ = ["Chat", "Options", "Page"]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """The options that a family has beside messages and tools, as its chat template names them: none here."""


class Chat(Struct, frozen=True):
    """A conversation to be written: its messages and tools, and the family's options.

    It is `asked` if the model is to go on behind it.
    """

    messages: tuple[Message, ...]
    tools: tuple[Declaration, ...]
    options: Options
    asked: bool = False

    def last(self, *roles: str, before: int | None = None) -> int:
        """The index of the last message of one of these roles, of those before an index; `NOBODY` if there is none."""
        end = len(self.messages) if before is None else before
        return next((k for k in range(end - 1, -1, -1) if self.messages[k].role in roles), NOBODY)

    def role(self, index: int) -> str:
        """The role of a message, empty where there is none."""
        return self.messages[index].role if 0 <= index < len(self.messages) else ""


class Page:
    """A conversation being written, message by message."""

    __slots__ = ("_begun", "_control", "_dialect", "_guards", "_message", "_prompt", "_rewritten", "segments")

    def __init__(self, dialect: Dialect, control: re.Pattern[str]) -> None:
        self.segments: list[Segment] = []
        self._dialect = dialect
        self._control = control  # finds control tokens in text
        self._guards: dict[int, str] = {}
        self._message = NOBODY
        self._begun = NOBODY  # the first segment of the assistant's turn that is open
        self._prompt, self._rewritten = "", False

    def at(self, message: int) -> None:
        """What follows belongs to this message."""
        self._message = message

    def mark(self, text: str, *, apart: bool = False) -> None:
        """Write the format's own characters, which may spell control tokens; `apart` from what is before."""
        if text:
            self.segments.append(Segment(text, Kind.MARKUP, self._message, control=True, apart=apart))

    def say(self, text: str, part: int = 0, kind: Kind = Kind.TEXT, *, apart: bool = False) -> None:
        """Write the caller's characters, of a part of the message."""
        if text:
            self.segments.append(Segment(text, kind, self._message, part, apart=apart))

    def say_parts(self, message: Message) -> None:
        """Write the texts of a message, whose parts are all text."""
        for k, part in enumerate(message.parts):
            if not isinstance(part, TextPart):
                raise InvalidConversation(self._message, "text", type(part).__name__, k)
            self.say(part.text, k, Kind.RESULT if message.role == "tool" else Kind.TEXT)

    def begin(self, message: int, prompt: str, *, rewritten: bool = False) -> None:
        """An assistant's turn begins, before which the generation prompt would have been this.

        It is `rewritten` if it lacks what the model has said there, as thoughts that are taken out of history.
        """
        self._message, self._begun, self._prompt, self._rewritten = message, len(self.segments), prompt, rewritten

    def spell(self, message: Message) -> None:
        """Write the parts of an assistant's message, each as the dialect does."""
        speller = self._dialect.speller
        assert speller is not None
        try:
            segments = speller(self._guarded(message), False)
        except Inexpressible as error:
            raise InvalidConversation(self._message, "what the dialect can say", error.reason, error.part) from None
        for segment in segments:
            if segment.kind is Kind.CALL and _guard.search(segment.text) is not None:
                self._unguard(segment)
            else:
                self.segments.append(replace(segment, message=self._message))

    def stop(self, marker: str, *, apart: bool = False) -> None:
        """Write the marker that ends the assistant's turn, and end it."""
        self.segments.append(Segment(marker, Kind.STOP, self._message, control=True, apart=apart))
        self.end()

    def end(self) -> None:
        """The assistant's turn ends: tell what of it was sampled."""
        segments, size = self.segments, len(self._prompt)
        turn = segments[self._begun :]
        if self._rewritten or not "".join([segment.text for segment in turn]).startswith(self._prompt):
            return
        del segments[self._begun :]
        first = True
        for segment in turn:
            if size >= len(segment.text):
                segments.append(segment)
                size -= len(segment.text)
                continue
            if size:
                segments.append(replace(segment, text=segment.text[:size]))
            segments.append(replace(segment, text=segment.text[size:], sampled=True, apart=segment.apart or first))
            size, first = 0, False

    def _guarded(self, message: Message) -> Message:
        """The message with guards in its calls where they spell control tokens."""
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        if not any(self._control.search(call.name) or self._spells(call.arguments) for call in calls):
            return message
        parts = tuple(self._guard(part) if isinstance(part, ToolCall) else part for part in message.parts)
        return replace(message, parts=parts)

    def _spells(self, arguments: str) -> bool:
        return self._control.search(arguments) is not None or (
            "\\u" in arguments and self._control.search(_escaped.sub(_decoded, arguments)) is not None
        )

    def _guard(self, call: ToolCall) -> ToolCall:
        arguments = _escaped.sub(_decoded, call.arguments) if self._spells(call.arguments) else call.arguments
        for token in (*self._control.findall(call.name), *self._control.findall(arguments)):
            self._guards.setdefault(ord(token[0]), chr(GUARD + len(self._guards)))
        return replace(call, name=call.name.translate(self._guards), arguments=arguments.translate(self._guards))

    def _unguard(self, segment: Segment) -> None:
        """Write a call whose guarded characters are the caller's, so that no control token begins with one."""
        guarded = [chr(first) for first in self._guards]
        for k, text in enumerate(_guard.split(segment.text)):
            if k % 2:
                code = ord(text) if len(text) == 1 else int(text.removeprefix("\\u"), 16)
                self.say(guarded[code - GUARD], segment.part, Kind.CALL)
            elif text:
                self.segments.append(replace(segment, text=text, message=self._message))


GUARD = 0xDC00
"""Guards are lone surrogates from here on, which no text has; each stands for the first character of some token."""

_guard = re.compile("([\udc00-\udcff]|\\\\udc[0-9a-f]{2})")
_escaped = re.compile(r"(?<!\\)(?:\\\\)*\\u00([2-7][0-9a-fA-F])")


def _decoded(escape: re.Match[str]) -> str:
    r"""An escaped character of ASCII as itself, unless JSON needs the escape."""
    whole, char = escape.group(), chr(int(escape[1], 16))
    return whole if char in '"\\' else whole[:-6] + char
