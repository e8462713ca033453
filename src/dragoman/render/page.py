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
from ..idioms import Speller
from ..segments import NOBODY, Kind, Segment
from ..types import Message, Part, TextPart, ThinkingPart, ToolCall
from .values import Declaration

__all__ = ["Chat", "Options", "Page"]


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """The options that a family has beside messages and tools, as its chat template names them: none here."""


class Chat(Struct, frozen=True):
    """A conversation to be written: its messages and tools, and the family's options.

    It is `prompted` if a generation prompt follows it.
    """

    messages: tuple[Message, ...]
    tools: tuple[Declaration, ...]
    options: Options
    prompted: bool = False

    def last(self, *roles: str, before: int | None = None) -> int:
        """The index of the last message of one of these roles, of those before an index; `NOBODY` if there is none."""
        end = len(self.messages) if before is None else before
        return next((k for k in range(end - 1, -1, -1) if self.messages[k].role in roles), NOBODY)

    def role(self, index: int) -> str:
        """The role of a message, empty where there is none."""
        return self.messages[index].role if 0 <= index < len(self.messages) else ""


class Page:
    """A conversation being written, message by message."""

    __slots__ = ("_begun", "_control", "_dialect", "_message", "_prompt", "_rewritten", "segments")

    def __init__(self, dialect: Dialect, control: re.Pattern[str]) -> None:
        self.segments: list[Segment] = []
        self._dialect = dialect
        self._control = control  # finds control tokens in text
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

    def spell(self, message: Message, speller: Speller | None = None) -> None:
        """Write the parts of an assistant's message, each as the dialect does, or another speller of it.

        Empty texts and thoughts are none.
        """
        speller = speller or self._dialect.speller
        assert speller is not None
        kept = [k for k, part in enumerate(message.parts) if not _is_empty(part)]
        message = replace(message, parts=tuple(message.parts[k] for k in kept))
        guards = self._guards(message)
        try:
            segments = speller(self._guarded(message, guards) if guards else message, False)
        except Inexpressible as error:
            part = kept[error.part]
            raise InvalidConversation(self._message, "what the dialect can say", error.reason, part) from None
        for segment in segments:
            part = kept[segment.part] if segment.part != NOBODY else NOBODY
            segment = replace(segment, message=self._message, part=part)
            if guards and segment.kind is Kind.CALL:
                self._unguard(segment, guards)
            else:
                self.segments.append(segment)

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

    def _guards(self, message: Message) -> dict[str, str]:
        """What to write for the first characters of control tokens that its calls spell: signs that are not in them."""
        texts = [text for part in message.parts if isinstance(part, ToolCall) for text in (part.name, part.arguments)]
        found = {token[0] for text in texts for token in self._control.findall(_plain(text))}
        if not found:
            return {}
        whole = "".join(texts).lower()
        signs = (chr(code) for code in GUARDS if chr(code) not in whole and f"\\u{code:x}" not in whole)
        return dict(zip(sorted(found), signs, strict=False))

    def _guarded(self, message: Message, guards: dict[str, str]) -> Message:
        """The message with guards in its calls."""
        table = str.maketrans(guards)

        def guarded(part: Part) -> Part:
            if not isinstance(part, ToolCall):
                return part
            plain = _plain(part.arguments)
            arguments = plain if self._control.search(plain) is not None else part.arguments
            return replace(part, name=part.name.translate(table), arguments=arguments.translate(table))

        return replace(message, parts=tuple(map(guarded, message.parts)))

    def _unguard(self, segment: Segment, guards: dict[str, str]) -> None:
        """Write a call whose guarded characters are the caller's, so that no control token begins with one."""
        meant = {spelled: char for char, sign in guards.items() for spelled in (sign, f"\\u{ord(sign):x}")}
        for k, text in enumerate(re.split(f"({'|'.join(map(re.escape, meant))})", segment.text)):
            if k % 2:
                self.say(meant[text], segment.part, Kind.CALL)
            elif text:
                self.segments.append(replace(segment, text=text))


def _is_empty(part: Part) -> bool:
    return isinstance(part, TextPart | ThinkingPart) and not part.text


GUARDS = range(0xE000, 0xF900)
"""Guards are of the private use area, whichever of it the caller has not used."""

_escaped = re.compile(r"(?<!\\)(?:\\\\)*\\u00([2-7][0-9a-fA-F])")


def _plain(text: str) -> str:
    r"""Text in which no character of ASCII is escaped as ``\u0041``, unless JSON needs it."""
    return _escaped.sub(_decoded, text) if "\\u" in text else text


def _decoded(escape: re.Match[str]) -> str:
    r"""An escaped character of ASCII as itself, unless JSON needs the escape."""
    whole, char = escape.group(), chr(int(escape[1], 16))
    return whole if char in '"\\' else whole[:-6] + char
