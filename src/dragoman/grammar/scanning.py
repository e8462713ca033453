"""The steps that read JSON: a value as it is written, inside a JSON string, or in another notation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..events import ProblemKind
from .frames import Frame, ScanFrame, TranscodeFrame
from .json import Scanner, State, StringDecoder
from .labels import TOO_LONG_TO_WAIT, ArgumentsLabel, Label, Rest, rest_in_string
from .learned import NotatedRest
from .members import begin_value, end_member
from .nodes import JsonForm
from .notation import Notation
from .raised import UP
from .steps import Step
from .transcode import Transcoder

if TYPE_CHECKING:
    from .machine import Machine

__all__ = ["NotatedArgumentsStep", "NotatedMemberStep", "NotatedStep", "QuotedStep", "ScanStep"]


class ScanStep(Step):
    """One JSON value."""

    __slots__ = ("arguments", "form", "label")

    def __init__(self, form: JsonForm, label: Label) -> None:
        self.form, self.label = form, label
        self.arguments = isinstance(label, ArgumentsLabel)

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack[-1]
        if not isinstance(frame, ScanFrame) or frame.step is not self:
            if not self._begins(machine):
                return machine.fail() if machine.at < len(machine.text) or machine.ended else None
            frame = ScanFrame(self, Scanner(watch=self.arguments))
            machine.stack.append(frame)
        text, at, scanner = machine.text, machine.at, frame.scanner
        end = scanner.scan(text, at)
        machine.at = end
        if end > at and not self.label.emit(machine, text[at:end], machine.base + at, machine.base + end):
            return machine.fail()
        if scanner.failed:
            machine.detail = scanner.error
            return machine.fail()
        if not scanner.done:
            if not machine.ended:
                return None
            if not scanner.finish():
                machine.starved = machine.base + end
                return machine.fail()
        machine.stack.pop()
        if self.arguments:
            assert machine.call is not None
            machine.call.take_keys(scanner, machine.base + end)
        return self.next

    def _begins(self, machine: Machine) -> bool:
        """Whether a value starts at the cursor; layout before it is the grammar's business."""
        first = machine.text[machine.at : machine.at + 1]
        if not first and machine.ended:
            machine.starved = machine.base + machine.at
        return first == '"' if self.form is JsonForm.STRING else first != "" and first in '"{[-0123456789tfn'

    def settle(self, machine: Machine) -> None:
        frame, call = machine.stack[-1], machine.call
        if self.arguments and call is not None and call.begun and isinstance(frame, ScanFrame):
            machine.scanner, machine.in_string = frame.scanner, Rest('"\\', call.make, call.make, None)
            machine.rest = machine.in_string if frame.scanner.state == State.STRING else None

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset(["json" if self.form is JsonForm.VALUE else "json_string"])


_raw_string = re.compile(rf'[^"\\\x00-\x1f{UP}]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{{4}})[^"\\\x00-\x1f{UP}]*+)*+').match
_units = re.compile(r"\\u....|\\.|.", re.DOTALL).finditer
_cut_escape = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z").match


class QuotedStep(Step):
    """The inside of a JSON string that holds a JSON object, published decoded."""

    __slots__ = ("label",)

    def __init__(self, label: Label) -> None:
        self.label = label

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack[-1]
        if not isinstance(frame, ScanFrame) or frame.step is not self:
            frame = ScanFrame(self, Scanner(watch=True), StringDecoder())
            machine.stack.append(frame)
        text, at, decoder = machine.text, machine.at, frame.decoder
        assert decoder is not None and machine.call is not None
        found = _raw_string(text, at)
        end = found.end() if found else at
        closed = text[end : end + 1] == '"'
        before = decoder.copy()
        piece = decoder.feed(text[at:end]) + (decoder.finish() if closed else "")
        if not self._read(machine, frame, piece, at, end):
            self._find_fault(machine, frame, before, end)
            return machine.fail()
        machine.at = end
        if closed:
            return self._close(machine, frame)
        if end < len(text) and not _cut_escape(text, end):
            machine.detail = "not a JSON string"
            return machine.fail()
        if machine.ended:
            machine.starved = machine.base + machine.at
            return machine.fail()
        return None

    def _read(self, machine: Machine, frame: ScanFrame, piece: str, at: int, end: int) -> bool:
        """Publish a piece of the object; false if it does not belong to one."""
        scanner = frame.scanner.copy()
        if not self._fits(machine, frame, scanner, piece):
            return False
        assert machine.call is not None
        if len(piece) > machine.call.room:
            machine.detail = TOO_LONG_TO_WAIT
            return False
        frame.scanner = scanner
        return end == at or self.label.emit(machine, piece, machine.base + at, machine.base + end)

    def _find_fault(self, machine: Machine, frame: ScanFrame, decoder: StringDecoder, end: int) -> None:
        """Go over a piece again, once a call at most, and publish it up to the very character that is wrong."""
        for unit in _units(machine.text, machine.at, end):
            text = decoder.feed(unit.group())
            assert machine.call is not None
            if len(text) > machine.call.room or not self._fits(machine, frame, frame.scanner, text):
                break
            machine.at = unit.end()
            self.label.emit(machine, text, machine.base + unit.start(), machine.base + unit.end())

    def _fits(self, machine: Machine, frame: ScanFrame, scanner: Scanner, piece: str) -> bool:
        if not frame.started and piece.strip():
            if not piece.lstrip().startswith("{"):
                machine.detail = "the arguments are a string that holds no JSON object"
                return False
            frame.started = True
        read = 0 if scanner.done else scanner.scan(piece, 0)
        if scanner.failed or piece[read:].strip():
            machine.detail = scanner.error or "text after the arguments' JSON"
            return False
        return True

    def _close(self, machine: Machine, frame: ScanFrame) -> Step | None:
        call, here = machine.call, machine.base + machine.at
        assert call is not None
        if not frame.scanner.done:
            if frame.started:
                machine.detail = "the arguments' JSON ends early"
                return machine.fail()
            call.publish(machine, "{}", here, here)
        call.note(ProblemKind.ARGUMENTS_AS_STRING, "", "the arguments were JSON inside a JSON string", here)
        call.take_keys(frame.scanner, here)
        machine.stack.pop()
        return self.next

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset(["quoted_json"])


