"""The steps of the classic vocabulary: literals, classes, choices, repetitions, lookahead, `until`, rules.

A step's `run` reads at the machine's cursor and returns the step that comes next; or the machine's `fail()`; or
``None`` when it must wait for more input, upon which it is run again as soon as there is some. Steps are made by
`program` and hold no state: what belongs to one run is in the machine and its frames.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..events import ProblemKind, TagEnd
from .frames import ChoiceFrame, LoopFrame, ReturnFrame
from .labels import Label
from .tries import delimiter_pattern

if TYPE_CHECKING:
    from .machine import Fast, Machine

__all__ = [
    "CharsStep",
    "ChoiceStep",
    "CommitStep",
    "CutStep",
    "EndStep",
    "FailStep",
    "GiveUpStep",
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
    "UndoStep",
    "UntilStep",
    "WithdrawStep",
    "marks_and_tails",
]


class Step:
    """One step of a program; `next` is where it leads."""

    __slots__ = ("next",)
    fast: Fast | None = None

    next: Step

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

    __slots__ = ("delimiters", "match")

    def __init__(self, delimiters: tuple[str, ...]) -> None:
        self.delimiters = frozenset(delimiters)
        self.match = re.compile(delimiter_pattern(delimiters)).match if delimiters else None

    def run(self, machine: Machine) -> Step | None:
        text, at = machine.text, machine.at
        if at == len(text):
            if not machine.ended:
                return None
            machine.starved = machine.base + at
            return machine.fail()
        found = self.match(text, at) if self.match is not None else None
        if found is None or (machine.ended and found.group() not in self.delimiters):
            return self.next
        return machine.fail() if found.group() in self.delimiters else None


class UntilStep(Step):
    """Text up to a delimiter."""

    __slots__ = ("delimiters", "fast", "label", "search", "then")

    def __init__(self, delimiters: tuple[str, ...], then: re.Pattern[str] | None, label: Label) -> None:
        self.delimiters = frozenset(delimiters)
        self.then, self.label = then, label
        self.search = re.compile(delimiter_pattern(delimiters)).search if delimiters else None
        self.fast = label.fast_text(*marks_and_tails(delimiters))

    def run(self, machine: Machine) -> Step | None:
        text, at = machine.text, machine.at
        while True:
            found = self.search(text, at) if self.search is not None else None
            if found is None:
                return self._take(machine, len(text), machine.ended)
            start, end = found.span()
            if found.group() not in self.delimiters:  # the beginning of one, at the end of what is there
                return self._take(machine, len(text) if machine.ended else start, machine.ended)
            if self.then is not None:
                legal = self.then.match(text, end)
                if legal is None:
                    self.label.overrun(machine, text[start:end], machine.base + start)
                    self._take(machine, end, True)
                    at = end
                    continue
                if not legal.group(1) and not machine.ended:
                    return self._take(machine, start, False)
            return self._take(machine, start, True)

    def _take(self, machine: Machine, end: int, done: bool) -> Step | None:
        at = machine.at
        if end > at:
            machine.at = end
            if not self.label.emit(machine, machine.text[at:end], machine.base + at, machine.base + end):
                return machine.fail()
        return self.next if done else None

    def expected(self) -> frozenset[str]:
        return self.next.expected() | {f"until({', '.join(map(repr, sorted(self.delimiters)))})"}


def marks_and_tails(delimiters: tuple[str, ...]) -> tuple[str, str]:
    """Two sets of characters: text that holds none of the first and does not end in one of the second is free of
    delimiters and of beginnings of them."""
    suffixed = {d[0] for d in delimiters if d[1:] in delimiters}
    plain = {d[0] for d in delimiters if d[1:] not in delimiters}
    return "".join(sorted(plain)), "".join(sorted(suffixed - plain))


class ChoiceStep(Step):
    """Tries one alternative, and remembers the next."""

    __slots__ = ("first", "key", "otherwise")

    def __init__(self, key: int) -> None:
        self.key = key
        self.first: Step
        self.otherwise: Step

    def run(self, machine: Machine) -> Step | None:
        machine.choose(self.key, self.otherwise)
        return self.first

    def expected(self) -> frozenset[str]:
        return self.first.expected() | self.otherwise.expected()


class WithdrawStep(Step):
    """An alternative has matched: the others are given up."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack.pop()
        assert isinstance(frame, ChoiceFrame)
        if frame.live:
            machine.choices.pop()
        return self.next


class CutStep(Step):
    """What has just been read decides the choices of these keys."""

    __slots__ = ("keys",)

    def __init__(self, keys: frozenset[int]) -> None:
        self.keys = keys

    def run(self, machine: Machine) -> Step | None:
        if machine.choices:
            machine.decide(self.keys)
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

    __slots__ = ("body", "high", "key", "leave", "low")

    def __init__(self, key: int, low: int, high: int | None) -> None:
        self.key, self.low, self.high = key, low, high
        self.body: Step
        self.leave: Step

    def run(self, machine: Machine) -> Step | None:
        frame = machine.stack[-1]
        assert isinstance(frame, LoopFrame)
        if frame.count == self.high:
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
            machine.at = known[0] - machine.base
            machine.out.extend(known[1])
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
            events = tuple(machine.out[frame.events :])
            machine.memo[frame.rule, frame.position] = (machine.base + machine.at, events)
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
        kind = ProblemKind.INCOMPLETE if machine.ended and machine.starved >= 0 else self.kind
        machine.problem(kind, machine.text[machine.at :], self.detail)
        return self.next


class RestStep(Step):
    """Takes everything as malformed."""

    __slots__ = ()

    def run(self, machine: Machine) -> Step | None:
        machine.give_up()
        return None

    def expected(self) -> frozenset[str]:
        return frozenset()
