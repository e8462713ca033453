"""The steps of networks, which the `matcher` takes; `layout` makes them of rules.

A step looks at one character, or leads on without one. Networks call each other; what a network keeps in mind while it
runs is one number (a count, the members seen, how far a word is spelled). Each step knows with which characters it can
go on, so that nothing is tried that the next character rules out, and nothing is begun that can't end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from .rules import AnyOrder, Chars, Scan, Text
from .scanning import Scanner

if TYPE_CHECKING:
    from .matcher import Call, Place

__all__ = ["Char", "Enter", "Fork", "Loop", "Member", "Network", "Next", "Order", "Return", "Search", "Step", "Turn"]


class Step(ABC):
    """Part of a network. `first` are the characters with which it can go on; all where it can end without one."""

    __slots__ = ("alive", "chars", "empty", "first")

    def __init__(self) -> None:
        self.alive, self.empty, self.chars, self.first = False, False, 0, 0

    @abstractmethod
    def lives(self) -> bool:
        """Whether the network can end from here."""

    @abstractmethod
    def starts(self) -> tuple[int, bool]:
        """The characters that can come first, and whether the network can end without one."""

    @abstractmethod
    def run(self, place: Place, call: Call, number: int) -> None:
        """Go on at this place in the text."""


class Network:
    """What a call runs: its steps from `start` on, in which the number is 0 at first."""

    __slots__ = ("start",)

    def __init__(self) -> None:
        self.start: Step


class Return(Step):
    """The network is through."""

    __slots__ = ()

    def lives(self) -> bool:
        return True

    def starts(self) -> tuple[int, bool]:
        return 0, True

    def run(self, place: Place, call: Call, number: int) -> None:
        place.leave(call)


class Char(Step):
    """One character; `part` is what the rules say, `at` where in it."""

    __slots__ = ("at", "mask", "next", "part")

    def __init__(self, mask: int, then: Step, part: Text | Chars, at: int = 0) -> None:
        super().__init__()
        self.mask, self.next, self.part, self.at = mask, then, part, at

    def lives(self) -> bool:
        return self.mask != 0 and self.next.alive

    def starts(self) -> tuple[int, bool]:
        return self.mask, False

    def run(self, place: Place, call: Call, number: int) -> None:
        place.read(self, self.next, call, number)

    def __str__(self) -> str:
        if isinstance(self.part, Text):
            return repr(self.part.text[self.at :])
        ranges = "".join(_shown(low, high) for low, high in self.part.ranges)
        return f"[{'^' if self.part.negated else ''}{ranges}]"


def _shown(low: int, high: int) -> str:
    first, last = repr(chr(low))[1:-1], repr(chr(high))[1:-1]
    return first if low == high else f"{first}-{last}"


class Fork(Step):
    """Any of these."""

    __slots__ = ("options",)

    def __init__(self, options: tuple[Step, ...] = ()) -> None:
        super().__init__()
        self.options = options

    def lives(self) -> bool:
        return any(option.alive for option in self.options)

    def starts(self) -> tuple[int, bool]:
        chars, empty = 0, False
        for option in self.options:
            chars, empty = chars | option.chars, empty or option.empty
        return chars, empty

    def run(self, place: Place, call: Call, number: int) -> None:
        for option in self.options:
            place.add(option, call, number)


class Enter(Step):
    """Another network, then on."""

    __slots__ = ("network", "next")

    def __init__(self, network: Network, then: Step) -> None:
        super().__init__()
        self.network, self.next = network, then

    def lives(self) -> bool:
        return self.network.start.alive and self.next.alive

    def starts(self) -> tuple[int, bool]:
        start = self.network.start
        return (start.chars | self.next.chars, self.next.empty) if start.empty else (start.chars, False)

    def run(self, place: Place, call: Call, number: int) -> None:
        place.enter(self.network, self.next, call, number)


class Loop(Step):
    """The head of a counted repetition; the number is the count."""

    __slots__ = ("back", "body", "high", "low")

    def __init__(self, low: int, high: int | None, back: Return) -> None:
        super().__init__()
        self.low, self.high, self.back = low, high, back
        self.body: Step

    def lives(self) -> bool:
        return self.low == 0 or self.body.alive

    def starts(self) -> tuple[int, bool]:
        return self.body.chars, self.low == 0 or self.body.empty

    def run(self, place: Place, call: Call, number: int) -> None:
        if number >= self.low:
            place.add(self.back, call, 0)
        if self.high is None or number < self.high:
            place.add(self.body, call, number)


class Turn(Step):
    """The foot of a counted repetition."""

    __slots__ = ("loop",)

    def __init__(self, loop: Loop) -> None:
        super().__init__()
        self.loop = loop

    def lives(self) -> bool:
        return True

    def starts(self) -> tuple[int, bool]:
        return self.loop.body.chars, True

    def run(self, place: Place, call: Call, number: int) -> None:
        self.loop.run(place, call, number + 1 if self.loop.high is not None else min(number + 1, self.loop.low))


class Order(Step):
    """The head of members in any order; the number has a bit for each one seen, and the last for `extra`."""

    __slots__ = ("_options", "back", "between", "items", "part", "required")

    def __init__(self, part: AnyOrder, back: Return) -> None:
        super().__init__()
        self.part, self.back = part, back
        self.required = sum(1 << k for k, member in enumerate(part.members) if member.required)
        self._options: dict[int, tuple[Step, ...]] = {}
        self.items: list[Step] = []
        self.between: Step

    def lives(self) -> bool:
        return all(self.items[k].alive for k, member in enumerate(self.part.members) if member.required)

    def starts(self) -> tuple[int, bool]:
        chars, empty = 0, not self.required
        for item in self.items:
            chars, empty = chars | item.chars, empty or item.empty
        return chars, empty

    def run(self, place: Place, call: Call, number: int) -> None:
        if not self.required:
            place.add(self.back, call, 0)
        self.go_on(place, call, 0)

    def go_on(self, place: Place, call: Call, seen: int) -> None:
        """Any member that may come now."""
        for option in self.options(seen):
            place.add(option, call, seen)

    def options(self, seen: int) -> tuple[Step, ...]:
        """The members that may come when these have been seen."""
        found = self._options.get(seen)
        if found is None:
            allowed = (k for k in range(len(self.items)) if self._may_come(k, seen))
            found = self._options[seen] = tuple(self.items[k] for k in allowed if self.items[k].alive)
        return found

    def _may_come(self, k: int, seen: int) -> bool:
        if k < len(self.part.members) and seen >> k & 1:
            return False
        earlier = self.required & ((1 << k) - 1)
        return not self.part.declared or (not seen >> (k + 1) and earlier & ~seen == 0)


class Member(Step):
    """The end of one of those members."""

    __slots__ = ("bit", "order")

    def __init__(self, order: Order, k: int) -> None:
        super().__init__()
        self.order, self.bit = order, 1 << k

    def lives(self) -> bool:
        return True

    def starts(self) -> tuple[int, bool]:
        return 0, True

    def run(self, place: Place, call: Call, number: int) -> None:
        seen = number | self.bit
        if not self.order.required & ~seen:
            place.add(self.order.back, call, 0)
        if self.order.options(seen):
            place.add(self.order.between, call, seen)


class Next(Step):
    """Behind what stands between two members."""

    __slots__ = ("order",)

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order

    def lives(self) -> bool:
        return any(item.alive for item in self.order.items)

    def starts(self) -> tuple[int, bool]:
        chars, empty = 0, False
        for item in self.order.items:
            chars, empty = chars | item.chars, empty or item.empty
        return chars, empty

    def run(self, place: Place, call: Call, number: int) -> None:
        self.order.go_on(place, call, number)


class Search(Step):
    """Text up to a word; the number is the state of the `Scanner`."""

    __slots__ = ("any", "back", "open", "scanner", "then", "words")

    def __init__(self, part: Scan, then: tuple[Step | None, ...], back: Return, chars: int) -> None:
        super().__init__()
        self.scanner = Scanner(part)
        self.words, self.then, self.open, self.back, self.any = part.words, then, part.open, back, chars

    def lives(self) -> bool:
        return self.open or any(step is not None and step.alive and self._comes(k) for k, step in enumerate(self.then))

    def _comes(self, k: int) -> bool:
        """Whether no other word ends inside this one."""
        word = self.words[k][0]
        return self.scanner.read(0, word) == (-1 - k, len(word))

    def starts(self) -> tuple[int, bool]:
        return self.any, self.open

    def run(self, place: Place, call: Call, number: int) -> None:
        if self.open:
            place.add(self.back, call, 0)
        if not place.char:
            place.show(self)
            return
        state = self.scanner.move(number, place.char)
        if state >= 0:
            place.keep(self, call, state)
        else:
            then = self.then[-1 - state]
            if then is not None and then.alive:
                place.keep(then, call, 0)

    def __str__(self) -> str:
        return f"text up to {' or '.join(repr(word) for word, then in self.words if then is not None) or 'the end'}"
