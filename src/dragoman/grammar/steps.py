"""The steps of the classic vocabulary: literals, classes, choices, repetitions, lookahead, `until`, rules.

A step's `run` reads at the machine's cursor and returns the step that comes next; or the machine's `fail()`; or
``None`` when it must wait for more input, upon which it is run again as soon as there is some. Steps are made by
`program` and hold no state: what belongs to one run is in the machine and its frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..events import ProblemKind, TagEnd
from .frames import NO_CHOICE, Bundle, ChoiceFrame, Known, LoopFrame, ReturnFrame
from .labels import Label
from .tries import Delimiters

if TYPE_CHECKING:
    from .machine import Machine

Guard = Callable[[str, int], object]
"""Finds, at an index of the text, whether something can begin there; ``None`` if not."""

__all__ = [
    "CharsStep",
    "ChoiceStep",
    "CommitStep",
    "CutStep",
    "EndStep",
    "FailStep",
    "GiveUpStep",
    "LastStep",
    "LiteralStep",
    "LoopStep",
    "NextTurnStep",
    "PassStep",
    "PopStep",
    "PushLoopStep",
    "RestStep",
    "ReturnStep",
    "RuleStep",
    "SomeStep",
    "Step",
    "TagEndStep",
    "TrailingStep",
    "TrialStep",
    "UndoStep",
    "UntilStep",
    "WithdrawStep",
]


class Step:
    """One step of a program; `next` is where it leads."""

    __slots__ = ("next",)
    next: Step

    def settle(self, machine: Machine) -> None:
        """The machine waits here and holds nothing: prepare for chunks that need no second look."""

    def run(self, machine: Machine) -> Step | None:
        """Read at the cursor; see the module's head."""
        raise NotImplementedError

    def expected(self) -> frozenset[str]:
        """The terminals that may come here, as in the grammar's EBNF."""
        return self.next.expected()


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

    def expected(self) -> frozenset[str]:
        return frozenset([repr(self.text)])


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
        found = self.match(text, at)
        stop = found.end() if found else at
        if self.high is not None:
            stop = min(stop, at + self.high - frame.count)
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

    def expected(self) -> frozenset[str]:
        shown = frozenset([self.shown])
        return shown | self.next.expected() if self.low == 0 else shown


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
            self.label.overrun(machine, text[start:end], machine.base + start)
            at = end

    def settle(self, machine: Machine) -> None:
        machine.rest = self._rest or self.label.rest(machine, self.delimiters)

    def _take(self, machine: Machine, end: int, done: bool) -> Step | None:
        at = machine.at
        if end > at:
            machine.at = end
            if not self.label.emit(machine, machine.text[at:end], machine.base + at, machine.base + end):
                return machine.fail()
        return self.next if done else None

    def expected(self) -> frozenset[str]:
        return self.next.expected() | {f"until({', '.join(map(repr, sorted(self.delimiters.all)))})"}


class ChoiceStep(Step):
    """Tries its items in order, those at which a look at the text does not rule them out."""

    __slots__ = ("guard", "key", "item", "otherwise")

    def __init__(self, key: int, guard: Guard | None) -> None:
        self.key, self.guard = key, guard
        self.item: Step
        self.otherwise: Step

    def run(self, machine: Machine) -> Step | None:
        text, at = machine.text, machine.at
        step: Step = self
        while isinstance(step, ChoiceStep) and step.guard is not None and step.guard(text, at) is None:
            step = step.otherwise
        if not isinstance(step, ChoiceStep):
            return step
        other = step.otherwise
        while isinstance(other, ChoiceStep) and other.guard is not None and other.guard(text, at) is None:
            other = other.otherwise
        if isinstance(other, LastStep) and other.guard is not None and other.guard(text, at) is None:
            machine.stack.append(NO_CHOICE)
        else:
            machine.choose(step.key, other)
        return step.item

    def expected(self) -> frozenset[str]:
        return self.item.expected() | self.otherwise.expected()


class TrialStep(Step):
    """Begins a lookahead, and remembers where to go if it fails."""

    __slots__ = ("item", "key", "otherwise")

    def __init__(self, key: int) -> None:
        self.key = key
        self.item: Step
        self.otherwise: Step

    def run(self, machine: Machine) -> Step | None:
        machine.choose(self.key, self.otherwise)
        return self.item

    def expected(self) -> frozenset[str]:
        return self.item.expected() | self.otherwise.expected()


class LastStep(Step):
    """The last item of a choice: nothing is left to try after it."""

    __slots__ = ("guard",)

    def __init__(self, guard: Guard | None) -> None:
        self.guard = guard

    def run(self, machine: Machine) -> Step | None:
        return self.next


class WithdrawStep(Step):
    """An alternative has matched: the others are given up."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack.pop()
        if isinstance(frame, ChoiceFrame) and frame.live:
            machine.choices.pop()
        return self.next


class CutStep(Step):
    """The last `width` characters decide the choices of these keys."""

    __slots__ = ("keys", "width")

    def __init__(self, keys: frozenset[int], width: int) -> None:
        self.keys, self.width = keys, width

    def run(self, machine: Machine) -> Step | None:
        if machine.choices:
            machine.decide(self.keys, machine.base + machine.at - self.width)
        return self.next


class CommitStep(Step):
    """All that is open is decided."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        machine.commit()
        return self.next


