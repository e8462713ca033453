"""ECMA-262 regular expressions, as JSON Schema's ``pattern`` has them, as rules of the texts that they are found in.

A pattern may be found anywhere in a text, unless ``^`` and ``$`` tie it to its ends. Read are classes, groups,
alternatives and quantifiers; classes are those without flags. `Unsupported` is raised for what no regular language has
(backreferences), and for what only a larger one would have: lookaround, word boundaries, anchors inside, properties of
Unicode. The text between the ends is that of values: how it is written in output is for `spelling`.
"""

from __future__ import annotations

from functools import lru_cache

from .classes import ANY, LAST, Ranges, complement, one_of, ranges_of
from .regular import COUNT_LIMIT, weight
from .rules import EMPTY, Chars, Choice, Expr, Ref, Repeat, Sequence, Text, chars, choice, joined, sequence

__all__ = ["Unsupported", "pattern"]

DEPTH_LIMIT = 32
"""Groups in groups; each is a call of a function here and a rule somewhere else."""

WEIGHT_LIMIT = 2000
"""Characters and classes, with all repetitions written out: what llama.cpp takes for one rule."""

REMEMBERED = 1024
"""Patterns of which the rules are kept."""

_START, _END = Ref("^"), Ref("$")  # never left in a result
_ANYTHING = Repeat(ANY)

_DIGIT = ranges_of(chars("0-9"))
_WORD = ranges_of(chars("a-zA-Z0-9_"))
_SPACE = ranges_of(
    "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))
)
_LINE_ENDS = ranges_of("\n\r\u2028\u2029")
_CLASSES = {"d": _DIGIT, "w": _WORD, "s": _SPACE}
_CLASSES |= {name.upper(): complement(ranges) for name, ranges in _CLASSES.items()}
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_HEX = {"x": 2, "u": 4}


class Unsupported(ValueError):
    """A pattern that can't be enforced; its text says why."""


@lru_cache(REMEMBERED)
def pattern(source: str) -> Expr:
    """The texts in which the pattern is found; raises `Unsupported`."""
    found = _trail(_lead(_Reader(source).read()))
    if any(isinstance(part, Ref) for part in found.walk()):
        raise Unsupported("an anchor that is not at the end of the pattern")
    if weight(found) > WEIGHT_LIMIT:
        raise Unsupported("too many repetitions")
    return found


def _lead(expr: Expr) -> Expr:
    """With any text before it, but where it begins with an anchor."""
    match expr:
        case Choice(items=items):
            return choice(*map(_lead, items))
        case Ref(name="^"):
            return EMPTY
        case Sequence(items=(Ref(name="^"), *rest)):
            return _after_start(sequence(*rest))
        case Sequence(items=(Choice() as first, *rest)) if _START in first.walk():
            return choice(*(_lead(sequence(item, *rest)) for item in first.items))
        case _:
            return sequence(_ANYTHING, expr)


def _after_start(expr: Expr) -> Expr:
    """Anchors that say it again."""
    while isinstance(expr, Sequence) and expr.items[:1] == (_START,):
        expr = sequence(*expr.items[1:])
    return EMPTY if expr == _START else expr


def _trail(expr: Expr) -> Expr:
    """With any text behind it, but where it ends with an anchor."""
    match expr:
        case Choice(items=items):
            return choice(*map(_trail, items))
        case Ref(name="$"):
            return EMPTY
        case Sequence(items=(*rest, Ref(name="$"))):
            return sequence(*rest)
        case Sequence(items=(*rest, Choice() as last)) if _END in last.walk():
            return choice(*(_trail(sequence(*rest, item)) for item in last.items))
        case Repeat() if expr == _ANYTHING:
            return expr
        case _:
            return sequence(expr, _ANYTHING)


