"""How a case says what is expected: a line for each part of the message.

think: Two cities.                          a thought
text: Let me look.                          visible text
text[commentary]: Let me look.              the same on a channel of that name
call: get_weather {"city": "Paris"}         a complete call and its arguments, to the character
call: f id=functions.f:0 {}                 the same with the id that the model wrote
call: "two words" {}                        a name with spaces, as a JSON string
unparsed: f <tool_call>{"name": ...         a call that broke behind its name, and all that was written of it
unparsed: - <tool_call>{"nam                the same without a name
unparsed: f                                 the same, where what was written need not be said
"""

from __future__ import annotations

import re
from json import dumps, loads

from ..types import Part, TextPart, ThinkingPart, ToolCall, UnparsedToolCall

__all__ = ["NOTATION", "read_part", "same", "write_part"]

NOTATION = "'think: …', 'text: …', 'text[channel]: …', 'call: name {…}', 'call: name id=… {…}' or 'unparsed: name …'"
"""What a line may look like, for who got it wrong."""

_NAME = r'(?P<name>"(?:[^"\\]|\\.)*"|[^\s"]\S*)'
_CALL = re.compile(rf"{_NAME}(?: id=(?P<id>\S+))? (?P<arguments>[\s\S]+)")
_UNPARSED = re.compile(rf"{_NAME}(?: (?P<raw>[\s\S]+))?")
_HEAD = re.compile(r"(?P<kind>think|text|call|unparsed)(?:\[(?P<channel>[^\]]+)\])?: (?P<rest>[\s\S]+)")


def read_part(line: str) -> Part | None:
    """The part that a line describes, or ``None`` if it is none; an unsaid `raw` is empty."""
    head = _HEAD.fullmatch(line)
    if head is None or (head["channel"] and head["kind"] != "text"):
        return None
    match head["kind"]:
        case "think":
            return ThinkingPart(head["rest"])
        case "text":
            return TextPart(head["rest"], head["channel"])
        case "call":
            call = _CALL.fullmatch(head["rest"])
            return call and ToolCall(_plain(call["name"]), call["arguments"], call["id"])
        case _:
            broken = _UNPARSED.fullmatch(head["rest"])
            return broken and UnparsedToolCall(broken["raw"] or "", "", _named(broken["name"]))


def write_part(part: Part) -> str:
    """The line that describes a part."""
    match part:
        case ThinkingPart(text=text):
            return f"think: {text}"
        case TextPart(text=text, channel=channel):
            return f"text[{channel}]: {text}" if channel else f"text: {text}"
        case ToolCall(name=name, arguments=arguments, id=native):
            return f"call: {_quoted(name)}{f' id={native}' if native is not None else ''} {arguments}"
        case UnparsedToolCall(raw=raw, name=name):
            return f"unparsed: {_quoted(name) if name is not None else '-'} {raw}"


def same(expected: Part, found: Part) -> bool:
    """Whether a part is the one that was expected; what is said of a broken call is the parser's own affair."""
    if isinstance(expected, UnparsedToolCall) and isinstance(found, UnparsedToolCall):
        return expected.name == found.name and expected.raw in ("", found.raw)
    return expected == found


def _plain(name: str) -> str:
    return str(loads(name)) if name.startswith('"') else name


def _named(name: str) -> str | None:
    return None if name == "-" else _plain(name)


def _quoted(name: str) -> str:
    return name if re.fullmatch(r'[^\s"]\S*', name) and name != "-" else dumps(name, ensure_ascii=False)
