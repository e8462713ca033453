"""Rules laid out as networks of steps for the `matcher`: one network for each rule, scan, set of members and count."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from .network import Char, Enter, Fork, Loop, Member, Network, Next, Order, Return, Search, Step, Turn
from .rules import AnyOrder, Chars, Choice, Expr, Lexeme, Ref, Repeat, Rules, Scan, Sequence, Text

__all__ = ["Alphabet", "Layout"]


class Alphabet:
    """Characters sorted into classes that no part of the rules tells apart; sets of classes are numbers, bit by bit."""

    def __init__(self, rules: Rules) -> None:
        edges = {0}
        for part in rules.walk():
            match part:
                case Text(text=text):
                    edges.update(edge for code in map(ord, text) for edge in (code, code + 1))
                case Chars(ranges=ranges):
                    edges.update(edge for low, high in ranges for edge in (low, high + 1))
        self._edges = sorted(edges)
        self.end = 1 << len(self._edges)
        """The end of the input, as if it were a character."""
        self.chars = self.end - 1
        self.all = self.chars | self.end
        self._known: dict[str, int] = {}

    def bit(self, char: str) -> int:
        """The class of a character."""
        bit = self._known.get(char)
        if bit is None:
            bit = self._known[char] = 1 << (bisect_right(self._edges, ord(char)) - 1)
        return bit

    def set_of(self, part: Chars) -> int:
        """The classes of a class of the rules."""
        found = 0
        for low, high in part.ranges:
            found |= (1 << bisect_left(self._edges, high + 1)) - (1 << bisect_left(self._edges, low))
        return self.chars & ~found if part.negated else found


class Layout:
    """All networks of a set of rules; `root` is the first."""

    def __init__(self, rules: Rules) -> None:
        self.alphabet = Alphabet(rules)
        self.back = Return()
        self._steps: list[Step] = [self.back]
        self._rules = rules
        self._named: dict[str, Network] = {}
        self._special: dict[Expr, Network] = {}
        self._pending: list[tuple[Network, Expr]] = []
        self.root = self._rule(rules.root)
        while self._pending:
            network, expr = self._pending.pop()
            network.start = self._network(expr)
        self._settle()

    def _settle(self) -> None:
        """Tell each step what can become of it: what lives first, then how that can begin."""
        changed = True
        while changed:
            changed = False
            for step in self._steps:
                if not step.alive and step.lives():
                    step.alive = changed = True
        living = [step for step in self._steps if step.alive]
        changed = True
        while changed:
            changed = False
            for step in living:
                found = step.starts()
                if found != (step.chars, step.empty):
                    step.chars, step.empty = found
                    changed = True
        for step in living:
            step.first = self.alphabet.all if step.empty else step.chars

    def _kept(self, step: Step) -> Step:
        self._steps.append(step)
        return step

    def _rule(self, name: str) -> Network:
        if name not in self._named:
            self._named[name] = Network()
            self._pending.append((self._named[name], self._rules.rules[name]))
        return self._named[name]

    def _own(self, expr: Expr) -> Network:
        """The network of a part that has a number of its own to keep."""
        if expr not in self._special:
            self._special[expr] = Network()
            self._pending.append((self._special[expr], expr))
        return self._special[expr]

    def _network(self, expr: Expr) -> Step:
        match expr:
            case Repeat() if not _plain(expr):
                return self._loop(expr)
            case AnyOrder():
                return self._order(expr)
            case Scan(words=words):
                then = tuple(None if goes_on is None else self.lay(goes_on, self.back) for _, goes_on in words)
                return self._kept(Search(expr, then, self.back, self.alphabet.chars))
            case _:
                return self.lay(expr, self.back)

    def lay(self, expr: Expr, then: Step) -> Step:
        """The first step of a part, from which it leads to `then`."""
        match expr:
            case Text():
                return self._text(expr, then)
            case Chars():
                return self._kept(Char(self.alphabet.set_of(expr), then, expr))
            case Sequence(items=items):
                for item in reversed(items):
                    then = self.lay(item, then)
                return then
            case Choice(items=items):
                return self._kept(Fork(tuple(self.lay(item, then) for item in items)))
            case Lexeme(item=item):
                return self.lay(item, then)
            case Ref(name=name):
                return self._kept(Enter(self._rule(name), then))
            case Repeat() if _plain(expr):
                return self._repeat(expr, then)
            case Repeat() | AnyOrder() | Scan():
                return self._kept(Enter(self._own(expr), then))
            case _:
                raise TypeError(f"not a part of a rule: {expr!r}")

    def _text(self, part: Text, then: Step) -> Step:
        for k in reversed(range(len(part.text))):
            then = self._kept(Char(self.alphabet.bit(part.text[k]), then, part, k))
        return then

    def _repeat(self, part: Repeat, then: Step) -> Step:
        if part.high == 1:
            return self._kept(Fork((self.lay(part.item, then), then)))
        again = Fork()
        body = self.lay(part.item, again)
        again.options = (body, then)
        self._kept(again)
        return body if part.low else again

    def _loop(self, part: Repeat) -> Step:
        loop = Loop(part.low, part.high, self.back)
        loop.body = self.lay(part.item, self._kept(Turn(loop)))
        return self._kept(loop)

    def _order(self, part: AnyOrder) -> Step:
        order = Order(part, self.back)
        order.items = list(self._members(order))
        order.between = self.lay(part.between, self._kept(Next(order)))
        return self._kept(order)

    def _members(self, order: Order) -> Iterator[Step]:
        items = [member.item for member in order.part.members]
        if order.part.extra is not None:
            items.append(order.part.extra)
        for k, item in enumerate(items):
            yield self.lay(item, self._kept(Member(order, k)))


def _plain(part: Repeat) -> bool:
    """Whether it is one of ``?``, ``*`` and ``+``, which need no count."""
    return (part.low < 2 and part.high is None) or (part.low, part.high) == (0, 1)
