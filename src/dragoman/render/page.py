"""What a family writes a conversation on: it says what it writes and whose that is, the page keeps the segments.

Two things a family need not care for. Caller's text can't become markup, since only what is written by `mark` and its
like may spell control tokens. And what a model would have sampled is found out here: of an assistant's turn it is
whatever comes behind the generation prompt, up to the stop marker; a turn that begins otherwise was rewritten for
history, and nothing of it was sampled as it stands there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from ..dialect import Dialect
from ..errors import Inexpressible, InvalidConversation
from ..idioms import Speller
from ..segments import NOBODY, Kind, Segment
from ..types import JSON, Message, Part, TextPart, ThinkingPart, ToolCall
from .values import Declaration, tojson

__all__ = ["AnyOptions", "Chat", "Options", "Page"]

MARKUP, TEXT, CALL, RESULT, STOP = Kind.MARKUP, Kind.TEXT, Kind.CALL, Kind.RESULT, Kind.STOP
"""Names of our own, since Python 3.11 takes longer to look up a member of an enum than to make a segment."""


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """The options that a family has beside messages and tools, as its chat template names them: none here."""


class AnyOptions(Options, frozen=True):
    """Options by any name, as chat templates of any kind have them."""

    values: Mapping[str, JSON] = {}


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

    __slots__ = (
        "_begun",
        "_dialect",
        "_guards",
        "_message",
        "_prompt",
        "_rewritten",
        "_signs",
        "control",
        "segments",
    )

    def __init__(self, dialect: Dialect, control: re.Pattern[str]) -> None:
        self.segments: list[Segment] = []
        self._dialect = dialect
        self.control = control  # finds control tokens in text
        self._guards: dict[str, str] = {}  # of the message that is spelled
        self._signs: Iterator[str] = iter(())  # those that may be guards
        self._message = NOBODY
        self._begun = NOBODY  # the first segment of the assistant's turn that is open
        self._prompt, self._rewritten = "", False

    def at(self, message: int) -> None:
        """What follows belongs to this message."""
        self._message = message

    def mark(self, text: str, *, apart: bool = False) -> None:
        """Write the format's own characters, which may spell control tokens; `apart` from what is before."""
        if text:
            self.segments.append(Segment(text, MARKUP, self._message, NOBODY, True, apart))

    def say(self, text: str, part: int = 0, kind: Kind = TEXT, *, apart: bool = False) -> None:
        """Write the caller's characters, of a part of the message."""
        if text:
            self.segments.append(Segment(text, kind, self._message, part, False, apart))

    def say_parts(self, message: Message) -> None:
        """Write the texts of a message, whose parts are all text."""
        kind = RESULT if message.role == "tool" else TEXT
        for k, part in enumerate(message.parts):
            if not isinstance(part, TextPart):
                raise InvalidConversation(self._message, "text", type(part).__name__, k)
            self.say(part.text, k, kind)

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
        if len(kept) < len(message.parts):
            message = replace(message, parts=tuple(message.parts[k] for k in kept))
        try:
            segments = speller(self._guarded(message), False)
        except Inexpressible as error:
            part = kept[error.part]
            raise InvalidConversation(self._message, "what the dialect can say", error.reason, part) from None
        guarded, index = bool(self._guards), self._message
        for each in segments:
            if not each.text:
                continue
            part = kept[each.part] if each.part != NOBODY else NOBODY
            each = Segment(each.text, each.kind, index, part, each.control, each.apart)
            if guarded and each.kind is CALL and _guard.search(each.text) is not None:
                self._unguard(each)
            else:
                self.segments.append(each)

    def stop(self, marker: str, *, apart: bool = False) -> None:
        """Write the marker that ends the assistant's turn, and end it."""
        self.segments.append(Segment(marker, STOP, self._message, NOBODY, True, apart))
        self.end()

    def end(self) -> None:
        """The assistant's turn ends: tell what of it was sampled."""
        if self._rewritten:
            return
        segments, at, prompt = self.segments, self._begun, self._prompt
        while prompt:
            text = segments[at].text if at < len(segments) and segments[at].control else ""
            if text and prompt.startswith(text):
                prompt = prompt[len(text) :]
                at += 1
            elif text.startswith(prompt):
                cut = len(prompt)
                segments[at : at + 1] = [replace(segments[at], text=half) for half in (text[:cut], text[cut:])]
                prompt = ""
                at += 1
            else:
                return  # it does not begin as the prompt does
        apart = True
        for k in range(at, len(segments)):
            each = segments[k]
            apart = apart or each.apart
            segments[k] = Segment(each.text, each.kind, each.message, each.part, each.control, apart, True)
            apart = False

    def _guarded(self, message: Message) -> Message:
        """The message with guards in its calls where they spell control tokens, as text or once JSON is decoded."""
        self._guards = {}
        calls = [part for part in message.parts if isinstance(part, ToolCall)]
        finds, hides = self.control.search, _hiding(self.control)
        if not any(finds(call.name) or finds(call.arguments) or hides(call.arguments) for call in calls):
            return message
        used = "".join([text for call in calls for text in (call.name, call.arguments)]).lower()
        self._signs = (chr(code) for code in GUARDS if chr(code) not in used and f"\\u{code:x}" not in used)
        parts = tuple(self._guard(part) if isinstance(part, ToolCall) else part for part in message.parts)
        return replace(message, parts=parts)

    def _guard(self, call: ToolCall) -> ToolCall:
        arguments = self.control.sub(self._put, call.arguments)
        if _hiding(self.control)(arguments):
            arguments = self._guard_values(arguments)
        return replace(call, name=self.control.sub(self._put, call.name), arguments=arguments)

    def _guard_values(self, arguments: str) -> str:
        """The arguments as they are, unless a string in them, decoded, spells a control token."""
        try:
            values = json.loads(arguments)
        except (ValueError, RecursionError):
            return arguments  # refused by who writes them
        guarded = self._walk(values)
        return tojson(guarded) if guarded != values else arguments

    def _walk(self, value: JSON) -> JSON:
        match value:
            case str():
                return self.control.sub(self._put, value)
            case dict():
                return {self.control.sub(self._put, key): self._walk(inner) for key, inner in value.items()}
            case list():
                return [self._walk(inner) for inner in value]
            case _:
                return value

    def _put(self, found: re.Match[str]) -> str:
        """A guard in place of the first character of a control token."""
        first, rest = found.group()[0], found.group()[1:]
        if first not in self._guards:
            sign = next(self._signs, None)
            if sign is None:
                found_all = "a call with all of them, and a control token"
                raise InvalidConversation(self._message, "a character for private use that is not used", found_all)
            self._guards[first] = sign
        return self._guards[first] + rest

    def _unguard(self, segment: Segment) -> None:
        """Write a call whose guarded characters are the caller's, so that no control token begins with one."""
        guarded = {guard: first for first, guard in self._guards.items()}
        for k, text in enumerate(_guard.split(segment.text)):
            first = guarded.get(text if len(text) == 1 else chr(int(text.removeprefix("\\u"), 16))) if k % 2 else None
            if first is not None:
                self.say(first, segment.part, CALL)
            elif text:
                self.segments.append(replace(segment, text=text))


def _is_empty(part: Part) -> bool:
    return isinstance(part, TextPart | ThinkingPart) and not part.text


GUARDS = range(0xE000, 0xF900)
"""Guards are of the private use area, of which the caller has not used all: each stands for a first character."""

_guard = re.compile(r"([\ue000-\uf8ff]|\\u(?:e[0-9a-f]|f[0-8])[0-9a-f]{2})")
"""A guard, or its escape in JSON."""

ESCAPES = {'"': '"', "\\": "\\\\", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
"""What JSON escapes by a letter of its own, beside the slash: each with that letter, as a class of a pattern has it."""


@cache
def _hiding(control: re.Pattern[str]) -> Callable[[str], re.Match[str] | None]:
    """Finds escapes of JSON that could hide a part of a control token: others only if a token has such characters."""
    letters = "".join(letter for char, letter in ESCAPES.items() if re.escape(char) in control.pattern)
    return re.compile(rf"\\[u/{letters}]").search
