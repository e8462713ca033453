"""The steps that give text a meaning: calls with their names, arguments and ends, headers, stops.

What happens to a call that breaks is decided here, once for all dialects (`RecoverStep`): nothing that was
published is taken back, nothing is lost, and reading goes on at the next marker.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..events import ArgumentsDelta, CallBegin, CallEnd, CallStatus, Malformed, Markup, Problem, ProblemKind, Stop
from .analyze import FIELD_LIMIT
from .control import ENDED_WELL
from .escapes import decoded
from .frames import FIELD_TOO_LONG, NOWHERE, CallFrame, CallState, CaptureFrame, Frame, ValueFrame
from .members import begin_member, close_members, end_member, open_members, sink_of, take_whole
from .nodes import Decoding, Header, Role
from .notation import Notation
from .steps import Step
from .tries import delimiter_pattern, followed_pattern

if TYPE_CHECKING:
    from .machine import Machine

__all__ = [
    "BodyEndStep",
    "CallEndStep",
    "CallStep",
    "CaptureStep",
    "FieldEndStep",
    "HeaderStep",
    "MembersEndStep",
    "MembersStep",
    "RawArgumentsStep",
    "RecoverStep",
    "ReportEndStep",
    "ResyncEndStep",
    "StopEndStep",
    "ValueEndStep",
    "ValueStep",
]

# Fields


class CaptureStep(Step):
    """A field begins."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        position = machine.base + machine.at
        machine.stack.append(CaptureFrame(position))
        machine.captures.append(position)
        return self.next


class _CaptureEndStep(Step):
    """A field ends; `take` says what becomes of its text."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack.pop()
        assert isinstance(frame, CaptureFrame)
        machine.captures.pop()
        start, end = frame.position, machine.base + machine.at
        if end - start > FIELD_LIMIT:
            machine.detail = FIELD_TOO_LONG
            machine.at = start - machine.base
            return machine.fail()
        if not self.take(machine, machine.text[start - machine.base : machine.at], start, end):
            machine.at = start - machine.base
            return machine.fail()
        return self.next

    def take(self, machine: Machine, text: str, start: int, end: int) -> bool:
        """Whether such a text may stand here."""
        raise NotImplementedError


class FieldEndStep(_CaptureEndStep):
    """A name, an id or a key is complete; with `begins`, so is what the call's beginning tells."""

    __slots__ = ("begins", "decode", "pattern", "role")

    def __init__(self, role: Role, pattern: str | None, decode: Decoding, begins: bool) -> None:
        self.role, self.decode, self.begins = role, decode, begins
        self.pattern = re.compile(pattern, re.DOTALL).fullmatch if pattern is not None else None

    def take(self, machine: Machine, text: str, start: int, end: int) -> bool:
        value = decoded(text, self.decode)
        if self.role is Role.KEY:
            return begin_member(machine, value, text, start, end)
        fields = {self.role.value: value}
        found = self.pattern(value) if self.pattern is not None else None
        if found is not None:
            fields |= {name: group for name, group in found.groupdict().items() if group is not None}
        machine.fields.update(fields)
        if self.begins:
            begin_call(machine, start, end, text)
            return True
        machine.out.append(Markup(text, start, end))
        if self.role is Role.ID and machine.call is not None:
            machine.call.id = value
        return True


class BeginEndStep(Step):
    """A call's name and id are known; `name` is what is known without its being read."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def run(self, machine: Machine) -> Step | None:
        here = machine.base + machine.at
        if self.name:
            machine.fields["name"] = self.name
        begin_call(machine, here, here, "")
        return self.next


def begin_call(machine: Machine, start: int, end: int, text: str) -> None:
    """Publish the call's beginning from the captured fields; a second name in one call is only reported."""
    call, name = machine.call, machine.fields.pop("name", "") or machine.header.get("name", "")
    assert call is not None
    if call.begun or not name:
        if name:
            call.note(ProblemKind.REPEATED_ARGUMENT, name, "a second name in one call", start)
        if text:
            machine.out.append(Markup(text, start, end))
        return
    call.name, call.id = name, machine.fields.pop("id", call.id)
    call.index, machine.calls = machine.calls, machine.calls + 1
    call.begun = True
    call.make = partial(ArgumentsDelta, call.index)
    call.tool = machine.tools.shapes.get(name)
    if call.tool is None and machine.tools.known:
        call.note(ProblemKind.UNKNOWN_TOOL, name, "no such tool was given", start)
    machine.out.append(CallBegin(call.index, name, call.id, start, end))
    call.flush(machine)


# Arguments as keys and raw values


