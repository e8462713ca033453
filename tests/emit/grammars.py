"""Small rules of all kinds, and the slowest and plainest reading of them: the oracle for the matcher."""

from __future__ import annotations

from itertools import permutations

from hypothesis import strategies as st

from dragoman.emit.rules import AnyOrder, Chars, Choice, Expr, Lexeme, Member, Ref, Repeat, Rules, Scan, Sequence, Text
from dragoman.grammar.prose import in_code

__all__ = ["ALPHABET", "REGULAR", "RULES", "TEXTS", "accepts", "first_word"]

ALPHABET = "ab<`\n"
_WORDS = st.sampled_from(("a", "b", "ab", "ba", "aa", "<a", "<ab", "a<"))
_TEXTS = st.one_of(_WORDS, st.just("")).map(Text)
_CHARS = st.tuples(st.sampled_from((((97, 97),), ((97, 98),), ((60, 60), (97, 97)), ((0, 97),))), st.booleans()).map(
    lambda pair: Chars(*pair)
)


def _repeats(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    bounds = st.tuples(st.integers(0, 3), st.sampled_from((None, 0, 1, 2)))
    return st.tuples(inner, bounds).map(
        lambda pair: Repeat(pair[0], pair[1][0], None if pair[1][1] is None else pair[1][0] + pair[1][1])
    )


def _regular(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    some = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(some.map(Sequence), some.map(Choice), _repeats(inner), inner.map(Lexeme))


REGULAR: st.SearchStrategy[Expr] = st.recursive(st.one_of(_TEXTS, _CHARS), _regular, max_leaves=8)


def _any(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    words = st.dictionaries(_WORDS, st.one_of(st.none(), inner), min_size=1, max_size=3)
    scans = st.tuples(words, st.booleans(), st.booleans()).map(lambda t: Scan(tuple(t[0].items()), t[1], t[2]))
    members = st.lists(st.builds(Member, inner, st.booleans()), max_size=3).map(tuple)
    orders = st.builds(AnyOrder, members, st.sampled_from((Text("<"), Text(""))), st.one_of(st.none(), inner))
    declared = st.tuples(orders, st.booleans()).map(
        lambda pair: AnyOrder(pair[0].members, pair[0].between, pair[0].extra, pair[1])
    )
    return st.one_of(_regular(inner), scans, declared)


_LEAVES = st.one_of(_TEXTS, _CHARS, st.sampled_from((Ref("root"), Ref("x"), Ref("y"))))
_BODIES = st.recursive(_LEAVES, _any, max_leaves=6)
RULES: st.SearchStrategy[Rules] = st.fixed_dictionaries({"root": _BODIES, "x": _BODIES, "y": _BODIES}).map(Rules)
TEXTS = st.text(ALPHABET, max_size=6)


class _Reading:
    """All spans that each part can match, found by trying again until there is nothing new."""

    def __init__(self, rules: Rules, text: str) -> None:
        self.rules, self.text = rules.rules, text
        self.known: dict[tuple[Expr, int], frozenset[int]] = {}
        while True:
            self.changed, self.asked = False, set[tuple[Expr, int]]()
            self.whole = self.ends(Ref(rules.root), 0)
            if not self.changed:
                break

    def ends(self, part: Expr, at: int) -> frozenset[int]:
        key = (part, at)
        if key not in self.asked:
            self.asked.add(key)
            known = self.known.get(key, frozenset())
            found = known | frozenset(self.found(part, at))
            if found != known:
                self.known[key], self.changed = found, True
        return self.known.get(key, frozenset())

    def after(self, part: Expr, places: frozenset[int]) -> frozenset[int]:
        return frozenset(end for at in places for end in self.ends(part, at))

    def found(self, part: Expr, at: int) -> frozenset[int]:
        here, text = frozenset([at]), self.text
        match part:
            case Text(text=word):
                return frozenset([at + len(word)] if text.startswith(word, at) else [])
            case Chars(ranges=ranges, negated=negated):
                fits = at < len(text) and any(low <= ord(text[at]) <= high for low, high in ranges) != negated
                return frozenset([at + 1] if fits else [])
            case Sequence(items=items):
                for item in items:
                    here = self.after(item, here)
                return here
            case Choice(items=items):
                return frozenset(end for item in items for end in self.ends(item, at))
            case Lexeme(item=item):
                return self.ends(item, at)
            case Ref(name=name):
                return self.ends(self.rules[name], at)
            case Repeat(item=item, low=low, high=high):
                for _ in range(low):
                    here = self.after(item, here)
                every = here
                for _ in range(len(text) + 1 if high is None else high - low):
                    here = self.after(item, here)
                    every |= here
                return every
            case Scan():
                return self.scanned(part, at)
            case AnyOrder():
                return self.ordered(part, here)
        raise TypeError(part)

    def scanned(self, part: Scan, at: int) -> frozenset[int]:
        word = first_word(tuple(word for word, _ in part.words), self.text[at:], part.code)
        free = range(at, len(self.text) + 1 if word is None else at + word[1])
        found = frozenset(free if part.open else ())
        then = part.words[word[0]][1] if word is not None else None
        return found if then is None or word is None else found | self.ends(then, at + word[1])

    def ordered(self, part: AnyOrder, here: frozenset[int]) -> frozenset[int]:
        extras = [part.extra] * (len(self.text) + 1) if part.extra is not None else []
        numbers = range(len(part.members))
        found: frozenset[int] = frozenset()
        for size in range(len(part.members) + 1):
            for order in permutations(numbers, size):
                missing = any(part.members[k].required for k in numbers if k not in order)
                if not missing and (not part.declared or list(order) == sorted(order)):
                    items = [part.members[k].item for k in order]
                    found |= self.mixed(part, items, extras, here, first=True)
        return found

    def mixed(
        self, part: AnyOrder, items: list[Expr], extras: list[Expr], here: frozenset[int], *, first: bool
    ) -> frozenset[int]:
        """The items in this order, with extra ones among them, or behind them where the order is declared."""
        if not here:
            return here
        found = frozenset[int]() if items else here
        start = here if first else self.after(part.between, here)
        if items:
            found |= self.mixed(part, items[1:], extras, self.after(items[0], start), first=False)
        if extras and not (items and part.declared):
            found |= self.mixed(part, items, extras[1:], self.after(extras[0], start), first=False)
        return found


def first_word(words: tuple[str, ...], text: str, code: bool = False) -> tuple[int, int] | None:
    """The word that ends first, the longest of those, by index, and where it ends."""
    ends = [
        (at + len(word), -len(word), k)
        for k, word in enumerate(words)
        for at in range(len(text))
        if text.startswith(word, at) and not (code and _in_code(text, at))
    ]
    return (min(ends)[2], min(ends)[0]) if ends else None


def _in_code(text: str, at: int) -> bool:
    """Whether code that was opened before this place goes on at it; a line's end may end it."""
    return in_code(text[:at]) and (text[at] != "\n" or in_code(text[:at] + "\n"))


def accepts(rules: Rules, text: str) -> bool:
    """Whether the text satisfies the rules, found out slowly."""
    return len(text) in _Reading(rules, text).whole
