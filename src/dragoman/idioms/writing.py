"""Writing messages: part by part, refusing whatever would not be read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from json import JSONDecoder, dumps

from ..errors import Inexpressible
from ..grammar.analyze import FIELD_LIMIT
from ..grammar.json import Scanner
from ..grammar.prose import in_code
from ..types import Message, Part, TextPart, ThinkingPart, ToolCall
from .calls import Calls
from .turns import MENTIONING, Answer, Think

__all__ = ["members_of", "write", "writer_of"]


def writer_of(
    dialect: str,
    think: Think | None,
    calls: Calls | None,
    answer: Answer | None,
    marks: tuple[str, ...],
    prose: bool,
) -> Callable[[Message], str]:
    """The function that writes messages of a conversation; `marks` (in `prose` or not) are what no text may hold."""

    def writer(message: Message) -> str:
        if calls is not None:
            _require_order(dialect, message, calls)
        if think is not None and think.openers[0] in think.words:
            _require_first(dialect, message)
        return write(
            dialect,
            message,
            marks=marks,
            calls=calls.write if calls is not None else None,
            thinking=think.write if think is not None else None,
            text=answer.write if answer is not None else str,
            opener=think.openers[0] if think is not None and not think.lead else "",
            names=calls.names if calls is not None else "",
            prose=prose,
            enclosed=answer is not None,
        )

    return writer


def _require_first(dialect: str, message: Message) -> None:
    """Refuse thoughts that don't begin the turn."""
    for k, part in enumerate(message.parts):
        if k and isinstance(part, ThinkingPart):
            raise Inexpressible(dialect, k, "a thought can only begin the turn")


def _require_order(dialect: str, message: Message, calls: Calls) -> None:
    """Refuse what can't stand behind a call, or like one."""
    ended = False
    group = 0
    for k, part in enumerate(message.parts):
        group = group + 1 if isinstance(part, ToolCall) else 0
        if calls.like and isinstance(part, TextPart) and re.search(calls.like, part.text):
            raise Inexpressible(dialect, k, "its text has a line that begins as a call does")
        if calls.final and ended and not group:
            raise Inexpressible(dialect, k, "nothing can stand behind a call")
        if calls.most is not None and group > calls.most:
            raise Inexpressible(dialect, k, f"there can be no more than {calls.most} in a row")
        ended = ended or bool(group)


def write(
    dialect: str,
    message: Message,
    *,
    marks: tuple[str, ...],
    calls: Callable[[Sequence[ToolCall], bool, bool], str] | None = None,
    thinking: Callable[[str], str] | None = None,
    text: Callable[[str], str] = str,
    channels: Callable[[TextPart], str] | None = None,
    opener: str = "",
    names: str = r"[\s\S]+",
    prose: bool = False,
    enclosed: bool = False,
) -> str:
    """Write a message part by part, neighbouring calls together.

    `calls` is told whether text stood before and whether anything comes after. With `channels`, text may have one, and
    that writes it instead of `text`. In `prose`, code quotes markers; text may be `enclosed` by some. Raises
    `Inexpressible` for text that holds one of the `marks` or would quote one, arguments that are no JSON object, calls
    that could not be parsed or whose name is none of `names` (a pattern), what there is no way to write, and a thought
    within the turn that would look as if its `opener` were only mentioned.
    """
    out: list[str] = []
    parts = message.parts
    k = 0
    while k < len(parts):
        match parts[k]:
            case TextPart() as part:
                _require_plain(dialect, k, part.text, marks)
                if channels is None and (part.channel or (isinstance(parts[k - 1 if k else 0], TextPart) and k)):
                    raise Inexpressible(dialect, k, "text has no channel, and two texts would become one")
                if channels is None and k == 0 and len(parts) > 1 and not part.text.strip(" \t\r\n"):
                    raise Inexpressible(dialect, k, "blank text before the first block would be read as layout")
                if prose and (enclosed or k + 1 < len(parts)) and in_code(part.text):
                    reason = "its Markdown code is open at its end and would quote what comes behind"
                    raise Inexpressible(dialect, k, reason)
                out.append(channels(part) if channels is not None else text(part.text))
            case ThinkingPart(text=thoughts) if thinking is not None:
                _require_plain(dialect, k, thoughts, marks)
                if k and opener and thoughts[0] in MENTIONING:
                    raise Inexpressible(dialect, k, f"behind {opener}, {thoughts[0]!r} would make it a mention")
                out.append(thinking(thoughts))
            case ToolCall() if calls is not None:
                group = _calls_from(dialect, parts, k, names)
                after_text = k > 0 and isinstance(parts[k - 1], TextPart)
                try:
                    out.append(calls(group, after_text, k + len(group) < len(parts)))
                except Inexpressible as error:
                    raise Inexpressible(dialect, k + error.part, error.reason) from None
                k += len(group) - 1
            case part:
                raise Inexpressible(dialect, k, f"there is no way to write a {type(part).__name__}")
        k += 1
    return "".join(out)


def _calls_from(dialect: str, parts: Sequence[Part], k: int, names: str) -> list[ToolCall]:
    group: list[ToolCall] = []
    for part in parts[k:]:
        if not isinstance(part, ToolCall):
            break
        if not re.fullmatch(names, part.name) or len(dumps(part.name)) > FIELD_LIMIT:
            raise Inexpressible(dialect, k + len(group), f"no call can have the name {part.name!r}")
        _require_object(dialect, k + len(group), part.arguments)
        group.append(part)
    return group


def _require_plain(dialect: str, part: int, text: str, marks: tuple[str, ...]) -> None:
    for mark in marks:
        if mark in text:
            raise Inexpressible(dialect, part, f"its text holds the marker {mark!r}")
    if not text:
        raise Inexpressible(dialect, part, "its text is empty")


def _require_object(dialect: str, part: int, arguments: str) -> None:
    scanner = Scanner()
    if arguments[:1] != "{" or scanner.scan(arguments, 0) != len(arguments) or not scanner.done:
        reason = scanner.error or "not one object, without anything around it"
        raise Inexpressible(dialect, part, f"its arguments are no JSON object that can be read back: {reason}")


_decode = JSONDecoder().raw_decode
_layout = re.compile(r"[ \t\r\n,]*+").match


def members_of(arguments: str) -> list[tuple[str, str]]:
    """The members of a JSON object: each key decoded, each value as the JSON text that it is."""
    found: list[tuple[str, str]] = []
    at = _past(arguments, arguments.index("{") + 1)
    while arguments[at] != "}":
        key, at = _decode(arguments, at)
        at = _past(arguments, arguments.index(":", at) + 1)
        _, end = _decode(arguments, at)
        found.append((str(key), arguments[at:end]))
        at = _past(arguments, end)
    return found


def _past(text: str, at: int) -> int:
    """The index of what comes after layout and commas."""
    layout = _layout(text, at)
    return layout.end() if layout is not None else at
