"""A tool call that an upstream has parsed itself and sends in deltas: name, id, arguments.

What is here is one call; in which order calls and text come out is the business of `dragoman.stream.normalize`.
Arguments are JSON text and pass as they are, checked on the way. A name may come in pieces, so it is known when
something else comes; a piece that repeats the whole name is a repetition.
"""

from __future__ import annotations

from msgspec import Struct

from ..events import ArgumentsDelta, CallBegin, CallEnd, CallStatus, Event, Malformed, Markup, Problem, ProblemKind
from ..grammar.json import Scanner
from ..grammar.schema import Toolbox

__all__ = ["DEFERRED_LIMIT", "CallPush", "NativeCall"]

DEFERRED_LIMIT = 1 << 20
"""Characters of arguments that may wait for the call's name to come."""

_SPACE = " \t\n\r"


class CallPush(Struct, frozen=True):
    """One delta of the call of an index; its characters, the name's and then the arguments', begin `at` a position."""

    index: int
    id: str | None
    name: str
    arguments: str
    at: int

    @property
    def size(self) -> int:
        """Characters that it keeps in memory."""
        return len(self.id or "") + len(self.name) + len(self.arguments)


class NativeCall:
    """Reads one call. `number` is its index among the calls of the output, once it has begun."""

    __slots__ = (
        "_at",
        "_broken",
        "_deferred",
        "_name_at",
        "_pieces",
        "_problems",
        "_scanner",
        "_trailing",
        "_waiting",
        "closed",
        "complete",
        "id",
        "is_empty",
        "name",
        "number",
    )

    def __init__(self) -> None:
        self.id: str | None = None
        self.name = ""
        self.number: int | None = None
        self.closed = self.complete = False
        self.is_empty = True  # there are no arguments yet
        self._name_at = 0
        self._at = 0  # behind its last character
        self._scanner = Scanner()
        self._broken = False  # the arguments are no JSON
        self._pieces: list[str] = []  # the arguments so far
        self._deferred: list[tuple[str, int]] = []  # those that came before the name
        self._waiting = 0  # their characters
        self._problems: list[Problem] = []
        self._trailing = False  # something stands behind the end

    @property
    def is_settled(self) -> bool:
        """Whether the arguments are complete JSON, or can't become it."""
        return self._broken or self._scanner.done

    def is_replaced_by(self, push: CallPush) -> bool:
        """Whether a delta of this call's index begins another call, as servers write that have one index for all."""
        if not self.name or not push.name or not (self.closed or self.is_settled or self.is_empty):
            return False
        other = push.id is not None and self.id is not None and push.id != self.id
        return other or ((self.closed or self.is_settled) and bool(push.arguments))

    def identify(self, push: CallPush, tools: Toolbox, number: int) -> list[Event]:
        """Take a delta's id and name; begins the call as `number` where the name is known by that."""
        self.id = self.id or push.id or None
        if not push.name:
            return []
        start, end = push.at, push.at + len(push.name)
        self._at = end
        if not self.name:
            self.name, self._name_at = push.name, start
            return self.begin(tools, number) if self._deferred else []
        if self.number is None and push.name != self.name and self._name_at + len(self.name) == start:
            self.name += push.name
            return []
        events = self.begin(tools, number)
        if push.name != self.name:
            detail = "a second name in one call"
            self._problems.append(Problem(ProblemKind.REPEATED_ARGUMENT, push.name, detail, start, start))
        return [*events, Markup(push.name, start, end)]

    def begin(self, tools: Toolbox, number: int) -> list[Event]:
        """The name is known."""
        if self.number is not None:
            return []
        self.number = number
        start, end = self._name_at, self._name_at + len(self.name)
        if tools.known and self.name not in tools.shapes:
            detail = "no such tool was given"
            self._problems.append(Problem(ProblemKind.UNKNOWN_TOOL, self.name, detail, start, start))
        events: list[Event] = [CallBegin(number, self.name, self.id, start, end)]
        deferred, self._deferred = self._deferred, []
        for text, at in deferred:
            used, more = self.take(text, at)
            events += [*more, *self.take_rest(text[used:], at + used)]
        self._at = max(self._at, end)
        return events

    def defer(self, text: str, at: int) -> list[Event]:
        """Keep arguments whose call has no name yet."""
        room = DEFERRED_LIMIT - self._waiting
        self._deferred.append((text[:room], at))
        self._waiting += min(len(text), room)
        if len(text) <= room:
            return []
        self._broken = True
        return [Malformed(text[room:], at + room, at + len(text))]

    def take(self, text: str, at: int) -> tuple[int, list[Event]]:
        """Take arguments as far as they are JSON: how many characters that is, and what they are."""
        assert self.number is not None
        if self.is_settled:
            return 0, []
        used = self._scanner.scan(text, 0)
        self._broken = self._scanner.failed
        self._at = at + used
        if not used:
            return 0, []
        self._pieces.append(text[:used])
        self.is_empty = self.is_empty and not text[:used].strip(_SPACE)
        return used, [ArgumentsDelta(self.number, text[:used], at, self._at)]

    def take_rest(self, text: str, at: int) -> list[Event]:
        """Take what stands behind the arguments: layout, or what shows that they are broken."""
        if not text:
            return []
        layout = 0 if self._broken else len(text) - len(text.lstrip(_SPACE))
        start, self._at = at + layout, at + len(text)
        events: list[Event] = [Markup(text[:layout], at, start)] if layout else []
        if layout < len(text):
            self._broken, self.is_empty = True, False
            self._pieces.append(text[layout:])
            events.append(Malformed(text[layout:], start, self._at))
        return events

    def take_late(self, push: CallPush) -> list[Event]:
        """Take a delta that comes when the call has ended: layout and repetitions, and what has no place any more."""
        start = push.at + len(push.name)
        events: list[Event] = [Markup(push.name, push.at, start)] if push.name else []
        text = push.arguments
        layout = 0 if self._trailing else len(text) - len(text.lstrip(_SPACE))
        if layout:
            events.append(Markup(text[:layout], start, start + layout))
        if layout < len(text):
            if not self._trailing:
                detail = f"arguments behind the end of call {self.number}"
                events.append(Problem(ProblemKind.TRAILING_INPUT, "", detail, start + layout, start + layout))
            self._trailing = True
            events.append(Malformed(text[layout:], start + layout, start + len(text)))
        return events

    def end(self, *, well: bool) -> list[Event]:
        """End the call; without arguments it has ``{}`` where the output went on, or ended, `well` behind it."""
        assert self.number is not None
        at, events = self._at, list[Event]()
        if well and self.is_empty:
            self._scanner.scan("{}", 0)
            events.append(ArgumentsDelta(self.number, "{}", at, at))
        self.complete = not self._broken and self._scanner.finish()
        broken = CallStatus.MALFORMED if self._broken else CallStatus.INCOMPLETE
        status = CallStatus.COMPLETE if self.complete else broken
        events.append(CallEnd(self.number, status, tuple(self._problems), self.id, at, at))
        if not self.complete:
            kind = ProblemKind.MALFORMED if self._broken else ProblemKind.INCOMPLETE
            detail = (self._scanner.error or "text behind the arguments") if self._broken else "the arguments are cut"
            events.append(Problem(kind, "".join(self._pieces), detail, at, at))
        self.closed = True
        self._pieces = []
        return events

    def give_up(self) -> list[Event]:
        """The output has ended, and no name has come."""
        events: list[Event] = [Malformed(text, at, at + len(text)) for text, at in self._deferred]
        if events:
            raw, at = "".join(text for text, _ in self._deferred), events[-1].end
            events.append(Problem(ProblemKind.MALFORMED, raw, "a call without a name", at, at))
        return events
