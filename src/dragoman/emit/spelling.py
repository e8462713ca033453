r"""Strings as a form writes them: from rules of the texts that are meant to rules of what stands in the output.

What a value may be is said without regard to how it is written (`patterns`, `formats`); here quotes and backslashes get
their escapes. Text that is read up to a closer must not hold one: in strings with escapes, which is exact, a closer is
broken by one (``\u003c``); in strings without, its first character is taken out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache, partial

from .classes import ALL, ANY, Ranges, minus, one_of, ranges_of, size
from .forms import Form, Strings
from .rules import EMPTY, Chars, Choice, Expr, Lexeme, Repeat, Scan, Sequence, Text, chars, choice, joined, sequence

__all__ = ["Spelling", "spelled"]

_LETTERS = {"\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t"}
_HEX = chars("0-9a-fA-F")
_PAIRED = sequence("\\u", chars("dD"), chars("89abAB"), _HEX, _HEX, "\\u", chars("dD"), chars("c-fC-F"), _HEX, _HEX)
_BY_CODE = choice(
    sequence("\\u", chars("0-9a-ce-fA-CE-F"), Repeat(_HEX, 3, 3)),
    sequence("\\u", chars("dD"), chars("0-7"), Repeat(_HEX, 2, 2)),
    _PAIRED,
)
"""A character by its number; half a character is none."""

_plain = re.compile(r"[\w .:/-]*", re.ASCII).fullmatch
"""What is written as it is in every form."""

_CONTROLS: Ranges = ((0, 0x1F),)
_LISTED = 256
"""Characters of a class that are looked at one by one for those that have to be written by number."""

_BARE_KEY = chars("A-Za-z0-9_.$-")
REMEMBERED = 1024
"""Patterns of which the spelling is kept."""

KEY_LIMIT = 64
"""Characters of a key that no schema names."""


class Spelling:
    """Writes the strings and keys of a form, so that none of the `closers` is in them."""

    def __init__(self, form: Form, closers: tuple[str, ...] = ()) -> None:
        self.form, self.closers = form, closers
        self.strings = form.strings
        self.firsts = "".join(sorted({closer[0] for closer in closers}))
        self._texts: dict[Expr, Expr | None] = {}
        self._mark = Text(self.strings.mark, mark=self.strings.special)

    @property
    def narrows(self) -> bool:
        """Whether patterns lose characters, since nothing could escape the end of a string."""
        return not self.strings.escaped

    @property
    def numbered(self) -> str:
        """The characters that any string has to spell by their number, lest they begin a closer."""
        tails = [_until(closer, f"{self.strings.mark}\\") for closer in self.closers]
        recurs = len(self.firsts) > 1 or any(len(tail) < 2 or self.firsts in tail[1:] for tail in tails)
        return self.firsts if recurs and self.strings.escaped else ""

    def literal(self, text: str) -> Expr | None:
        """A string, in each of its spellings that are common; ``None`` if it can't be written."""
        if not self.strings.escaped:
            return None if self.strings.mark in text else self._marked(Text(text))
        if _plain(text) and not self.closers:
            return Text(f"{self.strings.mark}{text}{self.strings.mark}")
        ways = dict.fromkeys((self._escaped(text), self._escaped(text, ascii_only=True)))
        return choice(*(f"{self.strings.mark}{way}{self.strings.mark}" for way in ways))

    def key(self, text: str) -> Expr | None:
        """A key; ``None`` if it can't be written."""
        return Text(text) if self.form.is_bare(text) else self.literal(text)

    @cached_property
    def string(self) -> Expr:
        """Any string."""
        if not self.strings.escaped:
            marks = frozenset([self.strings.mark] if self.strings.special else [])
            return sequence(self._mark, Scan(((self.strings.mark, EMPTY),), marks=marks))
        return self._marked(self._inside())

    @cached_property
    def any_key(self) -> Expr:
        """Any key."""
        return Lexeme(Repeat(_BARE_KEY, 1, KEY_LIMIT)) if self.form.bare else self.string

    def other_key(self, names: Iterable[str]) -> Expr:
        """Any key but these, written without escapes."""
        if self.form.bare:
            return Lexeme(_unlike(frozenset(filter(self.form.is_bare, names)), ranges_of(_BARE_KEY), least=1))
        raw = minus(ALL, joined([*_CONTROLS, *ranges_of(f"{self.strings.mark}\\{self.firsts}")]))
        return self._marked(_unlike(frozenset(names), raw))

    def texts(self, expr: Expr) -> Expr | None:
        """The strings of these texts; ``None`` if none of them can be written."""
        if expr not in self._texts:
            if len(self._texts) >= REMEMBERED:
                self._texts.clear()
            inside = spelled(expr, self.strings, "" if self.strings.escaped else self.strings.mark[0], self.firsts)
            self._texts[expr] = self._marked(inside) if inside is not None else None
        return self._texts[expr]

    def _marked(self, inside: Expr) -> Expr:
        if self.strings.special:
            return sequence(self._mark, Lexeme(inside), self._mark)
        return Lexeme(sequence(self.strings.mark, inside, self.strings.mark))

    def _escaped(self, text: str, *, ascii_only: bool = False) -> str:
        broken = self.firsts if any(closer in text for closer in self.closers) else ""
        return "".join(_spell(char, self.strings, broken, ascii_only) for char in text)

    def _inside(self) -> Expr:
        """What stands between the marks of any string: no closer."""
        if self.numbered:
            return Repeat(_unit(self.strings, self.firsts))
        tails = [_until(closer, f"{self.strings.mark}\\") for closer in self.closers]
        if not tails:
            return Repeat(_unit(self.strings))
        begun = sequence(self.firsts, Repeat(self._behind([tail[1:] for tail in tails]), 0, 1))
        return sequence(Repeat(_unit(self.strings, self.firsts)), Repeat(begun))

    def _behind(self, tails: list[str]) -> Expr:
        """What may follow the beginning of a closer, of which these are the rests, up to the next beginning."""
        nexts = sorted({tail[0] for tail in tails})
        ways = [
            sequence(
                _unit(self.strings, self.firsts + "".join(nexts)),
                Repeat(_unit(self.strings, self.firsts)),
            )
        ]
        for char in nexts:
            rests = [tail[1:] for tail in tails if tail[0] == char]
            if all(rests):
                ways.append(sequence(char, Repeat(self._behind(rests), 0, 1)))
        return choice(*ways)


