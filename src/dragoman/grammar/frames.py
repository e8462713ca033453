"""What a machine keeps on its stack: alternatives, returns, loops, captures, calls, values."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from ..events import ArgumentsDelta, Event, Malformed, Problem, ProblemKind
from .analyze import FIELD_LIMIT
from .escapes import unquoted
from .schema import allowed

if TYPE_CHECKING:
    from .json import Scanner, StringDecoder
    from .learned import NotatedRest
    from .machine import Machine
    from .members import Scope
    from .schema import ToolShape
    from .steps import Step
    from .transcode import Transcoder
    from .value import Sink

__all__ = [
    "BOTTOM",
    "FIELD_TOO_LONG",
    "NOWHERE",
    "Bundle",
    "CallFrame",
    "CallState",
    "CaptureFrame",
    "ChoiceFrame",
    "Frame",
    "Known",
    "LoopFrame",
    "ReturnFrame",
    "ScanFrame",
    "TranscodeFrame",
    "ValueFrame",
    "unbundled",
]

FIELD_TOO_LONG = "a name or an id is too long"

NOWHERE = -(1 << 62)
"""Before every position: what a prompt has begun has positions below 0."""

DEFERRED_LIMIT = 1 << 20
"""Characters of arguments that may wait for the call's name to come."""


class Frame:
    """Something to come back to."""

    __slots__ = ()
    held = 0

    def undo(self, machine: Machine) -> Step | None:
        """Called when the frame is given up because something inside it failed; a step goes on there."""
        return None

    def forget(self, events: int) -> None:
        """So many of the events that were held have been published."""

    def copy(self) -> Frame:
        """A frame that shares nothing mutable with this one."""
        return self


BOTTOM = Frame()
"""Lies under all other frames."""


class ChoiceFrame(Frame):
    """Where a choice began and what to try if its present alternative fails, while it is `live`."""

    __slots__ = ("call", "calls", "completed", "events", "key", "live", "mark", "otherwise", "position", "stopped")

    def __init__(self, key: int, otherwise: Step, position: int, machine: Machine) -> None:
        self.key, self.otherwise, self.position = key, otherwise, position
        self.events, self.call, self.calls = len(machine.out), machine.call, machine.calls
        self.completed, self.stopped = machine.completed, machine.stopped
        self.mark = self.call.mark() if self.call is not None else None
        self.live = True

    def undo(self, machine: Machine) -> Step | None:
        if not self.live:
            return None
        machine.choices.pop()
        self.restore(machine)
        return self.otherwise

    def restore(self, machine: Machine) -> None:
        """Put the machine back where the choice began."""
        machine.at = self.position - machine.base
        del machine.out[self.events :]
        machine.call, machine.calls = self.call, self.calls
        machine.completed, machine.stopped = self.completed, self.stopped
        if self.call is not None and self.mark is not None:
            self.call.restore(self.mark)

    def copy(self) -> ChoiceFrame:
        other = ChoiceFrame.__new__(ChoiceFrame)
        for slot in ChoiceFrame.__slots__:
            setattr(other, slot, getattr(self, slot))
        return other


class Bundle:
    """The events of a rule that matched inside an open choice; rules inside it have bundles of their own."""

    __slots__ = ("items",)

    def __init__(self, items: list[Event | Bundle]) -> None:
        self.items = items


class Known(Struct, frozen=True):
    """What a rule did at a place: where it ended, and its events."""

    end: int
    events: Bundle


def unbundled(items: list[Event | Bundle]) -> list[Event]:
    """All events in order; without recursion, since rules nest as deep as their input."""
    events: list[Event] = []
    pending = items[::-1]
    while pending:
        item = pending.pop()
        if isinstance(item, Bundle):
            pending += item.items[::-1]
        else:
            events.append(item)
    return events


class ReturnFrame(Frame):
    """Where to go on behind a rule, and what to remember of it."""

    __slots__ = ("events", "position", "rule", "step")

    def __init__(self, rule: int, step: Step, position: int, events: int) -> None:
        self.rule, self.step, self.position, self.events = rule, step, position, events

    def undo(self, machine: Machine) -> Step | None:
        if machine.choices:
            machine.memo[self.rule, self.position] = None
        return None

    def forget(self, events: int) -> None:
        self.events -= events

    def copy(self) -> ReturnFrame:
        return ReturnFrame(self.rule, self.step, self.position, self.events)


