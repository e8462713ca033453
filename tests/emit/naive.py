"""What rules mean, by trying everything: an oracle for short texts."""

from __future__ import annotations

from dragoman.emit.rules import AnyOrder, Chars, Choice, Expr, Lexeme, Ref, Repeat, Rules, Scan, Sequence, Text
from dragoman.events import ContentDelta
from dragoman.grammar.labels import TextLabel
from dragoman.grammar.prose import ProseFrame, ProseStep

__all__ = ["accepts", "first_word"]

Ends = frozenset[int]


def accepts(rules: Rules, text: str) -> bool:
    """Whether the whole text matches."""
    return _Naive(rules, text).accepts()


def first_word(words: tuple[str, ...], text: str, code: bool) -> tuple[int, str] | None:
    """Which word comes first, and where it ends; of two that end at once the longer."""
    if code:
        stop, _ = ProseStep(words, (), TextLabel(ContentDelta)).advance(ProseFrame(), text, 0, True)
        here = [word for word in words if text.startswith(word, stop)]
        return (stop + len(max(here, key=len)), max(here, key=len)) if here else None
    for end in range(1, len(text) + 1):
        here = [word for word in words if text[:end].endswith(word)]
        if here:
            return end, max(here, key=len)
    return None


class _Naive:
    def __init__(self, rules: Rules, text: str) -> None:
        self.rules, self.input = rules.rules, text
        self.root = rules.root
        self.known: dict[tuple[str, int], Ends] = {}

    def accepts(self) -> bool:
        """Read rules again, from where anything refers to them, until that finds nothing new."""
        self.known[self.root, 0] = frozenset()
        before: dict[tuple[str, int], Ends] = {}
        while before != self.known:
            before = dict(self.known)
            for name, at in before:
                self.known[name, at] |= self.ends(self.rules[name], at)
        return len(self.input) in self.known[self.root, 0]

    def ends(self, expr: Expr, at: int) -> Ends:
        match expr:
            case Text(text=text):
                return frozenset((at + len(text),)) if self.input.startswith(text, at) else frozenset()
            case Chars(ranges=ranges, negated=negated):
                char = self.input[at : at + 1]
                inside = any(low <= ord(char) <= high for low, high in ranges) if char else negated
                return frozenset((at + 1,)) if inside != negated else frozenset()
            case Sequence(items=items):
                return self.follow(items, at)
            case Choice(items=items):
                return frozenset[int]().union(*(self.ends(item, at) for item in items))
            case Repeat(item=item, low=low, high=high):
                return self.repeat(item, low, high, at)
            case Ref(name=name):
                return self.known.setdefault((name, at), frozenset())
            case Lexeme(item=item):
                return self.ends(item, at)
            case Scan():
                return self.scan(expr, at)
            case AnyOrder():
                return self.any_order(expr, at)
        raise AssertionError(expr)

    def follow(self, items: tuple[Expr, ...], at: int) -> Ends:
        here = frozenset((at,))
        for item in items:
            here = frozenset[int]().union(*(self.ends(item, each) for each in here))
        return here

    def repeat(self, item: Expr, low: int, high: int | None, at: int) -> Ends:
        here, found, times = frozenset((at,)), frozenset[int](), 0
        while here and (high is None or times <= high) and times <= low + len(self.input) + 1:
            found |= here if times >= low else frozenset()
            here = frozenset[int]().union(*(self.ends(item, each) for each in here))
            times += 1
        return found

    def scan(self, scan: Scan, at: int) -> Ends:
        first = first_word(tuple(word for word, _ in scan.words), self.input[at:], scan.code)
        end = at + first[0] if first else len(self.input) + 1
        found = frozenset(range(at, end)) if scan.open else frozenset[int]()
        then = dict(scan.words)[first[1]] if first else None
        return found | self.ends(then, end) if then is not None else found

    def any_order(self, given: AnyOrder, at: int) -> Ends:
        found: set[int] = set()
        seen: set[tuple[int, frozenset[int]]] = set()
        pending = [(at, frozenset[int](), True)]
        required = {k for k, member in enumerate(given.members) if member.required}
        while pending:
            here, taken, first = pending.pop()
            if (here, taken) in seen and not first:
                continue
            if not first:
                seen.add((here, taken))
            if required <= taken:
                found.add(here)
            for start in (here,) if first else self.ends(given.between, here):
                for k, member in enumerate(given.members):
                    if k not in taken and not (given.declared and any(other > k for other in taken)):
                        pending += ((end, taken | {k}, False) for end in self.ends(member.item, start))
                if given.extra is not None:
                    last = taken | {len(given.members)} if given.declared else taken
                    pending += ((end, last, False) for end in self.ends(given.extra, start))
        return frozenset(found)
