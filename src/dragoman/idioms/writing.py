"""Writing messages: part by part, refusing whatever would not be read back."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from json import JSONDecoder, dumps

from ..errors import Inexpressible
from ..grammar.analyze import FIELD_LIMIT
from ..grammar.json import Scanner
from ..grammar.prose import in_code
from ..segments import NOBODY, Kind, Segment, text_of
from ..types import Message, Part, TextPart, ThinkingPart, ToolCall
from .calls import Calls
from .turns import MENTIONING, Answer, Think

__all__ = ["Speller", "members_of", "spell", "speller_of", "written_by"]

MARKUP, TEXT, THINKING, CALL = Kind.MARKUP, Kind.TEXT, Kind.THINKING, Kind.CALL


def speller_of(
    dialect: str,
    think: Think | None,
    calls: Calls | None,
    answer: Answer | None,
    marks: tuple[str, ...],
    prose: bool,
) -> Speller:
    """The function that writes messages of a conversation; `marks` (in `prose` or not) are what no text may hold."""

    def speller(message: Message, strict: bool) -> list[Segment]:
        if calls is not None and strict:
            _require_order(dialect, message, calls)
        if think is not None and think.openers[0] in think.words and strict:
            _require_first(dialect, message)
        return spell(
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
            strict=strict,
        )

    return speller


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


Speller = Callable[[Message, bool], list[Segment]]
"""Writes a message; told whether to refuse what would not be read back from the text alone."""


def spell(
    dialect: str,
    message: Message,
    *,
    marks: tuple[str, ...],
    calls: Callable[[Sequence[ToolCall], bool, bool], list[str]] | None = None,
    thinking: Callable[[str], str] | None = None,
    text: Callable[[str], str] = str,
    channels: Callable[[TextPart], str] | None = None,
    opener: str = "",
    names: str = r"[\s\S]+",
    prose: bool = False,
    enclosed: bool = False,
    strict: bool = True,
) -> list[Segment]:
    """Write a message part by part, neighbouring calls together.

    `calls` is told whether text stood before and whether anything comes after, and gives a text for each call. With
    `channels`, text may have one, and that writes it instead of `text`. In `prose`, code quotes markers; text may be
    `enclosed` by some. Raises `Inexpressible` for what there is no way to write, for calls that could not be parsed or
    whose name is none of `names` (a pattern) and arguments that are no JSON object. Where it is `strict`, also for what
    would not be read back from text: text that holds one of the `marks` or would quote one, or a thought within the
    turn that would look as if its `opener` were only mentioned.
    """
    out: list[Segment] = []
    parts = message.parts
    k = 0
    while k < len(parts):
        match parts[k]:
            case TextPart() as part:
                if channels is None and part.channel:
                    raise Inexpressible(dialect, k, "text has no channel")
                if strict:
                    _require_plain(dialect, k, part.text, marks)
                    if channels is None:
                        _require_alone(dialect, k, parts)
                    if prose and (enclosed or k + 1 < len(parts)) and in_code(part.text):
                        reason = "its Markdown code is open at its end and would quote what comes behind"
                        raise Inexpressible(dialect, k, reason)
                written = channels(TextPart(HERE, part.channel)) if channels is not None else text(HERE)
                out += _framed(written, part.text, TEXT, k)
            case ThinkingPart(text=thoughts) if thinking is not None:
                if strict:
                    _require_plain(dialect, k, thoughts, marks)
                    if k and opener and thoughts[0] in MENTIONING:
                        raise Inexpressible(dialect, k, f"behind {opener}, {thoughts[0]!r} would make it a mention")
                out += _framed(thinking(HERE), thoughts, THINKING, k)
            case ToolCall() if calls is not None:
                group = _calls_from(dialect, parts, k, names)
                after_text = k > 0 and isinstance(parts[k - 1], TextPart)
                try:
                    each = calls(group, after_text, k + len(group) < len(parts))
                except Inexpressible as error:
                    raise Inexpressible(dialect, k + error.part, error.reason) from None
                out += [Segment(one, CALL, NOBODY, k + n, True) for n, one in enumerate(each)]
                k += len(group) - 1
            case part:
                raise Inexpressible(dialect, k, f"there is no way to write a {type(part).__name__}")
        k += 1
    return out


def written_by(speller: Speller) -> Callable[[Message], str]:
    """The function that writes the text of messages, refusing what would not be read back from it."""
    return lambda message: text_of(speller(message, True))


HERE = "\0"
"""Stands for a text whose frame is asked for."""


def _framed(written: str, text: str, kind: Kind, part: int) -> list[Segment]:
    """A text in its frame, whose characters are markup of the same part."""
    before, _, behind = written.partition(HERE)
    framed = [Segment(text, kind, NOBODY, part)]
    if before:
        framed.insert(0, Segment(before, MARKUP, NOBODY, part, True))
    if behind:
        framed.append(Segment(behind, MARKUP, NOBODY, part, True))
    return framed


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


def _require_alone(dialect: str, k: int, parts: Sequence[Part]) -> None:
    """Refuse text that would become one with another, or layout."""
    part = parts[k]
    if k and isinstance(parts[k - 1], TextPart):
        raise Inexpressible(dialect, k, "two texts would become one")
    if k == 0 and len(parts) > 1 and isinstance(part, TextPart) and not part.text.strip(" \t\r\n"):
        raise Inexpressible(dialect, k, "blank text before the first block would be read as layout")


def _require_plain(dialect: str, part: int, text: str, marks: tuple[str, ...]) -> None:
    for mark in marks:
        if mark in text:
            raise Inexpressible(dialect, part, f"its text holds the marker {mark!r}")
        if mark[:1] == mark[-1:] and mark in (text[1 - len(mark) :] + mark)[:-1]:
            raise Inexpressible(dialect, part, f"behind its text, the marker {mark!r} would begin too early")
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
