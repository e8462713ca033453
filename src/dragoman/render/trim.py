"""Messages as chat templates lay them out: without thoughts, or without blanks at the edges of text.

Parts keep their numbers, so that whatever is written of them still tells where it came from: what is taken out leaves
an empty text or thought, of which nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec.structs import replace

from ..types import Message, TextPart, ThinkingPart

__all__ = ["lstripped", "rstripped", "stripped", "without_thoughts"]

Prose = type[TextPart] | type[ThinkingPart]


def without_thoughts(message: Message) -> Message:
    """What is left of a message in history."""
    parts = tuple(ThinkingPart("") if isinstance(part, ThinkingPart) else part for part in message.parts)
    return replace(message, parts=parts)


def stripped(message: Message, kind: Prose = TextPart, chars: str | None = None) -> Message:
    """A message without blanks, or these characters, around each text or thought; neighbours count as one."""
    return rstripped(lstripped(message, kind, chars), kind, chars)


def lstripped(message: Message, kind: Prose = TextPart, chars: str | None = None) -> Message:
    """A message without blanks, or these characters, before each text or thought."""
    return _stripped(message, kind, lambda text: text.lstrip(chars), range(len(message.parts)))


def rstripped(message: Message, kind: Prose = TextPart, chars: str | None = None) -> Message:
    """A message without blanks, or these characters, behind each text or thought."""
    return _stripped(message, kind, lambda text: text.rstrip(chars), reversed(range(len(message.parts))))


def _stripped(message: Message, kind: Prose, strip: Callable[[str], str], order: Iterable[int]) -> Message:
    parts = list(message.parts)
    at_edge = True
    for k in order:
        part = parts[k]
        if not isinstance(part, kind):
            at_edge = True
        elif at_edge:
            text = strip(part.text)
            parts[k] = replace(part, text=text)
            at_edge = not text
    return replace(message, parts=tuple(parts))
