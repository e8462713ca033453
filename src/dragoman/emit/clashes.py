"""Where a lexer would read on past the end of a lexeme, because another that may stand there goes on.

A lexer that takes the longest text never tries a shorter one. So where one lexeme ends, and what follows it can begin
with a character with which another, begun at the same place, goes on, texts of the grammar would be refused. Then the
one that goes on is taken apart. Where a count or a memory is cut short more lexemes are thought to meet than do, so
that one may be taken apart for nothing, but none is left whole that should not be.
"""

from __future__ import annotations

from collections.abc import Iterator

from .flows import Flow, Path, Places
from .heads import Ranges, overlap
from .lexemes import Grouping, Terminal, Token
from .lexing import Ended
from .rules import Lexeme

__all__ = ["settle"]

SETS = 10_000
"""Sets of lexemes that are told apart; all others are taken for one."""

TOKENS = 0x110000
"""Control tokens count as characters from here on."""


def settle(grouping: Grouping, root: str) -> None:
    """Take lexemes apart until none clash; single characters never do."""
    while places := _Clashes(grouping, root).find():
        grouping.split(places)


class _Clashes:
    """Looks through all sets of lexemes that may begin at one place."""

    def __init__(self, grouping: Grouping, root: str) -> None:
        self.flow, self.lexer = Flow(grouping.rules, grouping.plain, root), grouping.lexer
        self.begins: list[Ranges] = []
        self.numbers: list[int] = []
        for spot in self.flow.spots:
            match spot.leaf:
                case Terminal(item=item):
                    self.numbers.append(number := self.lexer.number(item))
                    self.begins.append(self.lexer.begins(number))
                case Token(id=token):
                    self.numbers.append(-1 - token)
                    self.begins.append(((TOKENS + token, TOKENS + token),))
                case _:
                    self.numbers.append(0)
                    self.begins.append(())
        self.behind: dict[int, Ranges] = {}
        self.found: dict[tuple[str, Path], int] = {}

    def find(self) -> dict[tuple[str, Path], int]:
        """The places of terminals that read on where they should not, and after how many characters if a text does."""
        pending = [self.flow.start]
        known: dict[tuple[frozenset[int], frozenset[int]] | None, Places] = {}
        while pending:
            for after in self.lex(pending.pop()):
                # Where the same may come by the same calls, one need not know by which of the rules that call each other.
                places = list(map(self.flow.where, after))
                numbers = frozenset(self.numbers[spot] for spot, _ in places)
                key = (numbers, frozenset(calls for _, calls in places)) if len(known) < SETS else None
                before = known.get(key, frozenset())
                if not after <= before or key not in known:
                    known[key] = before | after
                    pending.append(known[key])
        return self.found

    def lex(self, expected: Places) -> Iterator[Places]:
        """What may be expected behind those of these places that a text can end at together."""
        flow = self.flow
        by_number: dict[int, list[int]] = {}
        for place in expected:
            by_number.setdefault(self.numbers[flow.where(place)[0]], []).append(place)
        for number, places in by_number.items():
            if number < 0:
                yield frozenset[int]().union(*map(flow.follow, places))
        items = frozenset(number for number in by_number if number >= 0)
        ends = self.lexer.ends(items)
        if ends is None:
            for place in (place for item in items if self.lexer.is_long(item) for place in by_number[item]):
                self.note(place, 1)
            return
        for ended in ends:
            if ended.going:
                self.compare(ended, by_number)
            yield frozenset[int]().union(*(flow.follow(place) for item in ended.items for place in by_number[item]))

    def compare(self, ended: Ended, by_number: dict[int, list[int]]) -> None:
        for going in ended.going:
            declared = isinstance(self.lexer.items[going.item], Lexeme)
            for place in by_number[going.item]:
                # Of a lexeme that was declared as one, the longest text is meant.
                others = (end for item in ended.items for end in by_number[item] if end != place or not declared)
                if any(overlap(going.on, self.follows(end)) for end in others):
                    self.note(place, going.size)

    def note(self, place: int, size: int) -> None:
        spot = self.flow.spot(place)
        self.found[spot.rule, spot.path] = size

    def follows(self, place: int) -> Ranges:
        """The characters that what follows can begin with."""
        known = self.behind.get(place)
        if known is None:
            after = self.flow.follow(place)
            known = tuple({each: None for other in after for each in self.begins[self.flow.where(other)[0]]})
            self.behind[place] = known
        return known
