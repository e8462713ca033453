"""Our messages as the dicts that chat templates expect, and such dicts as our messages.

The dicts are those of the OpenAI chat API as Hugging Face's templates read them: ``content``, ``reasoning_content``,
``tool_calls`` with a ``function`` each, and ``name`` and ``tool_call_id`` of a tool's answer. Everything of the caller
that goes into a dict passes through a `Mark` together with its owner, so that whoever renders may label it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, cast

import msgspec
from msgspec import Struct

from ..errors import InvalidConversation
from ..segments import NOBODY, Kind
from ..types import JSON, Message, Part, TextPart, ThinkingPart, Tool, ToolCall, UnparsedToolCall
from .values import tojson

__all__ = ["ASSISTANT", "THINKING_KEYS", "Mark", "Owner", "dict_messages", "dict_tools", "plain", "read_messages"]

THINKING_KEYS = ("reasoning_content", "thinking", "reasoning")
"""What thoughts are called in a message, the usual name first; transformers fills the first two from any of them."""

ASSISTANT = frozenset({"assistant", "model"})
"""The roles in which the model itself speaks."""

ROLE = re.compile(r"[A-Za-z0-9_.-]+")
"""What a role may be: a template writes it into its markers, so it must not spell one."""


class Owner(Struct, frozen=True):
    """Whose a piece of text is; for a tool's declaration, ``part`` is its index."""

    kind: Kind
    message: int = NOBODY
    part: int = NOBODY


Mark: TypeAlias = Callable[[JSON, Owner], JSON]
"""Makes of a value a copy of the same type that is equal to it, and that may know its owner."""


