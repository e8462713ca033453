"""Input items of OpenAI's Responses API as our messages, and its tools as ours.

What the model itself wrote, item by item, becomes one message of the assistant again: reasoning its thoughts, text its
text, calls its calls. Text that calls follow, or whose phase is ``commentary``, is on that channel.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from msgspec.structs import replace

from ..errors import InvalidConversation, InvalidTool
from ..types import JSON, Message, Part, TextPart, ThinkingPart, Tool, ToolCall

__all__ = ["Items", "preambles", "read_items", "read_tools"]

Items = str | Sequence[Mapping[str, JSON] | Message]
"""A text of the user, or items; a `Message` among them stays."""

BUILTIN = {"web_search": "browser", "web_search_preview": "browser", "code_interpreter": "python"}
"""Hosted tools that gpt-oss knows by a name of its own."""


def read_items(items: Items) -> tuple[Message, ...]:
    """The messages of input items; raises `InvalidConversation`, with the item's index, for one that is no text."""
    if isinstance(items, str):
        return (Message("user", (TextPart(items),)),)
    out: list[Message] = []
    parts: list[Part] = []  # of the assistant's turn that is open
    for index, item in enumerate(items):
        said = None if isinstance(item, Message) else _said(item, index)
        if said is not None:
            parts += said
            continue
        if parts:
            out.append(Message("assistant", tuple(parts)))
            parts = []
        out.append(item if isinstance(item, Message) else _heard(item, index))
    return tuple(map(preambles, [*out, Message("assistant", tuple(parts))] if parts else out))


def preambles(message: Message) -> Message:
    """The message with its text before a call on ``commentary``, as the model writes what it says before it calls."""
    last = max((k for k, part in enumerate(message.parts) if isinstance(part, ToolCall)), default=-1)
    parts = tuple(
        TextPart(part.text, "commentary") if isinstance(part, TextPart) and part.channel is None and k < last else part
        for k, part in enumerate(message.parts)
    )
    return replace(message, parts=parts)


def read_tools(tools: Iterable[Tool | Mapping[str, JSON]] | None) -> tuple[tuple[Tool, ...], tuple[str, ...]]:
    """The functions among tools, of either API, and the built-in tools that hosted ones are; raises `InvalidTool`."""
    functions: list[Tool] = []
    builtin: list[str] = []
    for tool in tools or ():
        kind = "function" if isinstance(tool, Tool) else tool.get("type", "function")
        if isinstance(tool, Tool):
            functions.append(tool)
        elif kind == "function":
            functions.append(Tool.from_openai(tool))
        elif isinstance(kind, str) and kind in BUILTIN:
            builtin += [BUILTIN[kind]] if BUILTIN[kind] not in builtin else []
        else:
            raise InvalidTool("type", f"function, {', '.join(BUILTIN)}", kind)
    return tuple(functions), tuple(builtin)


def _said(item: Mapping[str, JSON], index: int) -> list[Part] | None:
    """What the model wrote, ``None`` for what others did."""
    match item.get("type", "message"):
        case "reasoning":
            shown = item.get("content") or item.get("summary")
            return [ThinkingPart(text) for text in _texts(shown, index)]
        case "message" if item.get("role") == "assistant":
            channel = "commentary" if item.get("phase") == "commentary" else None
            return [TextPart(text, channel) for text in _texts(item.get("content"), index)]
        case "function_call":
            name, arguments, call_id = item.get("name"), item.get("arguments"), item.get("call_id")
            if not (isinstance(name, str) and isinstance(arguments, str) and isinstance(call_id, str | None)):
                raise InvalidConversation(index, "a call's name, arguments and call_id as strings", repr(item)[:60])
            return [ToolCall(name, arguments, call_id)]
    return None


def _heard(item: Mapping[str, JSON], index: int) -> Message:
    """What somebody else said."""
    match item.get("type", "message"):
        case "message":
            role = item.get("role")
            if not isinstance(role, str):
                raise InvalidConversation(index, "a role", repr(role))
            return Message(role, tuple(map(TextPart, _texts(item.get("content"), index))))
        case "function_call_output":
            call_id = item.get("call_id")
            if not isinstance(call_id, str):
                raise InvalidConversation(index, "a call_id", repr(call_id))
            return Message("tool", tuple(map(TextPart, _texts(item.get("output"), index))), call_id=call_id)
        case kind:
            expected = "an item of type message, reasoning, function_call or function_call_output"
            raise InvalidConversation(index, expected, repr(kind))


def _texts(content: JSON, index: int) -> list[str]:
    """The texts of a content: a string, or parts that have a text each."""
    if content is None or isinstance(content, str):
        return [content] if content else []
    if not isinstance(content, list | tuple):
        raise InvalidConversation(index, "content that is a string or a list", f"a {type(content).__name__}")
    for number, part in enumerate(content):
        if not (isinstance(part, Mapping) and isinstance(part.get("text"), str)):
            raise InvalidConversation(index, "parts with a text", repr(part)[:60], number)
    return [text for part in content if (text := cast("Mapping[str, str]", part)["text"])]