class _Reader:
    """Reads one pattern, left to right."""

    def __init__(self, source: str) -> None:
        self.source, self.at, self.depth = source, 0, 0

    def read(self) -> Expr:
        expr = self._alternatives()
        if self.at < len(self.source):
            raise Unsupported("a bracket that nothing opens")
        return expr

    def _sees(self, text: str) -> bool:
        """Whether this comes next, which is then read."""
        if not self.source.startswith(text, self.at):
            return False
        self.at += len(text)
        return True

    def _take(self) -> str:
        if self.at == len(self.source):
            raise Unsupported("the pattern breaks off")
        self.at += 1
        return self.source[self.at - 1]

    def _alternatives(self) -> Expr:
        ways = [self._sequence()]
        while self._sees("|"):
            ways.append(self._sequence())
        return choice(*ways)

    def _sequence(self) -> Expr:
        items: list[Expr] = []
        while self.at < len(self.source) and self.source[self.at] not in "|)":
            atom = self._atom()
            counts = self._counts()
            if counts is not None:
                if {_START, _END} & set(atom.walk()):
                    raise Unsupported("an anchor that is repeated")
                atom = EMPTY if counts[1] == 0 else atom if counts == (1, 1) else Repeat(atom, *counts)
            items.append(atom)
        return sequence(*items)

    def _counts(self) -> tuple[int, int | None] | None:
        """The counts of a quantifier, if there is one; that it is lazy makes no difference to what is found."""
        counts: tuple[int, int | None] | None = None
        for sign, meant in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if counts is None and self._sees(sign):
                counts = meant
        if counts is None and self._sees("{"):
            counts = self._braces()
        if counts is not None:
            self._sees("?")
        return counts

    def _braces(self) -> tuple[int, int | None] | None:
        end = self.source.find("}", self.at)
        low, comma, high = self.source[self.at : max(end, self.at)].partition(",")
        if not (low.isdecimal() and low.isascii()) or (high and not (high.isdecimal() and high.isascii())):
            self.at -= 1  # a brace that stands for itself
            return None
        if len(low) > 9 or len(high) > 9 or max(int(low), int(high or 0)) > COUNT_LIMIT:
            raise Unsupported("too many repetitions")
        self.at = end + 1
        counts = int(low), (int(high) if high else None) if comma else int(low)
        if counts[1] is not None and counts[1] < counts[0]:
            raise Unsupported("a quantifier out of order")
        return counts

    def _atom(self) -> Expr:
        char = self._take()
        match char:
            case "^":
                return _START
            case "$":
                return _END
            case ".":
                return Chars(_LINE_ENDS, negated=True)
            case "(":
                return self._group()
            case "[":
                return self._class()
            case "*" | "+" | "?":
                raise Unsupported("a quantifier of nothing")
            case "\\":
                meant = self._escape()
                return Text(meant) if isinstance(meant, str) else _some(meant)
            case _:
                return Text(char)

    def _group(self) -> Expr:
        if self._sees("?") and not self._sees(":"):
            if not self._sees("<") or self.source[self.at : self.at + 1] in "=!":
                raise Unsupported("a group that looks around, or has flags")
            end = self.source.find(">", self.at)
            self.at = end + 1 if end >= 0 else len(self.source)
        self.depth += 1
        if self.depth > DEPTH_LIMIT:
            raise Unsupported("groups nested too deeply")
        inside = self._alternatives()
        self.depth -= 1
        if not self._sees(")"):
            raise Unsupported("a group that nothing closes")
        return inside

    def _class(self) -> Expr:
        negated, ranges = self._sees("^"), list[tuple[int, int]]()
        while not self._sees("]"):
            first = self._member()
            if (
                isinstance(first, str)
                and self.source[self.at : self.at + 1] == "-" != self.source[self.at + 1 : self.at + 2] != "]"
            ):
                self.at += 1
                last = self._member()
                if isinstance(last, str):
                    if last < first:
                        raise Unsupported("a range out of order")
                    ranges.append((ord(first), ord(last)))
                    continue
                ranges += [(ord("-"), ord("-")), *last]
            ranges += ranges_of(first) if isinstance(first, str) else first
        together = joined(ranges)
        return _some(complement(together) if negated else together)

    def _member(self) -> str | Ranges:
        char = self._take()
        if char != "\\":
            return char
        if self._sees("b"):
            return "\b"
        return self._escape()

    def _escape(self) -> str | Ranges:
        """What stands behind a backslash: a character, or the ranges of a class."""
        char = self._take()
        if char in _CLASSES:
            return _CLASSES[char]
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char in _HEX:
            return self._hexadecimal(char)
        if char == "c" and self.source[self.at : self.at + 1].isalpha():
            return chr(ord(self._take()) % 32)
        if char == "0" and not self.source[self.at : self.at + 1].isdigit():
            return "\0"
        if char in "bBkpP" or char.isdigit():
            raise Unsupported(f"\\{char} in the pattern")
        return char

    def _hexadecimal(self, kind: str) -> str:
        if kind == "u" and self._sees("{"):
            end = self.source.find("}", self.at)
            digits, self.at = self.source[self.at : max(end, self.at)], end + 1
        else:
            digits = self.source[self.at : self.at + _HEX[kind]]
            if len(digits) < _HEX[kind]:
                raise Unsupported("the pattern breaks off")
            self.at += _HEX[kind]
        try:
            code = int(digits, 16)
        except ValueError:
            raise Unsupported(f"\\{kind} without digits") from None
        if 0xD800 <= code < 0xE000:
            raise Unsupported("half a character")
        if code > LAST or not digits.isalnum():
            raise Unsupported(f"\\{kind} beyond all characters")
        return chr(code)


def _some(ranges: Ranges) -> Expr:
    found = one_of(ranges)
    if found is None:
        raise Unsupported("a class of nothing")
    return found