@lru_cache(maxsize=2048)
def spelled(
    expr: Expr, strings: Strings | None, banned: str = "", broken: str = "", closers: tuple[str, ...] = ()
) -> Expr | None:
    """A regular expression of texts as one of what is written; ``None`` if nothing of it can be.

    Without `strings`, text stands for itself. The `banned` characters are left out, but where what follows them in the
    expression itself can't become one of the `closers`. The `broken` ones are written by their number.
    """

    def inside(part: Expr) -> Expr | None:
        return spelled(part, strings, banned, broken, closers)

    match expr:
        case Text(text=text):
            if any(char in banned and not _harmless(text[k:], closers) for k, char in enumerate(text)):
                return None
            return Text("".join(_spell(char, strings, broken) for char in text)) if strings is not None else expr
        case Chars():
            return _spelled_class(expr, strings, banned, broken)
        case Sequence(items=items):
            parts = [part for item in items if (part := inside(item)) is not None]
            return sequence(*parts) if len(parts) == len(items) else None
        case Choice(items=items):
            left = [part for item in items if (part := inside(item)) is not None]
            return choice(*left) if left else None
        case Repeat(item=item, low=low, high=high):
            repeated = inside(item)
            if repeated is None:
                return EMPTY if low == 0 else None
            return Repeat(repeated, low, high)
        case _:
            return expr


def _harmless(text: str, closers: tuple[str, ...]) -> bool:
    """Whether no closer begins with this text, or this text with it."""
    begun = {closer[0] for closer in closers}
    return text[0] in begun and not any(closer.startswith(text) or text.startswith(closer) for closer in closers)


def _spelled_class(expr: Chars, strings: Strings | None, banned: str, broken: str) -> Expr | None:
    ranges = minus(ranges_of(expr), ranges_of(banned)) if banned else ranges_of(expr)
    if strings is None or not strings.escaped:
        return one_of(ranges)
    if expr == ANY:
        return _unit(strings, broken)
    must = joined([*_CONTROLS, *ranges_of(f"{strings.mark}\\{broken}")])
    raw = one_of(minus(ranges, must))
    # Of large classes, the controls that have no escape of their own are left out.
    escaped = {char for char in f"{strings.mark}\\{broken}\b\f\n\r\t" if _has(ranges, char)}
    if size(ranges) <= _LISTED:
        escaped |= {chr(code) for code in range(0x20) if _has(ranges, chr(code))}
    ways: list[Expr] = [raw] if raw is not None else []
    ways += [Text(_spell(char, strings, broken)) for char in sorted(escaped)]
    return choice(*ways) if ways else None


def _has(ranges: Ranges, char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in ranges)


def _unit(strings: Strings, without: str = "") -> Expr:
    """One character of a string with escapes; none of the ones `without` stands there as itself."""
    plain = Chars(joined([*_CONTROLS, *ranges_of(f"{strings.mark}\\{without}")]), negated=True)
    letters = "".join(sorted(_LETTERS.get(char, char) for char in strings.escaped))
    return choice(plain, sequence("\\", Chars(ranges_of(letters))), _BY_CODE)


def _spell(char: str, strings: Strings, broken: str = "", ascii_only: bool = False) -> str:
    if char in broken or (ord(char) < 0x20 and char not in _LETTERS):
        return f"\\u{ord(char):04x}"
    if char in (strings.mark, "\\"):
        return f"\\{char}"
    if char in _LETTERS:
        return f"\\{_LETTERS[char]}"
    if ascii_only and not char.isascii():
        units = char.encode("utf-16-be").hex()
        return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))
    return char


def _until(text: str, ends: str) -> str:
    """The text before the first of these characters: behind it, nothing can go on that stands as itself."""
    return text[: min((text.index(char) for char in ends if char in text), default=len(text))]


def _unlike(names: frozenset[str], allowed: Ranges, least: int = 0) -> Expr:
    """Up to so many of the allowed characters, but none of these names."""
    anything = one_of(allowed)
    assert anything is not None
    if not names:
        return Repeat(anything, least, KEY_LIMIT)
    heads = sorted({name[0] for name in names if name})
    others = one_of(minus(allowed, ranges_of("".join(heads))))
    ways = [sequence(others, Repeat(anything, 0, KEY_LIMIT))] if others is not None else []
    for head in filter(partial(_has, allowed), heads):
        rests = frozenset(name[1:] for name in names if name[:1] == head)
        ways.append(sequence(head, _unlike(rests, allowed)))
    ways += [EMPTY] if "" not in names and least == 0 else []
    return choice(*ways)