class RawArgumentsStep(Step):
    """Notes that what follows are arguments that need not be JSON."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        assert machine.call is not None
        machine.call.raw_from = machine.base + machine.at
        detail = "the arguments are text, not JSON"
        machine.call.note(ProblemKind.RAW_ARGUMENTS, "", detail, machine.base + machine.at)
        return self.next


class ValueStep(Step):
    """A raw value begins; `kinds` are its JSON types where the markup and not the schema tells them."""

    __slots__ = ("kinds", "notation")

    def __init__(self, kinds: tuple[str, ...] | None, notation: Notation | None) -> None:
        self.kinds = frozenset(kinds) if kinds is not None else None
        self.notation = notation

    def run(self, machine: Machine) -> Step | None:
        call, here = machine.call, machine.base + machine.at
        assert call is not None
        sink = sink_of(call, self.kinds, self.notation)
        machine.stack.append(ValueFrame(sink))
        opening = sink.open()
        if opening:
            call.publish(machine, opening, here, here)
        return self.next


class ValueEndStep(Step):
    """A raw value ends."""

    __slots__ = ("declared",)

    def __init__(self, declared: bool) -> None:
        self.declared = declared  # does the markup tell the type?

    def run(self, machine: Machine) -> Step | None:
        call, here = machine.call, machine.base + machine.at
        frame = machine.stack.pop()
        assert call is not None and isinstance(frame, ValueFrame)
        if machine.ended and machine.at == len(machine.text):
            machine.starved = here  # the end of the input is no closer
            return machine.fail()
        json = frame.sink.close()
        if json is None:
            machine.detail = f"the value of {machine.fields.get('key')!r} is not complete JSON"
            return machine.fail()
        call.publish(machine, json, here, here)
        if frame.sink.unwrapped:
            take_whole(call, frame.sink.members, here)
        else:
            end_member(call, frame.sink.kind, here, fits=frame.sink.fits or not self.declared)
        return self.next


class MembersStep(Step):
    """The arguments' object begins, or an object or array in it."""

    __slots__ = ("element", "unwrap")

    def __init__(self, element: str | None, unwrap: tuple[str, ...]) -> None:
        self.element, self.unwrap = element, unwrap

    def run(self, machine: Machine) -> Step | None:
        return self.next if open_members(machine, self.element, self.unwrap) else machine.fail()


class MembersEndStep(Step):
    """It ends."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        close_members(machine)
        return self.next


# Calls


class CallStep(Step):
    """A call begins."""

    __slots__ = ("recover",)

    def __init__(self, recover: Step) -> None:
        self.recover = recover

    def run(self, machine: Machine) -> Step | None:
        here = machine.base + machine.at
        heading = machine.heading if machine.headed == here else ""
        machine.stack.append(CallFrame(self.recover))
        machine.call = CallState(here - len(heading))
        machine.fields = {}
        machine.detail = ""
        machine.kept, machine.kept_to = [heading], here
        return self.next


class BodyEndStep(Step):
    """All of a call is read but its closer."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        assert machine.call is not None
        machine.call.complete = True
        return self.next


