"""Models that say plain text: the dialect of those that mark neither thoughts nor calls, and what it can't say.

Such a dialect has nothing to be recognised by, and nothing to be parsed but its end, so it stands with its family.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..dialect import Dialect
from ..errors import InvalidConversation
from ..idioms import define
from ..types import Message, TextPart
from .page import Chat

__all__ = ["plain_dialect", "require_plain", "require_roles", "trimmed"]


def plain_dialect(name: str, stops: tuple[str, ...], turns: tuple[str, ...], source: str) -> Dialect:
    """A dialect of text up to a stop marker, which may be ordinary text too."""
    return define(f"{name}: plain text.", name=name, stops=stops, turns=turns, prose=False, source=source)


def require_plain(chat: Chat, *roles: str) -> None:
    """Raise `InvalidConversation` for tools, for other roles, and for parts that are no text."""
    if chat.tools:
        found = f"{len(chat.tools)}: this format has no way to declare them"
        raise InvalidConversation(-1, "no tools", found)
    require_roles(chat, *roles)
    for k, message in enumerate(chat.messages):
        for number, part in enumerate(message.parts):
            if not isinstance(part, TextPart):
                raise InvalidConversation(k, "text", type(part).__name__, number)


def require_roles(chat: Chat, *roles: str) -> None:
    """Raise `InvalidConversation` for a role that is none of these."""
    for k, message in enumerate(chat.messages):
        if message.role not in roles:
            raise InvalidConversation(k, f"a role that is {_either(roles)}", repr(message.role))


def trimmed(message: Message) -> Message:
    """The message without white space at the ends of its whole text; its parts keep their places."""
    whole = message.text
    begin, end = len(whole) - len(whole.lstrip()), len(whole.rstrip())
    if begin == 0 and end == len(whole):
        return message
    at, parts = 0, list(message.parts)
    for k, part in enumerate(parts):
        if isinstance(part, TextPart):
            parts[k] = TextPart(part.text[max(begin - at, 0) : max(end - at, 0)], part.channel)
            at += len(part.text)
    return Message(message.role, tuple(parts), message.name, message.call_id)


def _either(words: Iterable[str]) -> str:
    return " or ".join(words)
