"""Rules over lexemes: which parts of a grammar a lexer reads as one, and which a parser puts together.

A lexer takes the longest text it can, so what it may read as one is chosen twice. Here, as much as is regular; then
`clashes` finds where that would read on past the place at which something else ends, and has it taken apart again.
"""

from __future__ import annotations

from collections.abc import Mapping

from .guarantees import Effect, Note
from .heads import heads, inside, overlap
from .lexing import Lexer
from .rules import Chars, Choice, Expr, Exprs, Lexeme, Ref, Repeat, Sequence, Text, choice, sequence
from .stretches import Place, Stretch, edges, is_end

__all__ = ["Grouping", "Members", "Terminal", "Token"]

NO_CODE = "text that is read one character at a time has no backticks"

LARGEST = 2000
"""Parts that the regular expression of one lexeme may have."""


class Terminal(Expr, frozen=True, cache_hash=True):
    """A regular expression that the lexer reads as one."""

    item: Expr


class Token(Expr, frozen=True, cache_hash=True):
    """A control token."""

    id: int


class Members(Expr, frozen=True, cache_hash=True):
    """Members in any order, as in `AnyOrder`; with `some`, at least one of them.

    `items` are the members, the `required` ones first, then what stands between two, then any other member if it may.
    """

    items: Exprs
    size: int
    required: int
    some: bool = False

    def children(self) -> Exprs:
        return self.items


