"""What becomes of the characters that steps read: each label publishes them as one kind of event."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from ..events import ContentDelta, Event, Malformed, Markup, ProblemKind, ReasoningDelta, TagDelta
from .frames import NOWHERE, ValueFrame
from .json import SHORT
from .tries import LONG, Delimiters

if TYPE_CHECKING:
    from .machine import Machine

__all__ = [
    "TOO_LONG_TO_WAIT",
    "ArgumentsLabel",
    "Label",
    "Rest",
    "Silent",
    "TextLabel",
    "ValueLabel",
    "arguments",
    "content",
    "malformed",
    "markup",
    "reasoning",
    "rest_in_string",
    "silent",
    "tagged",
    "values",
]


Make = Callable[[str, int, int], Event]

TOO_LONG_TO_WAIT = "the arguments are too long to wait for the call's name"


CLEAN_LIMIT = 1 << 14
"""Chunks known to be clean that are kept for one kind of text: more than a model's everyday vocabulary."""

_clean: dict[tuple[str, bool, frozenset[str]], set[str]] = {}


class Rest:
    """How to publish chunks while a machine rests inside one long text.

    A clean chunk, with none of the `marks` in it (and, unless it is `free`, nothing that is not printable), or one in
    which they are seen to mean nothing, becomes an event by `make`. Others are `read`, where there is a delimiter to
    look for: what comes before it, or before the beginning of one, becomes an event by `turn`. The characters of a
    call that is open are kept.

    Chunks are tokens, and tokens come again: those found `clean` are remembered, for all machines.
    """

    __slots__ = ("clean", "first", "free", "make", "second", "third", "turn", "until")

    def __init__(self, marks: str, make: Make, turn: Make, until: Delimiters | None, *, free: bool = False) -> None:
        # The empty string is in every chunk: with more than three marks, or none, no chunk is clean.
        shown = list(marks * 3)[:3] if 1 <= len(marks) <= 3 else ["", "", ""]
        self.first, self.second, self.third = shown
        self.make, self.turn, self.until, self.free = make, turn, until, free
        self.clean = _clean.setdefault((marks, free, until.all if until is not None else frozenset()), set())

    def is_clean(self, chunk: str) -> bool:
        """Whether the chunk becomes an event as it is, as far as its characters tell; remembered if so."""
        if self.first in chunk or self.second in chunk or self.third in chunk:
            return False
        if not chunk or not (self.free or chunk.isprintable()):
            return False
        self.remember(chunk)
        return True

    def remember(self, text: str) -> None:
        """This text is clean, whenever it comes."""
        if len(self.clean) < CLEAN_LIMIT and len(text) <= SHORT:
            self.clean.add(text)

    def read(self, machine: Machine, chunk: str) -> list[Event]:
        """The events of a chunk that is not known to be clean."""
        held = machine.text
        if not held and self.is_clean(chunk):
            return self.publish(machine, chunk, len(chunk), self.make)
        text = held + chunk if held else chunk
        if text in self.clean:
            return self.publish(machine, text, len(text), self.make)
        return self.search(machine, text)

    def search(self, machine: Machine, text: str) -> list[Event]:
        """Publish the text up to a delimiter, and go on behind it."""
        assert self.until is not None
        found = self.until.search(text) if len(text) < LONG else self.until.find(text, 0)
        if found is None:
            if text and self.turn is self.make:
                self.remember(text)
            return self.publish(machine, text, len(text), self.turn)
        if found.group() not in self.until.all:  # only the beginning of one, which waits for the rest
            stop = found.start()
            if stop:
                return self.publish(machine, text, stop, self.turn)
            machine.text = text
            return []
        machine.text = text
        return machine.resume()

    def publish(self, machine: Machine, text: str, stop: int, make: Make) -> list[Event]:
        """Publish the text up to an index; the machine holds what is behind it."""
        if stop == len(text):
            machine.text = ""
        else:
            machine.text, text = text[stop:], text[:stop]
        if not text:
            return []
        start = machine.base
        machine.base = end = start + stop
        if machine.kept_to > NOWHERE:
            machine.kept.append(text)
            machine.kept_to = end
        return [make(text, start, end)]


