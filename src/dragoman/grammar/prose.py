"""The step that reads prose: text up to a delimiter, where Markdown code quotes what is in it.

Whether a backtick opens code does not change what the characters are, only whether a marker among them counts. So
nothing waits for the end of a run of backticks or of a code span: the step keeps in which kind of code it is, and
publishes as it goes. Code is read as in CommonMark, section 4.5 and 6.1, with two liberties: a fence may open
anywhere on a line, and a code span ends with its line, so that a stray backtick can't hide a call further down.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..events import ContentDelta
from .frames import Frame
from .labels import Rest, TextLabel
from .raised import UP, has_raised
from .steps import Step, UntilStep
from .tries import Delimiters, final_hold, final_pattern

if TYPE_CHECKING:
    from ..events import Event
    from .machine import Machine

__all__ = ["Mode", "ProseFrame", "ProseRest", "ProseStep", "follow", "in_code"]

_run = re.compile("`*+").match
_tick_or_line = re.compile("[`\n]").search
_short_span = re.compile(f"`[^`\n{UP}]++`(?=[^`])").match  # the usual code span, all of it there
_line_of_ticks = re.compile("\n`*+\\Z").search


class Mode:
    """Where in Markdown the text is."""

    TEXT = 0
    OPENING = 1
    """In a run of backticks that opens code."""
    SPAN = 2
    CLOSING = 3
    """In a run of backticks that may close a span."""
    INFO = 4
    """On the line of what may be an opening fence."""
    FENCE = 5
    LINE = 6
    """In backticks at the beginning of a line of fenced code."""


class ProseFrame(Frame):
    """The kind of code that is open: `size` is its run of backticks, `run` the one being read."""

    __slots__ = ("mode", "run", "size")

    def __init__(self) -> None:
        self.mode, self.size, self.run = Mode.TEXT, 0, 0

    def copy(self) -> ProseFrame:
        other = ProseFrame()
        other.mode, other.size, other.run = self.mode, self.size, self.run
        return other


class ProseRest(Rest):
    """How to publish chunks of prose; in a chunk with a mark in it, code is followed without taking steps."""

    __slots__ = ("step",)

    def __init__(self, step: ProseStep, marks: str, rest: Rest) -> None:
        super().__init__(marks, rest.make, rest.turn, rest.until, free=True)
        self.step = step

    def read(self, machine: Machine, chunk: str) -> list[Event]:
        held = machine.text
        if not held and self.is_clean(chunk):
            return self.publish(machine, chunk, len(chunk), self.make)
        text = held + chunk if held else chunk
        if text in self.clean:
            return self.publish(machine, text, len(text), self.make)
        frame = machine.stack[-1]
        assert isinstance(frame, ProseFrame)
        if not frame.mode and "`" not in text:
            return self.search(machine, text)
        stop, done = self.step.advance(frame, text, 0)
        events = self.publish(machine, text, stop, self.make)
        if done:
            return events + machine.resume()
        machine.rest = self.step.rests[frame.mode]
        return events


class ProseStep(UntilStep):
    """Text up to a delimiter that no code quotes; none does where it is a control token."""

    __slots__ = ("control", "finals", "firsts", "last", "rests")

    def __init__(self, words: tuple[str, ...], finals: tuple[str, ...], label: TextLabel) -> None:
        delimiters = Delimiters(words)
        super().__init__(delimiters, None, label)
        rest = label.rest(None, delimiters)
        self.finals = [final_pattern(finals, ended=ended).search for ended in (False, True)] if finals else []
        self.last = final_hold(finals) if finals else 0  # characters that they can be
        self.firsts = "".join(sorted({word[0] for word in finals}))
        self.control = "".join(sorted({word[0] for word in words if has_raised(word[0])}))
        marks = (delimiters.firsts + "`", "`\n" + self.firsts + self.control, "")
        text, code, run = (ProseRest(self, each, rest) for each in marks)
        self.rests = (text, run, code, run, code, code, run)  # by mode: in a run, every character tells

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack[-1]
        if not isinstance(frame, ProseFrame):
            frame = ProseFrame()
            machine.stack.append(frame)
        stop, done = self.advance(frame, machine.text, machine.at, machine.ended)
        if done:
            machine.stack.pop()
        return self._take(machine, stop, done)

    def settle(self, machine: Machine) -> None:
        frame = machine.stack[-1]
        if isinstance(frame, ProseFrame):
            machine.rest = self.rests[frame.mode]

    def advance(self, frame: ProseFrame, text: str, at: int, ended: bool = False) -> tuple[int, bool]:
        """How far the text reaches, and whether a delimiter, or the end of the input, stands there."""
        end, limit = len(text), -1
        if frame.mode != Mode.TEXT:
            limit = self._limit(text, at, ended)
            at = _through_code(frame, text, at, limit)
            if frame.mode != Mode.TEXT and not self._ends_code(frame, text, limit):
                return limit, ended
        found = self.delimiters.find(text, at) if at < end else None
        while at < end:
            if found is not None and found.start() < at:  # else it is still the next one
                found = self.delimiters.find(text, at)
            tick = text.find("`", at, found.start() if found is not None else end)
            if tick < 0:
                if found is None:
                    break
                full = found.group() in self.delimiters.all
                return (end, True) if ended and not full else (found.start(), full)
            short = _short_span(text, tick)
            if short is not None:
                at = short.end()
                continue
            frame.mode, frame.size = Mode.OPENING, 0
            limit = limit if limit >= 0 else self._limit(text, tick, ended)
            at = _through_code(frame, text, tick, limit)
            if frame.mode != Mode.TEXT and not self._ends_code(frame, text, limit):
                return limit, ended
        return end, ended

    def _ends_code(self, frame: ProseFrame, text: str, at: int) -> bool:
        """Whether a control token stands here, which ends any code."""
        if not self.control or text[at : at + 1] not in tuple(self.control):
            return False
        frame.mode = frame.run = frame.size = 0
        return True

    def _limit(self, text: str, at: int, ended: bool) -> int:
        """Where the code ends at the latest: before what ends the input, or may."""
        end = len(text)
        if self.control:
            found = has_raised(text, at)
            end = found.start() if found is not None else end
        at = end - self.last if end - at > self.last else at
        for first in self.firsts:
            if text.find(first, at, end) >= 0:
                break
        else:
            return end
        found = self.finals[ended](text, at, end)
        return found.start() if found is not None else end


def _through_code(frame: ProseFrame, text: str, at: int, end: int) -> int:
    """Go on in code up to `end`; back in text, the index where that begins."""
    while at < end and frame.mode != Mode.TEXT:
        at = _code(frame, text, at, end)
    return at


def _code(frame: ProseFrame, text: str, at: int, end: int) -> int:
    match frame.mode:
        case Mode.OPENING:
            at = _end_of_run(frame, text, at, end)
            if at < end:
                frame.size, frame.run = frame.size + frame.run, 0
                frame.mode = Mode.INFO if frame.size >= 3 else Mode.SPAN
        case Mode.SPAN | Mode.INFO:
            found = _tick_or_line(text, at, end)
            if found is None:
                return end
            at = found.start()
            if text[at] == "`":
                frame.mode = Mode.CLOSING
            else:
                frame.mode = Mode.FENCE if frame.mode == Mode.INFO else Mode.TEXT
        case Mode.CLOSING:
            at = _end_of_run(frame, text, at, end)
            if at < end:
                frame.mode = Mode.TEXT if frame.run == frame.size else Mode.SPAN
                frame.run = 0
        case Mode.FENCE:
            return _in_fence(frame, text, at, end)
        case Mode.LINE:
            at = _end_of_run(frame, text, at, end)
            if at < end:
                frame.mode = Mode.TEXT if frame.run >= frame.size else Mode.FENCE
                frame.run = 0
    return at


def _end_of_run(frame: ProseFrame, text: str, at: int, end: int) -> int:
    found = _run(text, at, end)
    stop = found.end() if found is not None else at
    frame.run += stop - at
    return stop


def _in_fence(frame: ProseFrame, text: str, at: int, end: int) -> int:
    """To the closing fence, or to the end of what is there."""
    closing = text.find("\n" + "`" * frame.size, at, end)
    if closing >= 0:
        frame.mode, frame.run = Mode.LINE, 0
        return closing + 1
    line = _line_of_ticks(text, at, end)
    if line is not None:
        frame.mode, frame.run = Mode.LINE, end - line.start() - 1
    return end


def in_code(text: str) -> bool:
    """Whether code is open at the end of a text, so that a marker right behind it would be quoted."""
    frame = ProseFrame()
    follow(frame, text + "<")
    return frame.mode != Mode.TEXT


def follow(frame: ProseFrame, text: str) -> None:
    """Note which code this text opens and closes, whatever words it holds."""
    _plain.advance(frame, text, 0)


_plain = ProseStep((), (), TextLabel(ContentDelta))
