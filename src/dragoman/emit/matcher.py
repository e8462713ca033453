"""The reference matcher: does a text satisfy a constraint, and if not, where does it fail?

It reads rules by their definition in `rules`: `Scan` and `AnyOrder` directly, all else as a context-free grammar, by
Earley's method (Earley 1970) over the networks of `network`, whatever recursion is in them. Rules that end with a call
of another, as in a list that is written as a rule, cost nothing by their depth (as in Leo 1991). What all engines let
through is compared with it, and it tells users whether an output would have passed. A marker is its characters here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from .layout import Layout
from .network import Network, Return, Step
from .rules import Rules

__all__ = ["Call", "Fault", "Matcher", "Place", "matches", "prefix_of"]

_Item: TypeAlias = "tuple[Step, Call, int]"


class Fault(Struct, frozen=True):
    """Where a text first differs from what the rules allow: the index, and all that could have stood there.

    Where the text is too short, the index is its length. ``end`` stands for the end of the text.
    """

    at: int
    expected: tuple[str, ...]

    def __str__(self) -> str:
        return f"at {self.at}: expected {' or '.join(self.expected) or 'nothing'}"


class Matcher:
    """Rules, ready to be matched; building it is linear in their size, but for recursion."""

    def __init__(self, rules: Rules) -> None:
        self._layout = Layout(rules)
        self._root = Call(-1)

    def matches(self, text: str) -> bool:
        """Whether the whole text satisfies the rules."""
        at, items = self._read(text)
        return at == len(text) and self._place(items, at, self._layout.alphabet.end).accepted

    def prefix_of(self, text: str) -> int:
        """How many characters of the text begin something that satisfies the rules; ``-1`` where nothing does."""
        at, items = self._read(text)
        return at if items else -1

    def fault(self, text: str) -> Fault | None:
        """Where the text fails and what could have come there, or ``None`` if it satisfies the rules."""
        at, items = self._read(text)
        if at == len(text) and self._place(items, at, self._layout.alphabet.end).accepted:
            return None
        place = self._place(items, at, self._layout.alphabet.all)
        return Fault(at, (*sorted(place.shown), *(("end",) if place.accepted else ())))

    def _read(self, text: str) -> tuple[int, Iterable[_Item]]:
        """How far the text can be read, and what is open there."""
        start = self._layout.root.start
        items: dict[_Item, None] = {}
        if start.alive:
            items[start, self._root, 0] = None
        for at, char in enumerate(text):
            after = self._place(items, at, self._layout.alphabet.bit(char), char).kept
            if not after:
                return at, items
            items = after
        return len(text), items

    def _place(self, items: Iterable[_Item], at: int, bit: int, char: str = "") -> Place:
        place = Place(at, bit, char)
        for step, call, number in items:
            place.add(step, call, number)
        for step, call, number in place.items:
            step.run(place, call, number)
        return place


class Call:
    """One run of a network, begun at a place; `waiters` go on when it is through, the text's end if there are none."""

    __slots__ = ("_lasting", "at", "empty", "waiters")

    def __init__(self, at: int) -> None:
        self.at = at
        self.empty = False  # can it be through where it begins?
        self.waiters: dict[_Item, None] = {}
        self._lasting: dict[_Item, None] | None = None

    def lasting(self) -> dict[_Item, None]:
        """The waiters, and in place of those that would only return, the ones that wait for them.

        To be asked when the place is done at which the call began.
        """
        if self._lasting is None:
            found: dict[_Item, None] = {}
            seen: set[Call] = {self}
            pending = [self]
            while pending:
                for item in pending.pop().waiters:
                    step, call, _ = item
                    if not isinstance(step, Return) or not call.waiters:
                        found[item] = None
                    elif call not in seen:
                        seen.add(call)
                        pending.append(call)
            self._lasting = found
        return self._lasting


class Place:
    """All that is going on at one place in the text, of what the next character (by its class) does not rule out."""

    __slots__ = ("_calls", "_seen", "accepted", "at", "bit", "char", "items", "kept", "shown")

    def __init__(self, at: int, bit: int, char: str) -> None:
        self.at, self.bit, self.char = at, bit, char
        self.items: list[_Item] = []  # grows while it is worked through
        self.kept: dict[_Item, None] = {}
        """What is open behind the character."""
        self.shown: set[str] = set()
        """What could come here, if there is no character."""
        self.accepted = False
        """Whether the text may end here."""
        self._seen: set[_Item] = set()
        self._calls: dict[Network, Call] = {}

    def add(self, step: Step, call: Call, number: int) -> None:
        """Go on with this step, if the next character lets it."""
        item = (step, call, number)
        if step.first & self.bit and item not in self._seen:
            self._seen.add(item)
            self.items.append(item)

    def read(self, step: Step, then: Step, call: Call, number: int) -> None:
        """The step takes the character."""
        if self.char:
            self.kept[then, call, number] = None
        else:
            self.show(step)

    def keep(self, step: Step, call: Call, number: int) -> None:
        """Go on with this step behind the character."""
        self.kept[step, call, number] = None

    def show(self, step: Step) -> None:
        """The step waits for a character."""
        self.shown.add(str(step))

    def enter(self, network: Network, then: Step, call: Call, number: int) -> None:
        """Call a network; one call is made of all that begin here."""
        waiters: Iterable[_Item] = ((then, call, number),)
        if isinstance(then, Return) and call.waiters and call.at < self.at:
            waiters = call.lasting()
        known = self._calls.get(network)
        if known is None:
            known = self._calls[network] = Call(self.at)
            self.add(network.start, known, 0)
        for waiter in waiters:
            if waiter not in known.waiters:
                known.waiters[waiter] = None
                if known.empty:
                    self.add(*waiter)

    def leave(self, call: Call) -> None:
        """A call is through."""
        if call.at == self.at:
            call.empty = True
        for waiter in call.waiters:
            self.add(*waiter)
        self.accepted = self.accepted or not call.waiters


def matches(rules: Rules, text: str) -> bool:
    """Whether the whole text satisfies the rules."""
    return Matcher(rules).matches(text)


def prefix_of(rules: Rules, text: str) -> int:
    """How many characters of the text begin something that satisfies the rules; ``-1`` where nothing does."""
    return Matcher(rules).prefix_of(text)
