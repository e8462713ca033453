"""The steps that decide where to go on: choices and their ends, repetition, lookahead, rules, the end of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..events import ProblemKind, TagEnd
from .frames import NOWHERE, Bundle, ChoiceFrame, Frame, Known, LoopFrame, ReturnFrame
from .steps import Guard, Step

if TYPE_CHECKING:
    from .machine import Machine

ENDED_WELL = frozenset(["stop", "tool_calls"])
"""Engines' reasons which say that the model itself ended its output."""

__all__ = [
    "ENDED_WELL",
    "ChoiceStep",
    "CommitStep",
    "CutStep",
    "EndStep",
    "FailStep",
    "GiveUpStep",
    "LoopStep",
    "NextTurnStep",
    "PassStep",
    "PopStep",
    "PushLoopStep",
    "RestStep",
    "ReturnStep",
    "RuleStep",
    "TagEndStep",
    "TrailingStep",
    "TrialStep",
    "UndoStep",
    "WithdrawStep",
]


class ChoiceStep(Step):
    """Tries its items in order, those at which a look at the text does not rule them out."""

    __slots__ = ("guard", "item", "key", "otherwise")

    def __init__(self, key: int, guard: Guard | None) -> None:
        self.key, self.guard = key, guard
        self.item: Step
        self.otherwise: Step

    def run(self, machine: Machine) -> Step | None:
        step = _open(self, machine)
        if not isinstance(step, ChoiceStep):
            return step
        # Even if nothing else can match: whether that is seen yet depends on the chunk, what is published must not.
        machine.choose(step.key, _open(step.otherwise, machine))
        return step.item

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return self.item.expected(stack) | self.otherwise.expected(stack)


def _open(step: Step, machine: Machine) -> Step:
    """The first of the items from here on that is not ruled out, or the last."""
    while isinstance(step, ChoiceStep) and step.guard is not None and not step.guard.lets(machine):
        step = step.otherwise
    return step


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

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return self.item.expected(stack) | self.otherwise.expected(stack)


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
        if frame.count >= self.low and self.guard is not None and not self.guard.lets(machine):
            return self.leave
        frame.position = machine.base + machine.at
        if frame.count >= self.low:
            machine.choose(self.key, self.leave)
        return self.body

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return self.body.expected(stack) | (self.leave.expected(stack) if self.low == 0 else frozenset())


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

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return self.loop.leave.expected(stack)


class PushLoopStep(Step):
    """Begins to count."""

    __slots__ = ()

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return self.next.expected((*stack, LoopFrame(0, -1)))

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

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return self.body.expected((*stack, ReturnFrame(-1, self.next, -1, -1)))


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

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        for k in range(len(stack) - 1, -1, -1):
            frame = stack[k]
            if isinstance(frame, ReturnFrame):
                return frame.step.expected(stack[:k])
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
    """The end of the input; with `stopped`, one that the model itself has chosen."""

    __slots__ = ("stopped",)

    def __init__(self, stopped: bool) -> None:
        self.stopped = stopped

    def run(self, machine: Machine) -> Step | None:
        if machine.at < len(machine.text):
            return machine.fail()
        if not machine.ended:
            return None
        if self.stopped and machine.reason not in ENDED_WELL:
            machine.starved = machine.base + machine.at
            return machine.fail()
        return self.next

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset(["end"])


class FailStep(Step):
    """Never matches."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        return machine.fail()

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
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

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset(["end"])


class GiveUpStep(Step):
    """Says once that the grammar does not fit; everything from here on is malformed."""

    __slots__ = ("detail", "kind")

    def __init__(self, kind: ProblemKind, detail: str) -> None:
        self.kind, self.detail = kind, detail

    def run(self, machine: Machine) -> Step | None:
        cut = machine.starved > NOWHERE and self.kind is ProblemKind.MALFORMED
        kind = ProblemKind.INCOMPLETE if cut else self.kind
        machine.problem(kind, "", self.detail)  # the characters follow as they come
        return self.next


class RestStep(Step):
    """Takes everything as malformed."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        machine.give_up()
        return None

    def expected(self, stack: Sequence[Frame]) -> frozenset[str]:
        return frozenset()