class NotatedStep(Step):
    """One value of a notation, which is only looked at; the classes below publish it."""

    __slots__ = ("begins", "notation")
    watch = True

    def __init__(self, notation: Notation) -> None:
        self.notation = notation
        self.begins = re.compile(f"[{notation.first}]").match

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack[-1]
        if not isinstance(frame, TranscodeFrame) or frame.step is not self:
            if machine.at == len(machine.text):
                if not machine.ended:
                    return None
                machine.starved = machine.base + machine.at
            if not self.begins(machine.text, machine.at):
                return machine.fail()
            frame = TranscodeFrame(self, Transcoder(self.notation, watch=self.watch))
            machine.stack.append(frame)
            self.open(machine)
        transcoder, at = frame.transcoder, machine.at
        json, end = transcoder.read(machine.text, at, machine.ended)
        if not self.publish(machine, transcoder, json, end):
            machine.detail = TOO_LONG_TO_WAIT
            return machine.fail()
        machine.at = end
        if transcoder.failed:
            machine.detail = transcoder.error
            return machine.fail()
        if not transcoder.done:
            if not machine.ended:
                return None
            machine.starved = machine.base + end
            return machine.fail()
        machine.stack.pop()
        self.close(machine, transcoder)
        return self.next

    def open(self, machine: Machine) -> None:
        """The value begins."""

    def publish(self, machine: Machine, transcoder: Transcoder, json: str, end: int) -> bool:
        """Publish the JSON of the text up to an index; false if there is too much of it."""
        return True

    def close(self, machine: Machine, transcoder: Transcoder) -> None:
        """The value is complete."""

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset([f"notated({self.notation.name})"])


class NotatedArgumentsStep(NotatedStep):
    """All arguments of a call, in a notation."""

    __slots__ = ()

    def publish(self, machine: Machine, transcoder: Transcoder, json: str, end: int) -> bool:
        call, at, base = machine.call, machine.at, machine.base
        assert call is not None
        if len(json) > call.room:
            return False
        if json or end > at:
            call.publish(machine, json, base + at, base + end)
        for spot in transcoder.passed:
            detail = "the string goes on, since nothing that may follow its end does"
            call.note(ProblemKind.AMBIGUOUS_CLOSE, machine.text[spot], detail, base + spot)
        return True

    def close(self, machine: Machine, transcoder: Transcoder) -> None:
        assert machine.call is not None
        machine.call.take_keys(transcoder, machine.base + machine.at)

    def settle(self, machine: Machine) -> None:
        frame, call = machine.stack[-1], machine.call
        if call is not None and call.begun and isinstance(frame, TranscodeFrame):
            marks = frame.transcoder.in_string
            machine.rest = rest_in_string(call.make, marks.until) if marks is not None else None


class NotatedMemberStep(NotatedArgumentsStep):
    """One argument of a call, in a notation."""

    __slots__ = ()

    watch = False

    def open(self, machine: Machine) -> None:
        begin_value(machine)

    def close(self, machine: Machine, transcoder: Transcoder) -> None:
        assert machine.call is not None
        end_member(machine.call, transcoder.kind, machine.base + machine.at)

    def settle(self, machine: Machine) -> None:
        frame, call = machine.stack[-1], machine.call
        if call is None or not call.begun or not isinstance(frame, TranscodeFrame):
            return
        if frame.rest is None:
            frame.rest = NotatedRest(frame.transcoder, call.make)
        else:
            frame.rest.settle()
        machine.rest = frame.rest