class Grouping:
    """Groups the rules below `root` as lexemes: `rules` then has `Terminal`\\ s and `Token`\\ s for leaves.

    The other nodes in it are `Sequence`, `Choice`, `Repeat`, `Ref` and `Members`. What stands in a terminal may refer
    to a rule of `plain`, which is regular then.
    """

    def __init__(self, plain: dict[str, Expr], root: str) -> None:
        self.plain, self.rules = plain, dict[str, Expr]()
        self.lexer = Lexer(plain)
        self.notes: list[Note] = []
        self._where = root
        self._sizes: dict[Expr, int] = {}
        self._stretched: dict[Expr, bool] = {}
        self._chains: dict[Stretch, Ref] = {}
        self._pull(Ref(root))

    def _pull(self, expr: Expr) -> None:
        """Group the rules that an expression needs, those that a lexeme is made of left out."""
        pending = [expr]
        while pending:
            for part in pending.pop().walk():
                if isinstance(part, Ref) and part.name not in self.rules:
                    self.rules[part.name] = self._group(self.plain[part.name])
                    pending.append(self.rules[part.name])

    def _size(self, expr: Expr) -> int:
        """The size of an expression, over `LARGEST` where it is not regular."""
        known = self._sizes.get(expr)
        if known is None:
            self._sizes[expr] = LARGEST + 1  # what refers to itself is not regular
            known = self._sizes[expr] = self._measured(expr)
        return known

    def _measured(self, expr: Expr) -> int:
        match expr:
            case Token() | Members():
                return LARGEST + 1
            case Text(text=text):
                return 1 + len(text) // 8
            case Stretch(words=words, runs=runs):
                return 8 * len(words) + (20 * runs if runs else 0)
        return 1 + sum(map(self._size, inside(expr, self.plain)))

    def _regular(self, expr: Expr) -> bool:
        return self._size(expr) <= LARGEST

    def _whole(self, expr: Expr) -> bool:
        """Whether an expression is best read as one: a declared lexeme, one with text up to a word, or one of neither.

        Other regular expressions are made of lexemes, which are fewer and meet more often if they are kept apart.
        """
        if not self._regular(expr):
            return False
        match expr:
            case Lexeme() | Stretch():
                return True
            case Ref(name=name):
                return self._whole(self.plain[name])
        return _is_plain(expr) or self._has_stretch(expr)

    def _has_stretch(self, expr: Expr) -> bool:
        known = self._stretched.get(expr)
        if known is None:
            below = any(map(self._has_stretch, inside(expr, self.plain)))
            known = self._stretched[expr] = below or isinstance(expr, Stretch)
        return known

    def _group(self, expr: Expr) -> Expr:
        if self._whole(expr):
            return Terminal(expr) if expr != Sequence(()) else expr
        match expr:
            case Sequence(items=items):
                return self._sequence(items)
            case Choice(items=items):
                plain = tuple(item for item in items if isinstance(item, Text | Chars))
                others = tuple(self._group(item) for item in items if item not in plain)
                return Choice((Terminal(choice(*plain)), *others)) if plain else Choice(others)
            case Repeat(item=item, low=low, high=high):
                if self._regular(item) and self._reads_on((item, item)):
                    return Terminal(expr)
                return Repeat(self._group(item), low, high)
            case Members(items=items, size=size, required=required, some=some):
                return Members(tuple(map(self._group, items)), size, required, some)
            case Lexeme(item=item):
                return self._group(item)
        return expr

    def _sequence(self, items: Exprs, times: int = 2) -> Expr:
        """Where layout may stand on both sides of what can be left out, both are one lexeme when it is."""
        for at, item in enumerate(items[1:-1], 1):
            there = _there(item)
            if times and there is not None and self._reads_on((items[at - 1], items[at + 1])):
                with_it, without = ((*items[:at], *way, *items[at + 1 :]) for way in ((there,), ()))
                return Choice((self._sequence(with_it, times - 1), self._sequence(without, times - 1)))
        found: list[Expr] = []
        run: list[Expr] = []
        for item in items:
            if self._regular(Sequence((*run, item))):
                run.append(item)
                continue
            found += self._run(tuple(run))
            run = [item] if self._regular(item) else []
            found += [] if run else [self._group(item)]
        return Sequence((*found, *self._run(tuple(run))))

    def _run(self, items: Exprs) -> list[Expr]:
        """Regular parts in order: one lexeme where text up to a word is among them, or one would read into the next."""
        if not items:
            return []
        if any(map(self._has_stretch, items)):
            return [Terminal(sequence(*items))]
        size = 1
        while size < len(items) and (
            self._reads_on(items[size - 1 :]) or all(map(_is_plain, items[size - 1 : size + 1]))
        ):
            size += 1
        first = self._group(items[0]) if size == 1 else Terminal(sequence(*items[:size]))
        return [first, *self._run(items[size:])]

    def _reads_on(self, items: Exprs) -> bool:
        """Whether the first of these can go on with a character that what follows it can begin with."""
        if not all(map(self._regular, items)) or isinstance(items[0], Lexeme):
            return False
        ends = self.lexer.ends(frozenset((self.lexer.number(items[0]),)))
        begin = tuple(each for first, _ in heads(items[1:], self.plain) for each in first)
        return ends is None or any(overlap(going.on, begin) for ended in ends for going in ended.going)

    # Taking lexemes apart.

    def split(self, places: Mapping[tuple[str, tuple[int, ...]], int]) -> None:
        """Take apart the terminals at these places: a rule and the way down; texts behind so many characters."""
        by_rule: dict[str, dict[tuple[int, ...], int]] = {}
        for (rule, path), size in places.items():
            by_rule.setdefault(rule, {})[path] = size
        for rule, paths in by_rule.items():
            self._where = rule
            self.rules[rule] = self._split(self.rules[rule], paths)

    def _split(self, expr: Expr, paths: Mapping[tuple[int, ...], int]) -> Expr:
        if () in paths and isinstance(expr, Terminal):
            return self._parts(expr.item, paths[()])
        below: dict[int, dict[tuple[int, ...], int]] = {}
        for path, size in paths.items():
            below.setdefault(path[0], {})[path[1:]] = size
        items = [self._split(child, below[at]) if at in below else child for at, child in enumerate(expr.children())]
        match expr:
            case Sequence():
                return Sequence(tuple(items))
            case Choice():
                return Choice(tuple(items))
            case Repeat(low=low, high=high):
                return Repeat(items[0], low, high)
            case Members(size=size, required=required, some=some):
                return Members(tuple(items), size, required, some)
        return expr

    def _parts(self, item: Expr, size: int) -> Expr:
        match item:
            case Text(text=text):
                return Sequence((Terminal(Text(text[:size])), Terminal(Text(text[size:]))))
            case Sequence(items=items):
                return Sequence(tuple(map(Terminal, items)))
            case Choice(items=items):
                return Choice(tuple(Terminal(each) if each != Sequence(()) else each for each in items))
            case Repeat(item=each, low=low, high=high):
                return Repeat(Terminal(each), low, high)
            case Stretch(runs=runs):
                if runs:
                    self.notes.append(Note(Effect.NARROWED, "code", self._where, NO_CODE))
                    return Terminal(Stretch(item.words, item.ends, item.cut, 0))
                return self._chain(item)
        return self._parts(inside(item, self.plain)[0], size)

    def _chain(self, stretch: Stretch) -> Ref:
        """Rules that read a stretch one character at a time: those of its automaton, what leads to a place before it.

        So they recurse on the left, which costs a parser as much for the last character as for the first.
        """
        if stretch in self._chains:
            return self._chains[stretch]
        name = f"{self._where}_text{len(self._chains)}"
        self._chains[stretch] = Ref(name)
        names = {Place(): f"{name}_0"}
        ways: dict[str, list[Expr]] = {f"{name}_0": [Sequence(())], name: []}
        pending = [Place()]
        while pending:
            place = pending.pop()
            if is_end(stretch, place):
                ways[name].append(Ref(names[place]))
            for item, to in edges(stretch, place):
                if to is not None and to not in names:
                    names[to] = f"{name}_{len(names)}"
                    ways[names[to]] = []
                    pending.append(to)
                ways[names[to] if to is not None else name].append(Sequence((Ref(names[place]), Terminal(item))))
        self.rules |= {each: Choice(tuple(found)) for each, found in ways.items()}
        return Ref(name)


def _is_plain(item: Expr) -> bool:
    return not any(isinstance(part, Lexeme | Ref | Stretch) for part in item.walk())


def _there(item: Expr) -> Expr | None:
    """What can be left out, where it is not."""
    match item:
        case Repeat(item=inner, low=0, high=high):
            return Repeat(inner, 1, high) if high != 1 else inner
        case Members(items=items, size=size, required=0, some=False):
            return Members(items, size, 0, True)
    return None