class UndoStep(Step):
    """The end of a lookahead: back to where it began, successful (`peek`) or not (`negate`)."""

    __slots__ = ("negative",)

    def __init__(self, negative: bool) -> None:
        self.negative = negative

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack.pop()
        assert isinstance(frame, ChoiceFrame)
        machine.choices.pop()
        frame.restore(machine)
        return machine.fail() if self.negative else self.next


class LoopStep(Step):
    """The head of a repetition: one more turn, if it matches."""

    __slots__ = ("body", "guard", "high", "key", "leave", "low")

    def __init__(self, key: int, low: int, high: int | None, guard: Guard | None) -> None:
        self.key, self.low, self.high, self.guard = key, low, high, guard
        self.body: Step
        self.leave: Step

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack[-1]
        assert isinstance(frame, LoopFrame)
        if frame.count == self.high:
            return self.leave
        if frame.count >= self.low and self.guard is not None and self.guard(machine.text, machine.at) is None:
            return self.leave
        frame.position = machine.base + machine.at
        if frame.count >= self.low:
            machine.choose(self.key, self.leave)
        return self.body

    def expected(self) -> frozenset[str]:
        return self.body.expected() | (self.leave.expected() if self.low == 0 else frozenset())


class NextTurnStep(Step):
    """The foot of a repetition: counts the turn; one that read nothing is the last."""

    __slots__ = ("loop",)

    def __init__(self, loop: LoopStep) -> None:
        self.loop = loop

    def run(self, machine: Machine) -> Step | None:
        top = machine.stack[-1]
        if isinstance(top, ChoiceFrame):
            machine.stack.pop()
            if top.live:
                machine.choices.pop()
        frame = machine.stack[-1]
        assert isinstance(frame, LoopFrame)
        frame.count += 1
        if frame.position == machine.base + machine.at:
            return self.loop.leave
        return self.loop

    def expected(self) -> frozenset[str]:
        return frozenset()


class PushLoopStep(Step):
    """Begins to count."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        machine.stack.append(LoopFrame(0, machine.base + machine.at))
        return self.next


class PopStep(Step):
    """Takes the top frame off the stack."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        machine.stack.pop()
        return self.next


class RuleStep(Step):
    """Calls a rule; inside an open choice, what a rule did at a place is remembered and not done twice."""

    __slots__ = ("body", "name", "number", "pure")

    def __init__(self, name: str, number: int, pure: bool) -> None:
        self.name, self.number, self.pure = name, number, pure
        self.body: Step

    def twin(self) -> RuleStep:
        """Another call of the same rule."""
        other = RuleStep(self.name, self.number, self.pure)
        other.body = self.body
        return other

    def run(self, machine: Machine) -> Step | None:
        position = machine.base + machine.at
        if machine.choices and (self.number, position) in machine.memo:
            known = machine.memo[self.number, position]
            if known is None:
                return machine.fail()
            machine.at = known.end - machine.base
            machine.out.append(known.events)
            return self.next
        machine.stack.append(ReturnFrame(self.number if self.pure else -1, self.next, position, len(machine.out)))
        return self.body

    def expected(self) -> frozenset[str]:
        return frozenset([self.name])


class ReturnStep(Step):
    """The end of a rule."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack.pop()
        assert isinstance(frame, ReturnFrame)
        if machine.choices and frame.rule >= 0 and frame.events >= 0:
            events = Bundle(machine.out[frame.events :])
            machine.out[frame.events :] = [events]
            machine.memo[frame.rule, frame.position] = Known(machine.base + machine.at, events)
        return frame.step

    def expected(self) -> frozenset[str]:
        return frozenset()


class TagEndStep(Step):
    """The end of a tag."""

    __slots__ = ("tag",)

    def __init__(self, tag: str) -> None:
        self.tag = tag

    def run(self, machine: Machine) -> Step | None:
        here = machine.base + machine.at
        machine.out.append(TagEnd(self.tag, here, here))
        return self.next


class EndStep(Step):
    """The end of the input."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        if machine.at < len(machine.text):
            return machine.fail()
        return self.next if machine.ended else None

    def expected(self) -> frozenset[str]:
        return frozenset(["end"])


class FailStep(Step):
    """Never matches."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        return machine.fail()

    def expected(self) -> frozenset[str]:
        return frozenset()


class PassStep(Step):
    """Leads on; stands for the body of a rule while that is being compiled."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        return self.next


class TrailingStep(Step):
    """The grammar is through: what still comes is too much."""

    __slots__ = ("trailing",)

    def __init__(self, trailing: Step) -> None:
        self.trailing = trailing

    def run(self, machine: Machine) -> Step | None:
        return self.trailing if machine.at < len(machine.text) else None

    def expected(self) -> frozenset[str]:
        return frozenset(["end"])


class GiveUpStep(Step):
    """Says once that the grammar does not fit; everything from here on is malformed."""

    __slots__ = ("detail", "kind")

    def __init__(self, kind: ProblemKind, detail: str) -> None:
        self.kind, self.detail = kind, detail

    def run(self, machine: Machine) -> Step | None:
        cut = machine.starved >= 0 and self.kind is ProblemKind.MALFORMED
        kind = ProblemKind.INCOMPLETE if cut else self.kind
        machine.problem(kind, "", self.detail)  # the characters follow as they come
        return self.next


class RestStep(Step):
    """Takes everything as malformed."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        machine.give_up()
        return None

    def expected(self) -> frozenset[str]:
        return frozenset()
