"""What is left of rules when a marker has been read: the rest of each part behind its first characters.

This is what a `Scan` goes on with. `until` leaves its delimiter to what follows it, but a scan reads it; so what
follows is taken apart, and may turn out not to begin with that delimiter at all, upon which it must not come.
"""

from __future__ import annotations

from collections.abc import Callable

from .rules import EMPTY, Chars, Choice, Expr, Exprs, Lexeme, Ref, Repeat, Sequence, Text, sequence

__all__ = ["RETURN", "Residues", "Unknown"]

RETURN = Ref("return")
"""Stands for what follows a recursive rule, which differs from call to call."""


class Unknown(Exception):
    """What is asked for depends on what follows a recursive rule, or is inside a `Scan` or `AnyOrder`."""


class Residues:
    """Questions about parts of a set of rules; `named` gives the rule of a name, and may make it.

    `special` answers for names whose rule is not known yet; ``None`` where it does not know that name.
    """

    def __init__(self, named: Callable[[str], Expr], special: Callable[[str, str], list[Expr] | None]) -> None:
        self._named, self._special = named, special
        self._open: set[tuple[str, str]] = set()

    def behind(self, part: Expr, read: str) -> list[Expr]:
        """All that may follow these characters in a text that begins with them; raises `Unknown`."""
        return self._after(part, read)[0] if read else [part]

    def _after(self, part: Expr, read: str) -> tuple[list[Expr], set[int]]:
        """What may follow all of the characters, and how many the part has read where it ends before them."""
        match part:
            case Text(text=text) if text.startswith(read):
                return [sequence(text[len(read) :])], set()
            case Text(text=text):
                return [], {len(text)} if read.startswith(text) else set()
            case Chars(ranges=ranges, negated=negated):
                if any(low <= ord(read[0]) <= high for low, high in ranges) == negated:
                    return [], set()
                return ([], {1}) if len(read) > 1 else ([EMPTY], set())
            case Sequence(items=items):
                return self._in_order(items, read)
            case Choice(items=items):
                found = [self._after(item, read) for item in items]
                return [each for inside, _ in found for each in inside], {end for _, ends in found for end in ends}
            case Repeat():
                return self._repeated(part, read)
            case Lexeme(item=item):
                return self._after(item, read)
            case Ref():
                return self._named_after(part, read)
            case _:
                raise Unknown

    def _named_after(self, part: Ref, read: str) -> tuple[list[Expr], set[int]]:
        if part == RETURN:
            raise Unknown
        if (part.name, read) in self._open:  # it would have to read the same again
            return [], set()
        self._open.add((part.name, read))
        try:
            special = self._special(part.name, read)
            return self._after(self._named(part.name), read) if special is None else (special, set())
        finally:
            self._open.discard((part.name, read))

    def _in_order(self, items: Exprs, read: str) -> tuple[list[Expr], set[int]]:
        found: list[Expr] = []
        places = {0}
        for k, item in enumerate(items):
            after = [(place, *self._after(item, read[place:])) for place in sorted(places)]
            found += [sequence(each, *items[k + 1 :]) for _, inside, _ in after for each in inside]
            places = {place + end for place, _, ends in after for end in ends}
        return found, places

    def _repeated(self, part: Repeat, read: str) -> tuple[list[Expr], set[int]]:
        low = 0 if self.empty(part.item) else part.low
        ends = {0} if low == 0 else set[int]()
        found: list[Expr] = []
        places, count = {0}, 0
        while places and count != part.high:
            count += 1
            rest = Repeat(part.item, max(low - count, 0), None if part.high is None else part.high - count)
            after = [(place, *self._after(part.item, read[place:])) for place in sorted(places)]
            found += [sequence(each, rest) for _, inside, _ in after for each in inside]
            places = {place + end for place, _, reached in after for end in reached if end}
            ends |= places if count >= low else set()
        return found, ends

    def empty(self, part: Expr, seen: frozenset[str] = frozenset()) -> bool:
        """Whether a part matches the empty text; raises `Unknown`."""
        match part:
            case Text(text=text):
                return not text
            case Chars():
                return False
            case Sequence(items=items):
                return all(self.empty(item, seen) for item in items)
            case Choice(items=items):
                return any(self.empty(item, seen) for item in items)
            case Repeat(item=item, low=low):
                return low == 0 or self.empty(item, seen)
            case Lexeme(item=item):
                return self.empty(item, seen)
            case Ref(name=name):
                if part == RETURN:
                    raise Unknown
                return name not in seen and self.empty(self._named(name), seen | {name})
            case _:
                raise Unknown