class CallEndStep(Step):
    """A call is closed."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack.pop()
        assert isinstance(frame, CallFrame)
        end_call(machine)
        return self.next


def end_call(machine: Machine) -> None:
    """Publish the end of the complete call that is open, or report it if it never told its name."""
    call, here = machine.call, machine.base + machine.at
    assert call is not None
    machine.call = None
    if not call.begun:
        call.discard(machine)
        machine.problem(ProblemKind.MALFORMED, machine.take_kept(), machine.detail or "a call without a name")
        return
    machine.drop_kept()
    machine.completed += 1
    if not call.started and not NOWHERE < call.raw_from < here:
        call.publish(machine, "{}", here, here)
    call.diagnose(here)
    machine.out.append(CallEnd(call.index, CallStatus.COMPLETE, tuple(call.problems), call.id, here, here))


class RecoverStep(Step):
    """A call is broken at the cursor, or the input ended in it; see the failure policy in `docs/grammar.md`."""

    __slots__ = ("follows", "resync", "stops")

    def __init__(self, resume: tuple[str, ...], resync: Step, stops: bool) -> None:
        self.follows = followed_pattern(resume, 64) if resume else None
        self.resync, self.stops = resync, stops

    def run(self, machine: Machine) -> Step | None:
        call, here = machine.call, machine.base + machine.at
        assert call is not None
        if machine.ended and machine.starved >= here:
            return self._cut(machine, call)
        found = self.follows.match(machine.text, machine.at) if self.follows is not None else None
        if found is not None and not found.group(1) and not machine.ended:
            return None
        if found is not None and found.group(1):
            return self._implied(machine, call)
        return self._broken(machine, call)

    def _cut(self, machine: Machine, call: CallState) -> Step:
        """The input ended inside the call."""
        machine.give_up()
        detail = "the input ended inside a call"
        if call.begun and call.complete and machine.reason in ENDED_WELL:
            end_call(machine)
            if not self.stops:
                machine.problem(ProblemKind.IMPLICIT_CLOSE, "", "the closing marker is missing")
        else:
            self._unread(machine, call, detail)
        return self.next

    def _implied(self, machine: Machine, call: CallState) -> Step:
        """Something begins that can only come after the call."""
        detail = "another marker stands where the call should be closed"
        if call.begun and call.complete:
            end_call(machine)
            machine.problem(ProblemKind.IMPLICIT_CLOSE, "", detail)
        else:
            self._unread(machine, call, detail)
        return self.next

    def _broken(self, machine: Machine, call: CallState) -> Step:
        if call.begun:
            here = machine.base + machine.at
            problems = tuple(call.problems)
            machine.out.append(CallEnd(call.index, CallStatus.MALFORMED, problems, call.id, here, here))
        else:
            call.discard(machine)
        return self.resync

    @staticmethod
    def _unread(machine: Machine, call: CallState, detail: str) -> None:
        here = machine.base + machine.at
        machine.call = None
        if call.begun:
            problems = tuple(call.problems)
            machine.out.append(CallEnd(call.index, CallStatus.INCOMPLETE, problems, call.id, here, here))
        else:
            call.discard(machine)
        raw = machine.take_kept()
        machine.problem(ProblemKind.INCOMPLETE, raw, detail)

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset()


class ResyncEndStep(Step):
    """The malformed rest of a call has passed; its closer, if it is here, belongs to it."""

    __slots__ = ("closers",)

    def __init__(self, closers: tuple[str, ...]) -> None:
        self.closers = closers

    def run(self, machine: Machine) -> Step | None:
        for closer in self.closers:
            if machine.text.startswith(closer, machine.at):
                start = machine.base + machine.at
                machine.out.append(Malformed(closer, start, start + len(closer)))
                machine.at += len(closer)
                break
        raw = machine.take_kept()
        machine.call = None
        machine.problem(ProblemKind.MALFORMED, raw, machine.detail or "the call does not follow its grammar")
        return self.next


# Headers, stops, reports


_Case = tuple[tuple[tuple[str, str], ...], Step]


class HeaderStep(Step):
    """A bounded header, read as a whole when its end is there."""

    __slots__ = ("abort", "begins", "cases", "fields", "limit", "search", "stop")

    def __init__(self, node: Header, cases: tuple[_Case, ...]) -> None:
        self.stop, self.abort, self.limit = node.stop, frozenset(node.abort), node.limit + len(node.stop)
        self.search = re.compile(delimiter_pattern((node.stop, *node.abort))).search
        self.begins = followed_pattern(node.start, 8).match
        self.fields = [(name, re.compile(pattern).search) for name, pattern in node.fields]
        self.cases = [([(name, re.compile(like).fullmatch) for name, like in wanted], step) for wanted, step in cases]

    def run(self, machine: Machine) -> Step | None:
        text, at = machine.text, machine.at
        begins = self.begins(text, at)
        if begins is None:
            return machine.fail()
        far = at + self.limit
        found = self.search(text, at, far) if begins.group(1) else None
        if found is not None and found.group() == self.stop:
            return self._read(machine, text[at : found.start()], found.end())
        if len(text) >= far or (found is not None and found.group() in self.abort):
            return machine.fail()
        if not machine.ended:
            return None
        if begins.group(1):
            return self._cut(machine, text[at:])
        machine.starved = machine.base + at
        return machine.fail()

    def _cut(self, machine: Machine, header: str) -> Step:
        """The input ended inside the header: if that has named a call already, inside a call."""
        kind = ProblemKind.INCOMPLETE if "name" in self._fields(header) else ProblemKind.MALFORMED_HEADER
        machine.give_up()
        machine.problem(kind, header, "the input ended inside a header")
        return self.next

    def _fields(self, header: str) -> dict[str, str]:
        found = {name: search(header) for name, search in self.fields}
        return {name: match.group(1) for name, match in found.items() if match is not None and match.group(1)}

    def _read(self, machine: Machine, header: str, end: int) -> Step | None:
        fields = self._fields(header)
        for wanted, step in self.cases:
            if all(name in fields and matches(fields[name]) for name, matches in wanted):
                start, read = machine.base + machine.at, machine.text[machine.at : end]
                machine.out.append(Markup(read, start, machine.base + end))
                machine.at = end
                machine.header, machine.heading, machine.headed = fields, read, machine.base + end
                return step
        return machine.fail()

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset(["header"])


class StopEndStep(_CaptureEndStep):
    """A stop marker has been read."""

    __slots__ = ()

    def take(self, machine: Machine, text: str, start: int, end: int) -> bool:
        machine.stopped = True
        machine.out.append(Stop("tool_calls" if machine.completed else "stop", text, start, end))
        return True


class ReportEndStep(_CaptureEndStep):
    """What a problem is about has been read."""

    __slots__ = ("detail", "kind")

    def __init__(self, kind: ProblemKind, detail: str) -> None:
        self.kind, self.detail = kind, detail

    def take(self, machine: Machine, text: str, start: int, end: int) -> bool:
        machine.out.append(Problem(self.kind, text, self.detail, start, end))
        return True
