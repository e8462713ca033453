"""What a parser says about the text it reads: a flat, ordered list of small frozen values.

Every character of the input belongs to exactly one event's span ``[start, end)``, counted in characters
from the start of the parser's input; events that stand for no character of their own have ``start == end``.
Deltas may be cut anywhere: `merge` joins neighbours, and after merging the list no longer depends on how the
input was chunked. Events are made by `dragoman.parse.Parser`; to turn them into a message see
`dragoman.parse.assemble`.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct, structs

__all__ = [
    "ArgumentsDelta",
    "CallBegin",
    "CallEnd",
    "CallStatus",
    "ContentDelta",
    "Event",
    "Malformed",
    "Markup",
    "Problem",
    "ProblemKind",
    "ReasoningDelta",
    "Stop",
    "TagDelta",
    "TagEnd",
    "kind_of",
    "merge",
]


class CallStatus(StrEnum):
    """How a call ended; only a complete call may be dispatched."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    """The input ended inside the call."""
    MALFORMED = "malformed"
    """The model wrote something that its dialect does not allow."""


class ProblemKind(StrEnum):
    """What is wrong with a piece of model output, or what a careful reader should know about it."""

    # About the stream; each is an event of its own.
    ORPHAN_MARKER = "orphan_marker"
    """A closing marker with nothing open: removed from view."""
    MALFORMED = "malformed"
    """A region that broke its dialect's grammar; ``raw`` is the whole region."""
    INCOMPLETE = "incomplete"
    """A region that the end of the input cut off; ``raw`` is what there was of it."""
    IMPLICIT_CLOSE = "implicit_close"
    """A complete call or region whose closing marker is missing."""
    UNCLOSED_REASONING = "unclosed_reasoning"
    """The input ended inside reasoning."""
    UNKNOWN_CHANNEL = "unknown_channel"
    """A message on a channel that the dialect does not define: read as content."""
    MALFORMED_HEADER = "malformed_header"
    """A message header that can't be read: its text is kept as content."""
    TEXT_AFTER_STOP = "text_after_stop"
    """Input that follows a stop marker."""
    TRAILING_INPUT = "trailing_input"
    """Input that follows the end of a (user's) grammar."""
    INVALID_UTF8 = "invalid_utf8"
    """Bytes that are not UTF-8, read as U+FFFD; ``raw`` shows them in hexadecimal."""

    # About one call; these come in `CallEnd.problems`.
    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_ARGUMENT = "unknown_argument"
    MISSING_ARGUMENT = "missing_argument"
    REPEATED_ARGUMENT = "repeated_argument"
    WRONG_TYPE = "wrong_type"
    ARGUMENTS_AS_STRING = "arguments_as_string"
    """The arguments were a JSON string that holds JSON: decoded once."""
    RAW_ARGUMENTS = "raw_arguments"
    """The arguments are not JSON but text, handed over as written (Harmony's ``code``)."""
    AMBIGUOUS_CLOSE = "ambiguous_close"
    """A value holds its own closing marker: it ended at the one that a legal continuation follows."""


class ReasoningDelta(Struct, frozen=True, gc=False, tag="reasoning_delta"):
    """A piece of the model's thoughts."""

    text: str
    start: int
    end: int


class ContentDelta(Struct, frozen=True, gc=False, tag="content_delta"):
    """A piece of the visible answer; ``channel`` names a channel other than the answer's own."""

    text: str
    start: int
    end: int
    channel: str | None = None


class Markup(Struct, frozen=True, gc=False, tag="markup"):
    """Characters that belong to the dialect, not to the message: markers and the layout around them."""

    text: str
    start: int
    end: int


class Malformed(Struct, frozen=True, gc=False, tag="malformed"):
    """Characters of a region that could not be read; the `Problem` that follows tells why."""

    text: str
    start: int
    end: int


class CallBegin(Struct, frozen=True, gc=False, tag="call_begin"):
    """A call begins: its name is complete; ``id`` is the model's own, ``None`` where it writes none."""

    index: int
    name: str
    id: str | None
    start: int
    end: int