def plain(value: JSON, owner: Owner) -> JSON:
    """A copy that knows nothing; raises `InvalidConversation` for what is not JSON."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {str(key): plain(item, owner) for key, item in value.items()}
        case list() | tuple():
            return [plain(item, owner) for item in value]
    raise InvalidConversation(owner.message, "JSON values only", f"a {type(value).__name__}")


def dict_messages(
    messages: Sequence[Message | Mapping[str, JSON]],
    mark: Mark = plain,
    *,
    thinking_keys: Sequence[str] = THINKING_KEYS[:2],
    arguments_as_text: bool = False,
) -> list[dict[str, JSON]]:
    """What a template is given for messages of ours, and for dicts, which stay as they are but for their thoughts.

    The arguments of our calls become objects, or stay JSON text with `arguments_as_text` and where they are no object.
    Raises `InvalidConversation` for a role that could spell a marker, and for what is not JSON.
    """
    written = []
    for index, message in enumerate(messages):
        if isinstance(message, Message):
            made = _written(message, index, mark, arguments_as_text)
        else:
            made = _adopted(message, index, mark)
        role = made.get("role")
        if not (isinstance(role, str) and ROLE.fullmatch(role)):
            raise InvalidConversation(index, "a role of letters, digits, '_', '-' and '.'", repr(role))
        thoughts = next((made[key] for key in THINKING_KEYS if made.get(key) is not None), None)
        if thoughts is not None:
            for key in thinking_keys:
                if key == THINKING_KEYS[0] or key not in made:
                    made[key] = thoughts
        written.append(made)
    return written


def dict_tools(tools: Sequence[Tool | Mapping[str, JSON]], mark: Mark = plain) -> list[dict[str, JSON]]:
    """The declarations as templates expect them; dicts stay as they are."""
    written = []
    for index, tool in enumerate(tools):
        if isinstance(tool, Tool):
            parameters = tool.parameters or {"type": "object", "properties": {}}
            inner: JSON = {"name": tool.name, "description": tool.description, "parameters": parameters}
            tool = {"type": "function", "function": inner}
        written.append(cast("dict[str, JSON]", mark(tool, Owner(Kind.TOOLS, part=index))))
    return written


def _written(message: Message, index: int, mark: Mark, arguments_as_text: bool) -> dict[str, JSON]:
    kind = Kind.RESULT if message.role == "tool" else Kind.TEXT
    content, thoughts = "", ""
    calls: list[JSON] = []
    for number, part in enumerate(message.parts):
        match part:
            case TextPart(text=text):
                content += cast(str, mark(text, Owner(kind, index, number)))
            case ThinkingPart(text=text):
                thoughts += cast(str, mark(text, Owner(Kind.THINKING, index, number)))
            case UnparsedToolCall(raw=raw):
                content += cast(str, mark(raw, Owner(Kind.CALL, index, number)))
            case ToolCall(name=name, arguments=arguments, id=call_id):
                given = arguments if arguments_as_text else _decoded(arguments)
                call: dict[str, JSON] = {"type": "function"} if call_id is None else {"type": "function", "id": call_id}
                call["function"] = {"name": name, "arguments": given}
                calls.append(mark(call, Owner(Kind.CALL, index, number)))
    made: dict[str, JSON] = {"role": message.role, "content": content}
    if thoughts:
        made[THINKING_KEYS[0]] = thoughts
    if calls:
        made["tool_calls"] = calls
    for key, value in (("name", message.name), ("tool_call_id", message.call_id)):
        if value is not None:
            made[key] = mark(value, Owner(kind, index))
    return made


def _decoded(arguments: str) -> JSON:
    """An object, or the text itself where it is none: a model may have written anything."""
    try:
        value: JSON = msgspec.json.decode(arguments or "{}")
    except (msgspec.DecodeError, RecursionError):
        return arguments
    return value if isinstance(value, Mapping) else arguments


def _adopted(message: Mapping[str, JSON], index: int, mark: Mark) -> dict[str, JSON]:
    """A copy of a dict, its fields marked with the parts that `read_messages` would make of them."""
    if not isinstance(message, Mapping):
        raise InvalidConversation(index, "a Message or a dict", f"a {type(message).__name__}")
    kind = Kind.RESULT if message.get("role") in {"tool", "ipython", "function"} else Kind.TEXT
    part = 0
    made: dict[str, JSON] = {}
    thoughts = next((message[key] for key in THINKING_KEYS if message.get(key) is not None), None)
    if thoughts is not None:
        thinking = mark(thoughts, Owner(Kind.THINKING, index, part))
        made |= {key: thinking for key in THINKING_KEYS if message.get(key) == thoughts}
        part += bool(thoughts)
    content = message.get("content")
    if isinstance(content, list | tuple):
        pieces = []
        for piece in content:
            pieces.append(mark(piece, Owner(kind, index, part)))
            part += isinstance(piece, Mapping) and bool(piece.get("text"))
        made["content"] = pieces
    elif "content" in message:
        made["content"] = mark(content, Owner(kind, index, part))
        part += bool(content)
    calls = message.get("tool_calls")
    if isinstance(calls, list | tuple):
        made["tool_calls"] = [mark(call, Owner(Kind.CALL, index, part + number)) for number, call in enumerate(calls)]
    made |= {key: mark(value, Owner(kind, index)) for key, value in message.items() if key not in {*made, "role"}}
    made["role"] = message.get("role")
    return {key: made[key] for key in message}


def read_messages(messages: Iterable[Message | Mapping[str, JSON]]) -> tuple[Message, ...]:
    """Our messages of an OpenAI-shaped conversation: thoughts first, then text, then calls. A `Message` stays.

    Raises `InvalidConversation`, with the message and the part of its content, for what a `Message` can't hold.
    """
    return tuple(
        message if isinstance(message, Message) else _read(message, index) for index, message in enumerate(messages)
    )


def _read(message: Mapping[str, JSON], index: int) -> Message:
    if not isinstance(message, Mapping):
        raise InvalidConversation(index, "an object", f"a {type(message).__name__}")
    role = message.get("role")
    if not (isinstance(role, str) and role):
        raise InvalidConversation(index, "a role", repr(role))
    parts: list[Part] = []
    thoughts = next((message[key] for key in THINKING_KEYS if message.get(key) is not None), "")
    if not isinstance(thoughts, str):
        raise InvalidConversation(index, "thoughts that are a string", f"a {type(thoughts).__name__}")
    if thoughts:
        parts.append(ThinkingPart(thoughts))
    parts += [TextPart(text) for text in _texts(message.get("content"), index) if text]
    calls = message.get("tool_calls") or ()
    if not isinstance(calls, list | tuple):
        raise InvalidConversation(index, "tool_calls that are a list", f"a {type(calls).__name__}")
    parts += [_call(call, index, len(parts) + number) for number, call in enumerate(calls)]
    name, call_id = message.get("name"), message.get("tool_call_id")
    if not (isinstance(name, str | None) and isinstance(call_id, str | None)):
        raise InvalidConversation(index, "a name and a tool_call_id that are strings", f"{name!r} and {call_id!r}")
    return Message(role, tuple(parts), name, call_id)


def _texts(content: JSON, index: int) -> Iterator[str]:
    match content:
        case None:
            return
        case str():
            yield content
        case list() | tuple():
            for number, part in enumerate(content):
                match part:
                    case str(text) | {"type": "text", "text": str(text)}:
                        yield text
                    case {"type": str() as other}:
                        raise InvalidConversation(index, "parts of text only", f"one of type {other!r}", number)
                    case _:
                        raise InvalidConversation(index, "a part with a type", repr(part)[:60], number)
        case _:
            raise InvalidConversation(index, "content that is a string or a list", f"a {type(content).__name__}")


def _call(call: JSON, index: int, part: int) -> ToolCall:
    inner = call.get("function", call) if isinstance(call, Mapping) else call
    if not (isinstance(call, Mapping) and isinstance(inner, Mapping)):
        raise InvalidConversation(index, "a call that is an object", repr(call)[:60], part)
    name, arguments, call_id = inner.get("name"), inner.get("arguments"), call.get("id")
    if not (isinstance(name, str) and name):
        raise InvalidConversation(index, "a call's name", repr(name), part)
    if not isinstance(call_id, str | None):
        raise InvalidConversation(index, "a call's id that is a string", repr(call_id), part)
    match arguments:
        case str():
            return ToolCall(name, arguments, call_id)
        case None:
            return ToolCall(name, "{}", call_id)
        case Mapping():
            return ToolCall(name, tojson(arguments), call_id)
    raise InvalidConversation(index, "arguments that are an object or JSON text", repr(arguments)[:60], part)
