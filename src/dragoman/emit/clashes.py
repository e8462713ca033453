"""Where a lexer would read on past the end of a lexeme, because another that may stand there goes on.

A lexer that takes the longest text never tries a shorter one. So where one lexeme ends, and what follows it can begin
with a character with which another, begun at the same place, goes on, texts of the grammar would be refused. Then the
one that goes on is taken apart. Where more lexemes are thought to meet than do, one may be taken apart for nothing,
but none is left whole that should not be.
"""

from __future__ import annotations

from collections.abc import Iterator

from .flows import BASE, Config, Configs, Flow, Path
from .heads import Ranges, overlap
from .lexemes import Grouping, Terminal, Token
from .lexing import Ended
from .rules import Lexeme

__all__ = ["settle"]

WORK = 50_000
"""Lexemes that may begin at some place, over which calls are no longer told apart, and then sets of lexemes neither."""

ENOUGH = 5_000
"""As many behind which one looks no further, if there are clashes."""

DEPTH = 40
"""Calls in one another over which they are no longer told apart."""

CALL = -1
TOKENS = 0x110000
"""Control tokens count as characters from here on."""


def settle(grouping: Grouping, root: str) -> None:
    """Take lexemes apart until none clash; single characters never do."""
    while True:
        found = _Clashes(grouping, flat=False).find(root)
        found = _Clashes(grouping, flat=True).find(root) if found is None else found
        if not found:
            return
        grouping.split(found)


class _Part:
    """What may come within a call, begun at some configurations, up to its return: the same for all that make it.

    `returns` has what else may still go on within when it returns.
    """

    def __init__(self) -> None:
        self.seen: set[Configs] = set()
        self.callers: set[tuple[_Part, int, tuple[int, str]]] = set()
        self.returns: set[Configs] = set()


class _Clashes:
    """Looks through all sets of lexemes that may begin at one place."""

    def __init__(self, grouping: Grouping, *, flat: bool) -> None:
        self.flow, self.lexer, self.flat = Flow(grouping.rules, grouping.plain, flat), grouping.lexer, flat
        self.begins: list[Ranges] = []
        self.numbers: list[int] = []
        for spot in self.flow.spots:
            match spot.leaf:
                case Terminal(item=item):
                    self.numbers.append(number := self.lexer.number(item))
                    self.begins.append(self.lexer.begins(number))
                case Token(id=token):
                    self.numbers.append(CALL - 1 - token)
                    self.begins.append(((TOKENS + token, TOKENS + token),))
                case _:
                    self.numbers.append(CALL)
                    self.begins.append(())
        self.follows: dict[int, Ranges] = {}
        self.found: dict[tuple[str, Path], int] = {}
        self.parts: dict[Configs, _Part] = {}
        self.pending: list[tuple[_Part, Configs]] = []
        self.work = 0

    def find(self, root: str) -> dict[tuple[str, Path], int] | None:
        """The places of terminals that read on where they should not, and after how many characters if a text does.

        ``None`` if that is too much to tell.
        """
        self.top = _Part()
        self.visit(self.top, self.flow.start(root))
        wide: Configs = frozenset()
        if not any(map(self.lexer.is_long, {number for number in self.numbers if number >= 0})):
            return {}
        while self.pending and not (self.found and self.work > ENOUGH):
            part, configs = self.pending.pop()
            if self.work > WORK:
                if not self.flat:
                    return None
                if configs <= wide:
                    continue
                configs = wide = wide | configs
            if not self.call(part, configs):
                for after, returns in self.lex(configs):
                    self.arrive(part, after, returns)
            if any(len(stack) > DEPTH for _, stack in configs):
                return None
        return self.found

    def visit(self, part: _Part, configs: Configs) -> None:
        if configs and configs not in part.seen:
            part.seen.add(configs)
            self.work += len(configs)
            self.pending.append((part, configs))

    def arrive(self, part: _Part, configs: Configs, returns: bool) -> None:
        """Go on from here; what goes on when a part may return is left to those that called it."""
        if not returns or part is self.top:
            self.visit(part, configs)
        elif configs not in part.returns:
            part.returns.add(configs)
            for caller, call, base in part.callers:
                self.resume(caller, call, base, configs)

    def call(self, part: _Part, configs: Configs) -> bool:
        """Leave what stands within one call to the part for that, if all does."""
        inner = {(stack[0], stack[1][0]) if len(stack) > 1 else None for _, stack in configs}
        way = inner.pop()
        if inner or way is None:
            return False
        base, call = way
        within = frozenset((spot, ((BASE, stack[1][1]), *stack[2:])) for spot, stack in configs)
        known = self.parts.get(within)
        if known is None:
            known = self.parts[within] = _Part()
            self.visit(known, within)
        key = (part, call, base)
        if key not in known.callers:
            known.callers.add(key)
            for rest in tuple(known.returns):
                self.resume(part, call, base, rest)
        return True

    def resume(self, part: _Part, call: int, base: tuple[int, str], rest: Configs) -> None:
        """Go on behind a call that may have returned, or still be at the rest."""
        after, returns = self.flow.returned(call, base)
        within = {(spot, (base, (call, stack[0][1]), *stack[1:])) for spot, stack in rest}
        self.arrive(part, after | within, returns)

    def lex(self, configs: Configs) -> Iterator[tuple[Configs, bool]]:
        """What may be expected behind those of these that a text can end at together."""
        by_number: dict[int, list[Config]] = {}
        for config in configs:
            by_number.setdefault(self.numbers[config[0]], []).append(config)
        for number, found in by_number.items():
            if number < 0:
                yield self.after(found)
        items = frozenset(number for number in by_number if number >= 0)
        ends = self.lexer.ends(items)
        if ends is None:
            for spot, _ in (config for item in items if self.lexer.is_long(item) for config in by_number[item]):
                self.note(spot, 1)
            return
        for ended in ends:
            if ended.going:
                self.compare(ended, by_number)
            yield self.after([config for item in ended.items for config in by_number[item]])

    def after(self, configs: list[Config]) -> tuple[Configs, bool]:
        if len(configs) == 1:
            return self.flow.follow(configs[0])
        found = [self.flow.follow(config) for config in configs]
        return frozenset[Config]().union(*(each for each, _ in found)), any(returns for _, returns in found)

    def compare(self, ended: Ended, by_number: dict[int, list[Config]]) -> None:
        ends = [config for item in ended.items for config in by_number[item]]
        for going in ended.going:
            clashing = [end for end in ends if overlap(going.on, self.followed(end[0]))]
            # Of a lexeme that was declared as one, the longest text is meant.
            declared = isinstance(self.lexer.items[going.item], Lexeme)
            for config in by_number[going.item] if clashing else ():
                if not declared or clashing != [config]:
                    self.note(config[0], going.size)

    def note(self, spot: int, size: int) -> None:
        at = self.flow.spots[spot]
        self.found[at.rule, at.path] = size

    def followed(self, spot: int) -> Ranges:
        """The characters that what follows can begin with."""
        known = self.follows.get(spot)
        if known is None:
            known = tuple({each: None for other in self.flow.behind(spot) for each in self.begins[other]})
            self.follows[spot] = known
        return known