def rest_in_string(make: Make, until: Delimiters) -> Rest:
    """How to publish chunks of raw text, up to a delimiter, as part of a JSON string."""

    def quoted(text: str, start: int, end: int) -> Event:
        return make(encode_basestring(text)[1:-1], start, end)

    marks = "".join(sorted({*until.firsts, '"', "\\"} - {"\n"}))  # a newline is not printable
    return Rest(marks, make, quoted, until)


class Label:
    """Publishes what steps read."""

    __slots__ = ()

    def emit(self, machine: Machine, text: str, start: int, end: int) -> bool:
        """Publish `text`, the input's ``[start, end)``; false, with the cursor put there, where it can't go on."""
        raise NotImplementedError

    def rest(self, machine: Machine | None, until: Delimiters) -> Rest | None:
        """How to publish chunks up to a delimiter; without a machine, only what holds for all machines."""
        return None

    def overrun(self, machine: Machine, delimiter: str, position: int) -> None:
        """A delimiter was passed over because nothing legal follows it."""


class TextLabel(Label):
    """Text that becomes one event as it is."""

    __slots__ = ("make",)

    def __init__(self, make: Make) -> None:
        self.make = make

    def emit(self, machine: Machine, text: str, start: int, end: int) -> bool:
        machine.out.append(self.make(text, start, end))
        return True

    def rest(self, machine: Machine | None, until: Delimiters) -> Rest:
        return Rest(until.firsts, self.make, self.make, until, free=True)


reasoning = TextLabel(ReasoningDelta)
markup = TextLabel(Markup)
malformed = TextLabel(Malformed)
_plain = TextLabel(ContentDelta)


@cache
def content(channel: str | None) -> Label:
    """Visible text."""
    if channel is None:
        return _plain
    return TextLabel(lambda text, start, end: ContentDelta(text, start, end, channel))


@cache
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
        call = machine.call
        assert call is not None
        if len(text) <= call.room:
            call.publish(machine, text, start, end)
            return True
        end = start + call.room
        call.publish(machine, text[: call.room], start, end)
        machine.at = end - machine.base
        machine.detail = TOO_LONG_TO_WAIT
        return False

    def rest(self, machine: Machine | None, until: Delimiters) -> Rest | None:
        call = machine.call if machine is not None else None
        if call is None or not call.begun:
            return None
        return Rest(until.firsts, call.make, call.make, until, free=True)


class ValueLabel(Label):
    """An argument written as raw text: transcoded to JSON."""

    __slots__ = ()

    def emit(self, machine: Machine, text: str, start: int, end: int) -> bool:
        frame = machine.stack[-1]
        assert isinstance(frame, ValueFrame) and machine.call is not None
        json = frame.sink.feed(text)
        broken = frame.sink.broken
        if broken < 0:
            machine.call.publish(machine, json, start, end)
            return True
        machine.call.publish(machine, json, start, start + broken)
        machine.at = start + broken - machine.base
        machine.detail = f"the value of {machine.fields.get('key')!r} is not the JSON that its schema asks for"
        return False

    def rest(self, machine: Machine | None, until: Delimiters) -> Rest | None:
        if machine is None:
            return None
        frame, call = machine.stack[-1], machine.call
        assert isinstance(frame, ValueFrame) and call is not None
        if not (call.begun and frame.sink.is_string):
            return None
        return rest_in_string(call.make, until)

    def overrun(self, machine: Machine, delimiter: str, position: int) -> None:
        assert machine.call is not None
        detail = "the value goes on, since nothing that may follow its end does"
        machine.call.note(ProblemKind.AMBIGUOUS_CLOSE, delimiter, detail, position)


silent = Silent()
arguments = ArgumentsLabel()
values = ValueLabel()
