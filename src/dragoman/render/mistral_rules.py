"""What Mistral's formats ask of a conversation, and how messages are put together before they are written.

The rules are those of mistral-common (`protocol/instruct/validator.py` and `normalize.py`), for conversations that end
with anybody; who is stricter here is said in `families/mistral.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import cast

from msgspec import Struct

from ..errors import InvalidConversation
from ..types import JSON, Message, TextPart, ThinkingPart, ToolCall, UnparsedToolCall
from .page import Chat
from .plain import require_roles

__all__ = ["Form", "Turn", "json_value", "object_of", "require", "turns_of"]

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID = re.compile(r"[a-zA-Z0-9]{9}")

FOLLOWS = {
    "system": ("user", "assistant", "system"),
    "user": ("assistant", "system", "user"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool", "user"),
}
"""Who may speak after whom."""


class Form(Struct, frozen=True):
    """A version of the format, and `lead`, the space that SentencePiece puts before each piece of text."""

    version: int
    lead: str = ""


class Turn(Struct, frozen=True):
    """Messages of one role that are written as one; none where the format wants an empty one of the user."""

    role: str
    messages: tuple[int, ...]


def require(form: Form, chat: Chat) -> None:
    """Raise `InvalidConversation` for what the format does not take."""
    require_roles(chat, *FOLLOWS)
    if not chat.messages:
        raise InvalidConversation(-1, "at least one message", "none")
    if (len(chat.messages) == 1 and chat.role(0) not in ("user", "system")) or chat.role(0) == "tool":
        raise InvalidConversation(0, "a message of the user or the system first", f"one of {chat.role(0)}")
    first = next((k for k in range(len(chat.messages)) if chat.role(k) != "system"), None)
    if first is not None and chat.messages[first].tool_calls:
        raise InvalidConversation(first, "a message of the user before the first call", "a call")
    for k, (before, message) in enumerate(pairwise(chat.messages), 1):
        if message.role not in FOLLOWS[before.role]:
            expected = f"a message of {' or '.join(FOLLOWS[before.role])} behind one of {before.role}"
            raise InvalidConversation(k, expected, f"one of {message.role}")
    require_tools(form, chat)
    for k, message in enumerate(chat.messages):
        require_parts(form, k, message, last=k == len(chat.messages) - 1)
    require_answers(form, chat)


def require_tools(form: Form, chat: Chat) -> None:
    """Names that can be called, and a message that declares them."""
    for tool in chat.tools:
        require_name(-1, tool.tool.name)
    if chat.tools and form.version == 1:
        raise InvalidConversation(-1, "no tools, which this format has no way to declare", f"{len(chat.tools)}")
    if chat.tools and form.version >= 7 and chat.last("user") < 0:
        raise InvalidConversation(-1, "a message of the user, before which the tools stand", "none")


def require_name(index: int, name: str, part: int | None = None) -> None:
    """A name of a tool."""
    if not NAME.fullmatch(name):
        raise InvalidConversation(index, "a name of 1 to 64 letters, digits, '_' and '-'", repr(name), part)


def require_parts(form: Form, k: int, message: Message, *, last: bool) -> None:
    """Parts that the format has for this role."""
    for number, part in enumerate(message.parts):
        match part:
            case TextPart():
                pass
            case ThinkingPart() if form.version >= 11 and message.role == "assistant":
                pass
            case ToolCall() if form.version > 1 and message.role == "assistant":
                require_name(k, part.name, number)
                object_of(part, k, number)
                if not (part.id is None and last):
                    require_id(form, k, part.id, number)
            case ThinkingPart() | ToolCall() | UnparsedToolCall():
                raise InvalidConversation(k, f"what {message.role} can say here", type(part).__name__, number)
    if message.role == "assistant" and form.version < 7 and bool(message.text) == bool(message.tool_calls):
        raise InvalidConversation(k, "either text or calls", "both" if message.text else "neither")
    if message.role == "tool":
        if message.name is not None:
            require_name(k, message.name)
        require_id(form, k, message.call_id)


def require_id(form: Form, k: int, found: str | None, part: int | None = None) -> None:
    """An id of a call, where the format writes them."""
    if form.version in (3, 7, 11) and not (found is not None and ID.fullmatch(found)):
        raise InvalidConversation(k, "a call's id of nine letters and digits", repr(found), part)


def require_answers(form: Form, chat: Chat) -> None:
    """As many answers as calls before the assistant speaks again; from v11 on, to those very calls."""
    waiting: list[str | None] = []
    for k, message in enumerate(chat.messages):
        if message.role == "tool":
            if not waiting or (form.version >= 11 and message.call_id not in waiting):
                expected = f"the answer to one of the calls that wait for it: {waiting}"
                raise InvalidConversation(k, expected, f"one to {message.call_id!r}")
            waiting.remove(message.call_id if message.call_id in waiting else waiting[0])
        elif message.role == "assistant":
            if waiting:
                raise InvalidConversation(k, "answers to all calls first", f"{len(waiting)} missing")
            waiting = [call.id for call in message.tool_calls]
            if form.version >= 11 and len({each for each in waiting if each}) < sum(map(bool, waiting)):
                raise InvalidConversation(k, "a different id for each call", f"{waiting}")


def turns_of(form: Form, chat: Chat) -> list[Turn]:
    """The turns in which messages are written.

    Neighbours of the user's and the assistant's are one; before v7, those of the system are none, and the user begins;
    from v11 on, answers stand in the order of their calls.
    """
    turns: list[Turn] = []
    ids: Sequence[str | None] = ()
    for role, group in groupby(range(len(chat.messages)), chat.role):
        own = tuple(group)
        if role in ("user", "assistant"):
            turns.append(Turn(role, own))
            ids = [call.id for k in own for call in chat.messages[k].tool_calls]
        elif role == "tool" and form.version >= 11 and None not in ids:
            turns += [Turn(role, (k,)) for k in sorted(own, key=lambda k: ids.index(chat.messages[k].call_id))]
        elif role == "tool" or form.version >= 7:
            turns += [Turn(role, (k,)) for k in own]
    if form.version < 7 and (not turns or turns[0].role != "user"):
        turns.insert(0, Turn("user", ()))
    return turns


def object_of(call: ToolCall, k: int, part: int) -> str:
    """A call's arguments as mistral-common writes JSON; raises `InvalidConversation` if they are no object."""
    value = json_value(call.arguments)
    if not isinstance(value, dict):
        raise InvalidConversation(k, "arguments that are a JSON object", repr(call.arguments)[:60], part)
    return json.dumps(value, ensure_ascii=False)


def json_value(text: str) -> JSON:
    """What a text is as JSON, an empty object for an empty one, and the text itself where it is none."""
    try:
        return cast("JSON", json.loads(text or "{}"))
    except (ValueError, RecursionError):
        return text