class LoopFrame(Frame):
    """How often a repetition has matched, and where its last turn began."""

    __slots__ = ("count", "position")

    def __init__(self, count: int, position: int) -> None:
        self.count, self.position = count, position

    def copy(self) -> LoopFrame:
        return LoopFrame(self.count, self.position)


class CaptureFrame(Frame):
    """Where a field begins; if it breaks, its characters are read again as something else."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position

    def undo(self, machine: Machine) -> Step | None:
        machine.captures.pop()
        if machine.base + machine.at - self.position > FIELD_LIMIT:
            machine.detail = FIELD_TOO_LONG
        machine.at = self.position - machine.base
        return None

    def copy(self) -> CaptureFrame:
        return CaptureFrame(self.position)


class ScanFrame(Frame):
    """A JSON value in the middle."""

    __slots__ = ("decoder", "scanner", "started", "step")

    def __init__(self, step: Step, scanner: Scanner, decoder: StringDecoder | None = None) -> None:
        self.step, self.scanner, self.decoder = step, scanner, decoder
        self.started = False

    def copy(self) -> ScanFrame:
        other = ScanFrame(self.step, self.scanner.copy(), self.decoder.copy() if self.decoder is not None else None)
        other.started = self.started
        return other


class TranscodeFrame(Frame):
    """A value of a notation in the middle."""

    __slots__ = ("rest", "step", "transcoder")

    def __init__(self, step: Step, transcoder: Transcoder) -> None:
        self.step, self.transcoder = step, transcoder
        self.rest: NotatedRest | None = None

    def copy(self) -> TranscodeFrame:
        return TranscodeFrame(self.step, self.transcoder.copy())


class ValueFrame(Frame):
    """A raw argument in the middle."""

    __slots__ = ("sink",)

    def __init__(self, sink: Sink) -> None:
        self.sink = sink

    @property
    def held(self) -> int:  # type: ignore[override]
        return self.sink.held

    def copy(self) -> ValueFrame:
        return ValueFrame(self.sink.copy())


class CallFrame(Frame):
    """A call that is open; once `committed`, what breaks it is mended by `recover`."""

    __slots__ = ("committed", "recover")

    def __init__(self, recover: Step) -> None:
        self.recover = recover
        self.committed = False

    def undo(self, machine: Machine) -> Step | None:
        if self.committed:
            return self.recover
        machine.drop_kept()
        return None

    def copy(self) -> CallFrame:
        other = CallFrame(self.recover)
        other.committed = self.committed
        return other


Mark = tuple[
    int, str | None, str | None, bool, bool, bool, int, "ToolShape | None", "Scope | None", int, int, int, int, int, int
]


class CallState:
    """What is known of the call that is open; its lists only grow, so that a choice can put them back."""

    __slots__ = (
        "begun",
        "committed",
        "complete",
        "deferred",
        "flushed",
        "id",
        "index",
        "keys",
        "make",
        "members",
        "name",
        "problems",
        "raw_from",
        "scope",
        "start",
        "started",
        "tool",
        "waiting",
    )

    def __init__(self, start: int) -> None:
        self.start = start  # where its opener begins
        self.index = -1
        self.name: str | None = None
        self.id: str | None = None
        self.begun = False  # was `CallBegin` published?
        self.make: Callable[[str, int, int], ArgumentsDelta]  # makes a piece of the arguments, once it was
        self.committed = False  # can it only be read as a call? There is no way back from that
        self.started = False  # has anything of the arguments been read?
        self.complete = False  # is all read but the closer?
        self.raw_from = NOWHERE  # where arguments begin that are text and need not be JSON
        self.tool: ToolShape | None = None
        self.keys: list[tuple[str, str]] = []  # their names (JSON without the quotes) and types, in order
        self.scope: Scope | None = None  # the innermost object or array of members that is open
        self.members: list[Scope] = []  # those of the objects inside the arguments
        self.problems: list[Problem] = []
        self.deferred: list[tuple[str, int, int]] = []  # arguments that came before the name
        self.flushed = 0  # how many of them have been published
        self.waiting = 0  # characters of them

    def mark(self) -> Mark:
        """All that a choice has to put back."""
        return (
            self.index,
            self.name,
            self.id,
            self.begun,
            self.started,
            self.complete,
            self.raw_from,
            self.tool,
            self.scope,
            len(self.keys),
            len(self.members),
            len(self.problems),
            len(self.deferred),
            self.flushed,
            self.waiting,
        )

    def restore(self, mark: Mark) -> None:
        """Go back to a mark."""
        self.index, self.name, self.id, self.begun, self.started, self.complete, self.raw_from, self.tool = mark[:8]
        self.scope, keys, members, problems, deferred, self.flushed, self.waiting = mark[8:]
        del self.keys[keys:], self.members[members:], self.problems[problems:], self.deferred[deferred:]

    def copy(self) -> CallState:
        """An independent copy."""
        other = CallState.__new__(CallState)
        for slot in CallState.__slots__:
            if hasattr(self, slot):
                setattr(other, slot, getattr(self, slot))
        other.keys, other.deferred, other.problems = self.keys.copy(), self.deferred.copy(), self.problems.copy()
        other.members = self.members.copy()
        return other

    def take_keys(self, scanner: Scanner | Transcoder, at: int) -> None:
        """The arguments are read: note their members."""
        self.keys += scanner.members
        if scanner.kind != "object":
            self.note(ProblemKind.WRONG_TYPE, "", f"the arguments are not an object but {scanner.kind}", at)

    def note(self, kind: ProblemKind, raw: str, detail: str, at: int) -> None:
        """Add a diagnostic for `CallEnd`."""
        self.problems.append(Problem(kind, raw, detail, at, at))

    @property
    def room(self) -> int:
        """Characters of arguments that can still be taken: all, once the call's name is known."""
        return sys.maxsize if self.begun else DEFERRED_LIMIT - self.waiting

    def publish(self, machine: Machine, json: str, start: int, end: int) -> None:
        """Publish a piece of the arguments, or keep it until the call's name is known."""
        self.started = True
        if self.begun:
            machine.out.append(self.make(json, start, end))
        else:
            self.deferred.append((json, start, end))
            self.waiting += len(json)

    def diagnose(self, at: int) -> None:
        """Compare the arguments with the tool's schema; what differs is noted, nothing is changed."""
        seen: set[str] = set()
        wrong = {problem.raw for problem in self.problems if problem.kind is ProblemKind.WRONG_TYPE}
        for written, kind in self.keys:
            key = unquoted(f'"{written}"') if "\\" in written else written
            if key in seen:
                self.note(ProblemKind.REPEATED_ARGUMENT, key, "the argument is given twice", at)
            seen.add(key)
            if self.tool is not None and not (key in wrong and key in self.tool.arguments):
                self._check(self.tool, key, kind, at)
        inside: set[tuple[int, str]] = set()
        for scope in self.members:
            if (scope.number, scope.key) in inside:
                self.note(ProblemKind.REPEATED_ARGUMENT, scope.path(), "the member is given twice", at)
            inside.add((scope.number, scope.key))
        if self.tool is not None and self.raw_from == NOWHERE:
            for name in sorted(self.tool.required - seen):
                self.note(ProblemKind.MISSING_ARGUMENT, name, "a required argument is missing", at)

    def _check(self, tool: ToolShape, key: str, kind: str, at: int) -> None:
        if key not in tool.arguments:
            if not tool.open or tool.arguments:
                self.note(ProblemKind.UNKNOWN_ARGUMENT, key, "the tool has no such argument", at)
            return
        kinds = tool.arguments[key]
        if kinds is None or allowed(kinds, kind):
            return
        self.note(ProblemKind.WRONG_TYPE, key, f"expected {' or '.join(sorted(kinds))}, found {kind}", at)

    def flush(self, machine: Machine) -> None:
        """Publish the arguments that waited for the name."""
        for json, start, end in self.deferred[self.flushed :]:
            machine.out.append(self.make(json, start, end))
        self.flushed = len(self.deferred)

    def discard(self, machine: Machine) -> None:
        """The name never came: what waited for it is malformed."""
        raw = machine.kept_text() if self.deferred else ""
        for _, start, end in self.deferred:
            if end > start:
                machine.out.append(Malformed(raw[start - self.start : end - self.start], start, end))
        self.deferred.clear()
