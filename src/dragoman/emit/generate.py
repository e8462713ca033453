"""Writes sentences of a constraint at random, to try readers and engines with.

Sentences favour what goes wrong: counts at their bounds, characters at the edges of classes, and in free text
beginnings of markers, markers with a fault, and Markdown code. Chance is passed in, as a function that draws a number.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TypeAlias, TypeVar

from ..errors import GrammarError
from .rules import AnyOrder, Chars, Choice, Expr, Lexeme, Ref, Repeat, Rules, Scan, Sequence, Text
from .scanning import Scanner

__all__ = ["Draw", "Generator", "generate"]

Draw: TypeAlias = Callable[[int], int]
"""A number from 0 up to, not including, the given one; as `random.Random.randrange`."""

_T = TypeVar("_T")

_LIKED = " \n\t\"\\'`aZ09_-<>{}[]|,:/é日🙂\u2028"
_PIECES = (" ", "\n", "word", "a < b", "`", "``", "```\n", "\n```\n", "`x`", '"', "\\", "é日🙂", "\t")
_TRIES = 4
_EXITS = ("", "", "\n", "\n```\n", "\n`````\n")
"""What may end code before a marker."""


def generate(rules: Rules, draw: Draw, *, size: int = 200) -> str:
    """A sentence of these rules; beyond `size` characters and choices it is brought to its shortest end.

    Raises `GrammarError` if nothing satisfies them.
    """
    return Generator(rules).sentence(draw, size=size)


class Generator:
    """Rules, ready to be written by."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules.rules
        self._root = Ref(rules.root)
        texts = (part.text for part in rules.walk() if isinstance(part, Text) and part.text)
        self._texts = tuple(dict.fromkeys(texts))
        self._liked = "".join(dict.fromkeys(_LIKED + "".join(self._texts)))
        self._scanners: dict[Scan, Scanner] = {}
        self._chars: dict[Chars, str] = {}
        self._costs: dict[Expr, float] = {}
        self._least = dict.fromkeys(rules.rules, inf)
        while True:
            self._costs.clear()
            least = {name: self._cost(part) for name, part in rules.rules.items()}
            if least == self._least:
                break
            self._least = least
        if self._cost(self._root) == inf:
            raise GrammarError(f"rule {rules.root!r}", "nothing satisfies it", "give its recursion an end")

    def sentence(self, draw: Draw, *, size: int = 200) -> str:
        """One sentence; see `generate`."""
        return _Sentence(self, draw, size).text()

    def rule(self, name: str) -> Expr:
        """The rule of that name."""
        return self._rules[name]

    @property
    def root(self) -> Ref:
        """The root's name."""
        return self._root

    def cost(self, part: Expr) -> float:
        """The least that writing a part takes, in characters and references; infinite where nothing satisfies it."""
        found = self._costs.get(part)
        if found is None:
            found = self._costs[part] = self._cost(part)
        return found

    def _cost(self, part: Expr) -> float:
        match part:
            case Text(text=text):
                return len(text)
            case Chars():
                return 1 if self.chars(part) else inf
            case Sequence(items=items):
                return sum(map(self.cost, items))
            case Choice(items=items):
                return min(map(self.cost, items), default=inf)
            case Repeat(item=item, low=low):
                return low * self.cost(item) if low else 0
            case Lexeme(item=item):
                return self.cost(item)
            case Ref(name=name):
                return 1 + self._least[name]
            case Scan():
                words = self.words(part)
                return 0 if part.open else min((len(word) + self.cost(then) for word, then in words), default=inf)
            case AnyOrder(members=members, between=between):
                needed = [self.cost(member.item) for member in members if member.required]
                return sum(needed) + (self.cost(between) * (len(needed) - 1) if len(needed) > 1 else 0)
            case _:
                raise TypeError(f"not a part of a rule: {part!r}")

    def chars(self, part: Chars) -> str:
        """Some characters of a class: those that are liked, and its edges; none that UTF-8 can't write."""
        found = self._chars.get(part)
        if found is None:
            edges = (code for low, high in part.ranges for code in (low - 1, low, high, high + 1))
            near = (chr(code) for code in edges if 0 < code < 0xD800 or 0xDFFF < code < 0x110000)
            found = "".join(char for char in dict.fromkeys((*self._liked, *near)) if _in(part, char))
            self._chars[part] = found
        return found

    def scanner(self, part: Scan) -> Scanner:
        """What reads the text of a scan."""
        if part not in self._scanners:
            self._scanners[part] = Scanner(part)
        return self._scanners[part]

    def words(self, part: Scan) -> list[tuple[str, Expr]]:
        """The words that may come and in which no other ends, with what goes on from them."""
        read = self.scanner(part).read
        words = ((k, word, then) for k, (word, then) in enumerate(part.words) if then is not None)
        return [(word, then) for k, word, then in words if self.cost(then) < inf and read(0, word)[0] == -1 - k]

    def pieces(self, part: Scan, draw: Draw) -> str:
        """Text to stand before a word, with what looks like one."""
        pieces: list[str] = []
        for _ in range(draw(5)):
            word = part.words[draw(len(part.words))][0] if part.words and draw(3) else ""
            at = draw(len(word)) if word else 0
            faults = (word[:at], word[1:], word[:at] + "x" + word[at:], word[:-1], f"`{word}`", f"```\n{word}")
            others = (*_PIECES, *self._texts)
            pieces.append(faults[draw(len(faults))] if word else others[draw(len(others))])
        return "".join(pieces)


