"""What becomes of the characters that steps read: each label publishes them as one kind of event."""

from __future__ import annotations

from collections.abc import Callable
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from ..events import ContentDelta, Event, Malformed, Markup, ProblemKind, ReasoningDelta, TagDelta
from .frames import ValueFrame

if TYPE_CHECKING:
    from .machine import Fast, Machine

__all__ = ["ArgumentsLabel", "Label", "Silent", "TextLabel", "ValueLabel", "content", "malformed", "markup", "reasoning", "tagged"]


class Label:
    """Publishes what steps read."""

    __slots__ = ()

    def emit(self, machine: Machine, text: str, start: int, end: int) -> bool:
        """Publish `text`, the input's ``[start, end)``; false if it can't be what it should be."""
        raise NotImplementedError

    def fast_text(self, marks: str, tails: str) -> Fast | None:
        """A function that publishes a whole chunk at once if none of these characters shows that it must be
        looked at (see `steps.marks_and_tails`), for machines that hold nothing."""
        return None

    def overrun(self, machine: Machine, delimiter: str, position: int) -> None:
        """A delimiter was passed over because nothing legal follows it."""


class TextLabel(Label):
    """Text that becomes one event as it is."""

    __slots__ = ("make",)

    def __init__(self, make: Callable[[str, int, int], Event]) -> None:
        self.make = make

    def emit(self, machine: Machine, text: str, start: int, end: int) -> bool:
        machine.out.append(self.make(text, start, end))
        return True

    def fast_text(self, marks: str, tails: str) -> Fast | None:
        if not 1 <= len(marks) <= 3 or len(tails) > 1:
            return None
        make, tail = self.make, tails or "\0\0"  # two characters never equal one
        first, second, third = (marks * 3)[:3]

        def one(machine: Machine, chunk: str) -> list[Event] | None:
            if first in chunk or not chunk or chunk[-1] == tail:
                return None
            start = machine.base
            machine.base = end = start + len(chunk)
            return [make(chunk, start, end)]

        def several(machine: Machine, chunk: str) -> list[Event] | None:
            if first in chunk or second in chunk or third in chunk or not chunk or chunk[-1] == tail:
                return None
            start = machine.base
            machine.base = end = start + len(chunk)
            return [make(chunk, start, end)]

        return one if len(marks) == 1 else several


reasoning = TextLabel(ReasoningDelta)
markup = TextLabel(Markup)
malformed = TextLabel(Malformed)
_plain = TextLabel(ContentDelta)


def content(channel: str | None) -> Label:
    """Visible text."""
    if channel is None:
        return _plain
    return TextLabel(lambda text, start, end: ContentDelta(text, start, end, channel))


def tagged(tag: str) -> Label:
    """Text under a user's own name."""
    return TextLabel(lambda text, start, end: TagDelta(tag, text, start, end))


class Silent(Label):
    """Captured text, which is published as a whole when its end is reached."""

    __slots__ = ()

    def emit(self, machine: Machine, text: str, start: int, end: int) -> bool:
        return True


class ArgumentsLabel(Label):
    """A call's arguments, as they are written."""

    __slots__ = ()

    def emit(self, machine: Machine, text: str, start: int, end: int) -> bool:
        assert machine.call is not None
        return machine.call.publish(machine, text, start, end)

    def fast_text(self, marks: str, tails: str) -> Fast | None:
        return _fast_argument(marks, tails, lambda text: text, lambda machine: True)


class ValueLabel(Label):
    """An argument written as raw text: transcoded to JSON."""

    __slots__ = ()

    def emit(self, machine: Machine, text: str, start: int, end: int) -> bool:
        frame = machine.stack[-1]
        assert isinstance(frame, ValueFrame) and machine.call is not None
        piece = frame.sink.feed(text)
        return piece is not None and machine.call.publish(machine, piece, start, end)

    def fast_text(self, marks: str, tails: str) -> Fast | None:
        return _fast_argument(marks, tails, lambda text: encode_basestring(text)[1:-1], _in_string)

    def overrun(self, machine: Machine, delimiter: str, position: int) -> None:
        assert machine.call is not None
        detail = "the value goes on, since nothing that may follow its end does"
        machine.call.note(ProblemKind.AMBIGUOUS_CLOSE, delimiter, detail, position)


def _in_string(machine: Machine) -> bool:
    frame = machine.stack[-1]
    return isinstance(frame, ValueFrame) and frame.sink.is_string


def _fast_argument(
    marks: str, tails: str, encode: Callable[[str], str], ready: Callable[[Machine], bool]
) -> Fast | None:
    if len(marks) != 1 or len(tails) > 1:
        return None
    tail = tails or "\0\0"

    def fast(machine: Machine, chunk: str) -> list[Event] | None:
        call = machine.call
        if marks in chunk or not chunk or chunk[-1] == tail or call is None or not call.begun or not ready(machine):
            return None
        start = machine.base
        machine.base = machine.kept_to = end = start + len(chunk)
        machine.kept.append(chunk)
        return [call.delta(encode(chunk), start, end)]

    return fast