class ArgumentsDelta(Struct, frozen=True, gc=False, tag="arguments_delta"):
    """A piece of a call's arguments as JSON text: byte-exact where the model wrote JSON, else transcoded."""

    index: int
    json: str
    start: int
    end: int


class Problem(Struct, frozen=True, tag="problem"):
    """Something a reader of logs must know, with the characters it is about.

    Its span is its place in the stream; ``raw`` are the characters concerned, which other events may have
    carried before.
    """

    kind: ProblemKind
    raw: str
    detail: str
    start: int
    end: int


class CallEnd(Struct, frozen=True, tag="call_end"):
    """A call ends; closers are never invented, so arguments of an incomplete call stay an open prefix.

    ``id`` is the model's own if it came after the call's beginning, else the one of `CallBegin`.
    """

    index: int
    status: CallStatus
    problems: tuple[Problem, ...]
    id: str | None
    start: int
    end: int


class Stop(Struct, frozen=True, gc=False, tag="stop"):
    """The output ended: by the dialect's own ``marker``, or as the engine said; unknown is ``None``."""

    reason: str | None
    marker: str | None
    start: int
    end: int


class TagDelta(Struct, frozen=True, gc=False, tag="tag_delta"):
    """A piece of what a `dragoman.grammar.tag` of a user's own grammar matched."""

    tag: str
    text: str
    start: int
    end: int


class TagEnd(Struct, frozen=True, gc=False, tag="tag_end"):
    """The end of what a tag matched."""

    tag: str
    start: int
    end: int


Event: TypeAlias = (
    ReasoningDelta
    | ContentDelta
    | Markup
    | Malformed
    | CallBegin
    | ArgumentsDelta
    | CallEnd
    | Problem
    | Stop
    | TagDelta
    | TagEnd
)


_KINDS: dict[type, str] = {
    ReasoningDelta: "reasoning",
    ContentDelta: "content",
    Markup: "markup",
    Malformed: "malformed",
    CallBegin: "name",
    ArgumentsDelta: "arguments",
    CallEnd: "call",
    Problem: "problem",
    Stop: "stop",
    TagDelta: "tag",
    TagEnd: "tag",
}


def kind_of(event: Event) -> str:
    """What an event makes of its characters, in one word."""
    return _KINDS[type(event)]


def merge(events: Iterable[Event]) -> list[Event]:
    """Join neighbouring deltas of one kind, so that the list no longer shows how the input was chunked.

    O(n) in the events and their text.
    """
    merged: list[Event] = []
    pieces: list[str] = []
    last: Event | None = None
    for event in events:
        if last is not None and _continues(last, event):
            pieces.append(_text(event))
            last = structs.replace(last, end=event.end)
            continue
        if last is not None:
            merged.append(_with_text(last, pieces))
        last, pieces = event, [_text(event)]
    if last is not None:
        merged.append(_with_text(last, pieces))
    return merged


def _text(event: Event) -> str:
    match event:
        case ReasoningDelta() | ContentDelta() | Markup() | Malformed() | TagDelta():
            return event.text
        case ArgumentsDelta():
            return event.json
        case _:
            return ""


def _with_text(event: Event, pieces: list[str]) -> Event:
    if len(pieces) == 1:
        return event
    if isinstance(event, ArgumentsDelta):
        return structs.replace(event, json="".join(pieces))
    return structs.replace(event, text="".join(pieces))


def _continues(last: Event, event: Event) -> bool:
    if last.end != event.start:
        return False
    match last, event:
        case ContentDelta(), ContentDelta():
            return last.channel == event.channel
        case ArgumentsDelta(), ArgumentsDelta():
            return last.index == event.index
        case TagDelta(), TagDelta():
            return last.tag == event.tag
        case (ReasoningDelta(), ReasoningDelta()) | (Markup(), Markup()) | (Malformed(), Malformed()):
            return True
        case _:
            return False