def _in(part: Chars, char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in part.ranges) != part.negated


class _Sentence:
    """A sentence while it is being written; what is still to be written is on a stack, so nothing recurses."""

    def __init__(self, generator: Generator, draw: Draw, size: int) -> None:
        self.generator, self.draw, self.left = generator, draw, size
        self.written: list[str] = []
        self.pending: list[Expr] = [generator.root]

    def text(self) -> str:
        while self.pending:
            part = self.pending.pop()
            before = len(self.written)
            self.write(part)
            self.left -= 1 + sum(map(len, self.written[before:]))
        return "".join(self.written)

    def pick(self, options: list[_T] | tuple[_T, ...]) -> _T:
        return options[self.draw(len(options))]

    def write(self, part: Expr) -> None:
        match part:
            case Text(text=text):
                self.written.append(text)
            case Chars():
                self.written.append(self.pick(tuple(self.generator.chars(part))))
            case Sequence(items=items):
                self.pending.extend(reversed(items))
            case Choice(items=items):
                self.pending.append(self.choose(items))
            case Repeat():
                self.pending.extend([part.item] * self.times(part))
            case Lexeme(item=item):
                self.pending.append(item)
            case Ref(name=name):
                self.pending.append(self.generator.rule(name))
            case Scan():
                self.scan(part)
            case _:
                assert isinstance(part, AnyOrder)
                self.pending.extend(reversed(self.ordered(part)))

    def choose(self, items: tuple[Expr, ...]) -> Expr:
        cost = self.generator.cost
        if self.left <= 0:
            return min(items, key=cost)
        return self.pick([item for item in items if cost(item) < inf])

    def times(self, part: Repeat) -> int:
        """A count at a bound or near the lower one, if there is room for it."""
        cost = self.generator.cost(part.item)
        room = part.low if self.left <= 0 or cost == inf else part.low + int(self.left // (1 + cost))
        most = room if part.high is None else min(part.high, room)
        return self.pick((part.low, min(part.low + 1, most), min(part.low + 1 + self.draw(4), most), most))

    def scan(self, part: Scan) -> None:
        words = self.generator.words(part)
        if any(self.searched(part, words) for _ in range(_TRIES if self.left > 0 else 0)) or part.open:
            return
        word, then = min(words, key=lambda pair: len(pair[0]) + self.generator.cost(pair[1]))
        self.written.append(word)
        self.pending.append(then)

    def searched(self, part: Scan, words: list[tuple[str, Expr]]) -> bool:
        """Write text and a word, unless the text holds one that must not come."""
        generator = self.generator
        word = self.pick(words)[0] if words and (self.draw(3) or not part.open) else ""
        text = generator.pieces(part, self.draw) + (self.pick(_EXITS) + word if word else "")
        state, end = generator.scanner(part).read(0, text)
        then = dict(words).get(part.words[-1 - state][0]) if state < 0 else None
        if then is not None:
            self.pending.append(then)
        elif state < 0 or not part.open:
            return False
        self.written.append(text[:end])
        return True

    def ordered(self, part: AnyOrder) -> list[Expr]:
        """The members that are written, in their order."""
        cost = self.generator.cost
        more = self.left > 0 and cost(part.between) < inf
        items = [
            member.item
            for member in part.members
            if member.required or (more and cost(member.item) < inf and self.draw(2))
        ]
        if not part.declared:
            items = [items.pop(self.draw(len(items))) for _ in range(len(items))]
        if part.extra is not None and more and cost(part.extra) < inf:
            for _ in range(self.draw(3)):
                items.insert(len(items) if part.declared else self.draw(len(items) + 1), part.extra)
        return [each for item in items for each in (part.between, item)][1:]
