"""Steps, and those that read characters: literals, classes, `until`.

A step's `run` reads at the machine's cursor and returns the step that comes next; or the machine's `fail()`; or
``None`` when it must wait for more input, upon which it is run again as soon as there is some. Steps are made by
`program` and hold no state: what belongs to one run is in the machine and its frames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .frames import Frame, LoopFrame
from .labels import Label
from .tries import Delimiters

if TYPE_CHECKING:
    from .machine import Machine


__all__ = ["CharsStep", "Guard", "LiteralStep", "SomeStep", "Step", "UntilStep"]


class Guard:
    """A look at the text that rules out most places where something can't begin; `ends` if it can at the end."""

    __slots__ = ("ends", "match")

    def __init__(self, pattern: str, ends: bool) -> None:
        self.match, self.ends = re.compile(pattern).match, ends

    def lets(self, machine: Machine) -> bool:
        """Whether it may begin at the cursor, as far as one can see."""
        if machine.at == len(machine.text):
            return self.ends or not machine.ended
        return self.match(machine.text, machine.at) is not None


class Step:
    """One step of a program; `next` is where it leads."""

    __slots__ = ("next",)
    next: Step

    def settle(self, machine: Machine) -> None:
        """The machine waits here and holds nothing: prepare for chunks that need no second look."""

    def run(self, machine: Machine) -> Step | None:
        """Read at the cursor; see the module's head."""
        raise NotImplementedError

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        """The terminals that may come here, as in the grammar's EBNF; the stack tells where rules return to."""
        return self.next.expected(stack)

    def awaited(self, machine: Machine) -> frozenset[str]:
        """Those that go on with the characters which the machine holds here."""
        return self.expected(machine.stack)


class LiteralStep(Step):
    """These very characters."""

    __slots__ = ("label", "size", "text")

    def __init__(self, text: str, label: Label) -> None:
        self.text, self.size, self.label = text, len(text), label

    def run(self, machine: Machine) -> Step | None:
        text, at = machine.text, machine.at
        if text.startswith(self.text, at):
            machine.at = at + self.size
            start = machine.base + at
            self.label.emit(machine, self.text, start, start + self.size)
            return self.next
        if len(text) - at < self.size and self.text.startswith(text[at:]):
            if not machine.ended:
                return None
            machine.starved = machine.base + at
        return machine.fail()

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset([repr(self.text)])


class WordsStep(Step):
    """One of several literals, none of which begins as another does; it decides the choices of these keys."""

    __slots__ = ("cuts", "label", "words")

    def __init__(self, words: Delimiters, label: Label, cuts: frozenset[int]) -> None:
        self.words, self.label, self.cuts = words, label, cuts

    def run(self, machine: Machine) -> Step | None:
        text, at = machine.text, machine.at
        found = self.words.match(text, at)
        if found is not None and found.group() in self.words.all:
            start = machine.base + at
            machine.at = found.end()
            self.label.emit(machine, found.group(), start, machine.base + machine.at)
            if self.cuts and machine.choices:
                machine.decide(self.cuts, start)
            return self.next
        if found is not None or at == len(text):
            if not machine.ended:
                return None
            machine.starved = machine.base + at
        return machine.fail()

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset(map(repr, self.words.all))

    def awaited(self, machine: Machine) -> frozenset[str]:
        begun = machine.text[machine.at :]
        return frozenset(repr(word) for word in self.words.all if word.startswith(begun))


class CharsStep(Step):
    """A run of characters of a class; published as they come."""

    __slots__ = ("high", "label", "low", "match", "shown")

    def __init__(self, cls: str, low: int, high: int | None, label: Label) -> None:
        self.match = re.compile(f"[{cls}]*+").match
        self.low, self.high, self.label = low, high, label
        self.shown = f"[{cls}]"

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack[-1]
        assert isinstance(frame, LoopFrame)
        text, at = machine.text, machine.at
        most = len(text) if self.high is None else at + self.high - frame.count
        found = self.match(text, at, most)
        stop = found.end() if found else at
        if stop > at:
            start = machine.base + at
            self.label.emit(machine, text[at:stop], start, machine.base + stop)
            machine.at = stop
            frame.count += stop - at
        if stop == len(text) and frame.count != self.high and not machine.ended:
            return None
        if frame.count < self.low:
            if stop == len(text):
                machine.starved = machine.base + stop
            return machine.fail()
        machine.stack.pop()
        return self.next

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        frame = stack[-1] if stack else None
        count = frame.count if isinstance(frame, LoopFrame) else 0
        shown = frozenset([self.shown])
        return shown | self.next.expected(stack[:-1]) if count >= self.low else shown


class SomeStep(Step):
    """Checks that text begins here: at least one character before a delimiter."""

    __slots__ = ("delimiters",)

    def __init__(self, delimiters: Delimiters) -> None:
        self.delimiters = delimiters

    def run(self, machine: Machine) -> Step | None:
        text, at = machine.text, machine.at
        if at == len(text):
            if not machine.ended:
                return None
            machine.starved = machine.base + at
            return machine.fail()
        found = self.delimiters.match(text, at)
        if found is None or (machine.ended and found.group() not in self.delimiters.all):
            return self.next
        return machine.fail() if found.group() in self.delimiters.all else None


class UntilStep(Step):
    """Text up to a delimiter."""

    __slots__ = ("_rest", "delimiters", "label", "then")

    def __init__(self, delimiters: Delimiters, then: re.Pattern[str] | None, label: Label) -> None:
        self.delimiters, self.then, self.label = delimiters, then, label
        self._rest = label.rest(None, delimiters)

    def run(self, machine: Machine) -> Step | None:
        text, at = machine.text, machine.at
        while True:
            found = self.delimiters.find(text, at)
            if found is None:
                return self._take(machine, len(text), machine.ended)
            start, end = found.span()
            if found.group() not in self.delimiters.all:  # the beginning of one, at the end of what is there
                return self._take(machine, len(text) if machine.ended else start, machine.ended)
            legal = self.then.match(text, end) if self.then is not None else found
            if legal is not None:
                sure = self.then is None or machine.ended or legal.group(1)
                return self._take(machine, start, bool(sure))
            if not self._emit(machine, start):
                return machine.fail()
            self.label.overrun(machine, text[start:end], machine.base + start)
            at = end

    def settle(self, machine: Machine) -> None:
        machine.rest = self._rest or self.label.rest(machine, self.delimiters)

    def _take(self, machine: Machine, end: int, done: bool) -> Step | None:
        if not self._emit(machine, end):
            return machine.fail()
        return self.next if done else None

    def _emit(self, machine: Machine, end: int) -> bool:
        at = machine.at
        if end == at:
            return True
        machine.at = end
        return self.label.emit(machine, machine.text[at:end], machine.base + at, machine.base + end)

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return self.next.expected(stack) | {f"until({', '.join(map(repr, sorted(self.delimiters.all)))})"}
