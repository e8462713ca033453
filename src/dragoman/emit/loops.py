"""Free text for a parser that pays for recursion on the right: loops on the left, around states text comes back to.

llguidance keeps an item for every turn of a right recursion until it ends, and gives up at two thousand. Text is nearly
always in one state, from which it makes short excursions: into what begins like a word, or a span of code. So what is
an excursion becomes a rule, and text a loop of them; fenced code, whose lines come back to it, is a loop in the loop.
This is the elimination of states by which Kleene (1956) made regular expressions of automata, for these few states.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from .automaton import State, Target, Word
from .book import Book
from .rules import EMPTY, Chars, Expr, Lexeme, Ref, Repeat, chars, choice, joined, sequence

__all__ = ["Loops"]

TEXT = "0"
"""The state between words and code."""


class _Way(Struct, frozen=True):
    """From a state to another (``None``: to the end of the text) that comes through none of those `barred`."""

    state: str
    goal: str | None
    barred: frozenset[str]


class Loops:
    """Writes the states of a text into a book; `ends` may follow any of them, `then` says what follows a word.

    Runs of characters are lexemes, unless they are read `exactly`.
    """

    def __init__(
        self,
        book: Book,
        hint: str,
        states: Mapping[str, State],
        then: Callable[[Word], Expr | None],
        ends: tuple[Expr, ...],
        *,
        exactly: bool = False,
    ) -> None:
        self.exactly = exactly
        self.book, self.hint, self.states, self.then, self.ends = book, hint, states, then, ends
        self.known: dict[object, Ref] = {}
        self.hubs = frozenset(name for name in states if name == TEXT or name.startswith("fence"))

    def whole(self) -> Expr:
        """The text from its beginning on."""
        return self._from(_Way(TEXT, None, frozenset()))

    def _from(self, way: _Way) -> Expr:
        """What leads from a state to the goal: where text comes back to it, as many loops first as one likes."""
        if way.state in self.hubs and way.state != way.goal:
            left = _Way(way.state, way.goal, way.barred | {way.state})
            return sequence(self._loop(way.state, left.barred), self._rule(left))
        return self._rule(way)

    def _loop(self, hub: str, barred: frozenset[str]) -> Ref:
        """Excursions from a hub that come back to it."""
        known = self.known.get((hub, barred))
        if known is None:
            name = self.book.name(f"{self.hint}-{hub}-loop")
            known = self.known[hub, barred] = Ref(name)
            run, edges = self._edges(hub)
            once = [run if self.exactly else Lexeme(Repeat(run, 1))] if run is not None else []
            out = [self._edge(char, to, _Way(hub, hub, barred)) for char, to in edges]
            again = choice(*once, *(each for each in out if each is not None))
            self.book.define(name, choice(EMPTY, sequence(known, again)))
        return known

    def _rule(self, way: _Way) -> Ref:
        known = self.known.get(way)
        if known is None:
            name = self.book.name(f"{self.hint}-{way.state}")
            known = self.known[way] = Ref(name)
            self.book.define(name, self._out(way))
        return known

    def _out(self, way: _Way) -> Expr:
        """The ways out of a state, behind a run of characters that lead back to it."""
        run, edges = self._edges(way.state)
        found = [self._edge(char, to, way) for char, to in edges]
        ways = [each for each in found if each is not None]
        if way.goal is None:
            ways += self.ends
        nowhere = Chars(())
        out = choice(*ways) if ways else nowhere
        if run is None or way.state in way.barred:
            return out
        return sequence(Repeat(run) if self.exactly else Repeat(Lexeme(Repeat(run, 1)), 0, 1), out)

    def _edge(self, char: Chars, to: Target, way: _Way) -> Expr | None:
        if isinstance(to, Word):
            then = self.then(to)
            return sequence(char, then) if way.goal is None and then is not None else None
        if to is None:
            return None
        if to == way.goal:
            return char
        if to in way.barred:
            return None
        if to.isdigit() and not way.state.isdigit():  # behind code: text, from which other code may be begun
            barred = frozenset([TEXT])
            return None if way.goal not in (TEXT, None) else sequence(char, self._from(_Way(to, way.goal, barred)))
        return sequence(char, self._from(_Way(to, way.goal, way.barred)))

    def _edges(self, name: str) -> tuple[Chars | None, list[tuple[Chars, Target]]]:
        """The characters of a run that stays in a state, and the others with where they lead."""
        state = self.states[name]
        special = {c: to for c, to in state.on.items() if to != state.other}
        edges: list[tuple[Chars, Target]] = []
        run: Chars | None = None
        for target in dict.fromkeys((*special.values(), state.other)):
            same = [c for c, to in special.items() if to == target]
            among = _one_of(special, negated=True) if target == state.other else _one_of(same)
            if target != name:
                edges.append((among, target))
                continue
            run, shared = _apart(among, special)
            edges += [(shared, target)] if shared is not None else []
        return run, edges


def _apart(among: Chars, special: Mapping[str, object]) -> tuple[Chars, Chars | None]:
    """The characters of a run, and those that begin with the byte of one that ends it: the lexer reads bytes."""
    blocks = joined([_same_byte(ord(c)) for c in special if not c.isascii()])
    if not among.negated or not blocks:
        return among, None
    ends = sorted(map(ord, special))
    left: list[tuple[int, int]] = []
    for low, high in blocks:
        for end in (each for each in ends if low <= each <= high):
            left += [(low, end - 1)] if low < end else []
            low = end + 1
        left += [(low, high)] if low <= high else []
    return Chars(joined([*among.ranges, *blocks]), True), Chars(joined(left)) if left else None


def _same_byte(code: int) -> tuple[int, int]:
    """The characters whose first byte in UTF-8 is that of this one, which is not ASCII."""
    size = 0x40 if code < 0x800 else 0x1000 if code < 0x10000 else 0x40000
    return max(code - code % size, 0x80), code - code % size + size - 1


def _one_of(characters: list[str] | Mapping[str, object], negated: bool = False) -> Chars:
    return chars("".join(sorted(characters, key=lambda c: (c != "-", c))), negated)
