"""Rules over lexemes: which parts of a grammar a lexer reads as one, and which a parser puts together.

A lexer takes the longest text it can, so what it may read as one is chosen twice. Here, as much as is regular; then
`clashes` finds where that would read on past the place at which something else ends, and has it taken apart again.
"""

from __future__ import annotations

from collections.abc import Mapping

from .heads import inside
from .rules import Choice, Expr, Exprs, Lexeme, Ref, Repeat, Sequence, Text, sequence
from .stretches import Place, Stretch, edges, is_end

__all__ = ["Grouping", "Members", "Terminal", "Token"]

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
        self._sizes: dict[str, int] = {}
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
        match expr:
            case Token() | Members():
                return LARGEST + 1
            case Text(text=text):
                return 1 + len(text) // 8
            case Stretch(words=words, runs=runs):
                return 8 * len(words) + (20 * runs if runs else 0)
            case Ref(name=name):
                if name not in self._sizes:
                    self._sizes[name] = LARGEST + 1  # what refers to itself is not regular
                    self._sizes[name] = self._size(self.plain[name])
                return self._sizes[name]
        return 1 + sum(self._size(part) for part in expr.children())

    def _regular(self, expr: Expr) -> bool:
        return self._size(expr) <= LARGEST

    def _group(self, expr: Expr) -> Expr:
        if self._regular(expr):
            return Terminal(expr) if expr != Sequence(()) else expr
        match expr:
            case Sequence(items=items):
                return self._sequence(items)
            case Choice(items=items):
                return self._choice(items)
            case Repeat(item=item, low=low, high=high):
                return Repeat(self._group(item), low, high)
            case Lexeme(item=item):
                return self._group(item)
            case Members(items=items, size=size, required=required, some=some):
                return Members(tuple(map(self._group, items)), size, required, some)
        return expr

    def _sequence(self, items: Exprs, times: int = 2) -> Expr:
        """Where layout may stand on both sides of what can be left out, both are one lexeme when it is."""
        for at, item in enumerate(items[1:-1], 1):
            there = _there(item)
            if times and there is not None and self._regular(items[at - 1]) and self._regular(items[at + 1]):
                with_it, without = ((*items[:at], *way, *items[at + 1 :]) for way in ((there,), ()))
                return Choice((self._sequence(with_it, times - 1), self._sequence(without, times - 1)))
        return Sequence(tuple(self._runs(items)))

    def _runs(self, items: Exprs) -> list[Expr]:
        found: list[Expr] = []
        run: list[Expr] = []
        for item in (*items, None):
            if item is not None and self._regular(Sequence((*run, item))):
                run.append(item)
                continue
            found += [Terminal(sequence(*run))] if run else []
            run = []
            if item is not None:
                found.append(self._group(item))
        return found

    def _choice(self, items: Exprs) -> Expr:
        regular = tuple(item for item in items if self._regular(item))
        whole = Choice(regular)
        if len(regular) > 1 and self._regular(whole):
            others = (self._group(item) for item in items if item not in regular)
            return Choice((Terminal(whole), *others))
        return Choice(tuple(self._group(item) for item in items))

    # Taking lexemes apart.

    def split(self, places: Mapping[tuple[str, tuple[int, ...]], int]) -> None:
        """Take apart the terminals at these places: a rule and the way down; texts behind so many characters."""
        by_rule: dict[str, dict[tuple[int, ...], int]] = {}
        for (rule, path), size in places.items():
            by_rule.setdefault(rule, {})[path] = size
        for rule, paths in by_rule.items():
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
            case Stretch():
                return self._chain(item)
        return self._parts(inside(item, self.plain)[0], size)

    def _chain(self, stretch: Stretch) -> Ref:
        """Rules that read a stretch one character at a time: those of its automaton, what leads to a place before it.

        So they recurse on the left, which costs a parser as much for the last character as for the first.
        """
        if stretch in self._chains:
            return self._chains[stretch]
        name = f"text_{len(self._chains)}"
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


def _there(item: Expr) -> Expr | None:
    """What can be left out, where it is not."""
    match item:
        case Repeat(item=inner, low=0, high=high):
            return Repeat(inner, 1, high) if high != 1 else inner
        case Members(items=items, size=size, required=0, some=False):
            return Members(items, size, 0, True)
    return None
