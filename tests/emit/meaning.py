"""The meaning of rules, spelled out: where a part that begins here may end; slow, and for short texts only."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from dragoman.emit.rules import AnyOrder, Chars, Choice, Expr, Lexeme, Ref, Repeat, Rules, Scan, Sequence, Text
from dragoman.events import ContentDelta
from dragoman.grammar.labels import TextLabel
from dragoman.grammar.prose import ProseFrame, ProseStep


def accepts(rules: Rules, text: str) -> bool:
    """Whether the whole text matches."""
    return len(text) in _Reading(rules, text).ends(Ref(rules.root), 0)


def first_word(words: list[str], text: str, code: bool) -> tuple[int, str] | None:
    """Where the text ends whose words these are, and at which; in `code`, as the parser sees it."""
    if code:
        step = ProseStep(tuple(words), (), TextLabel(ContentDelta))
        start, _ = step.advance(ProseFrame(), text, 0, ended=True)
        found = [word for word in words if text.startswith(word, start)]
        return (start + len(found[0]), found[0]) if found else None
    for end in range(1, len(text) + 1):
        found = [word for word in words if text[:end].endswith(word)]
        if found:
            return end, max(found, key=len)
    return None


class _Reading:
    """Sets of ends by part and beginning, which grow until they are complete: recursion may be of any kind."""

    def __init__(self, rules: Rules, text: str) -> None:
        self.rules, self.text = rules, text
        self.known: dict[tuple[Expr, int], set[int]] = defaultdict(set)
        self.done: set[tuple[Expr, int]] = set()

    def ends(self, part: Expr, at: int) -> set[int]:
        while True:
            before = sum(map(len, self.known.values()))
            self.done.clear()
            found = self.step(part, at)
            if sum(map(len, self.known.values())) == before:
                return found

    def step(self, part: Expr, at: int) -> set[int]:
        key = (part, at)
        if key not in self.done:
            self.done.add(key)
            self.known[key] |= set(self.look(part, at))
        return self.known[key]

    def all(self, parts: tuple[Expr, ...], at: int) -> set[int]:
        ends = {at}
        for part in parts:
            ends = {end for start in ends for end in self.step(part, start)}
        return ends

    def look(self, part: Expr, at: int) -> Iterator[int]:
        match part:
            case Text(text):
                if self.text.startswith(text, at):
                    yield at + len(text)
            case Chars(ranges, negated):
                if at < len(self.text) and negated != any(low <= ord(self.text[at]) <= high for low, high in ranges):
                    yield at + 1
            case Sequence(items):
                yield from self.all(items, at)
            case Choice(items):
                for item in items:
                    yield from self.step(item, at)
            case Repeat(item, low, high):
                yield from self.repeat(item, low, high, at)
            case Ref(name):
                yield from self.step(self.rules.rules[name], at)
            case Lexeme(item):
                yield from self.step(item, at)
            case Scan():
                yield from self.scan(part, at)
            case AnyOrder():
                yield from self.any_order(part, frozenset(range(len(part.members))), at, True)

    def repeat(self, item: Expr, low: int, high: int | None, at: int) -> Iterator[int]:
        ends, seen = {at}, set()
        for count in range(len(self.text) + low + 2 if high is None else high + 1):
            if count >= low:
                yield from ends
                seen |= ends
            ends = {end for start in ends for end in self.step(item, start)}
            if not ends or (count >= low and ends <= seen):
                return

    def scan(self, scan: Scan, at: int) -> Iterator[int]:
        found = first_word([word for word, _ in scan.words], self.text[at:], scan.code)
        if scan.open:  # before the first word is complete
            yield from range(at, at + found[0] if found else len(self.text) + 1)
        if found is not None:
            for word, then in scan.words:
                if word == found[1] and then is not None:
                    yield from self.step(then, at + found[0])

    def any_order(self, order: AnyOrder, left: frozenset[int], at: int, first: bool) -> Iterator[int]:
        if not any(order.members[k].required for k in left):
            yield at
        for start in {at} if first else self.step(order.between, at):
            for k in sorted(left):
                for end in self.step(order.members[k].item, start):
                    kept = {j for j in left if j > k} if order.declared else left - {k}
                    skipped = order.declared and any(order.members[j].required for j in left if j < k)
                    if not skipped and end > at:
                        yield from self.any_order(order, frozenset(kept), end, False)
            if order.extra is not None and not (order.declared and any(order.members[k].required for k in left)):
                for end in self.step(order.extra, start):
                    if end > at:
                        yield from self.any_order(order, frozenset() if order.declared else left, end, False)
