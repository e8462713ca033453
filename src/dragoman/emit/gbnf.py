"""Rules in GBNF, the notation of llama.cpp, kept to what xgrammar's EBNF reads alike.

Both take names of ``a-z0-9-``, ``""`` for the empty text, ranges in brackets, the escapes ``\\n \\r \\t \\\\ \\"``,
``\\uXXXX`` and ``\\UXXXXXXXX`` (``\\x`` takes two digits in one and any number in the other), and counts in braces.
Neither knows control tokens by their text: a marker matches however it is spelled in tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from .repeats import bounded
from .rules import Chars, Choice, Expr, Ref, Repeat, Rules, Sequence, Text

__all__ = ["body", "gbnf", "quoted"]

_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}


def gbnf(rules: Rules) -> str:
    """The grammar, one rule a line, the one named ``root`` first.

    Raises `TypeError` for rules that still hold a `Scan` or an `AnyOrder`: `expand` them first. What is left-recursive
    is printed, and refused by llama.cpp.
    """
    given = bounded(rules)
    swapped = {given.root: "root", "root": given.root}  # whoever has the root's name already takes the other
    lines = [f"{swapped.get(name, name)} ::= {body(rule, swapped)}\n" for name, rule in given.rules.items()]
    return "".join(lines)


def body(part: Expr, names: Mapping[str, str]) -> str:
    """A part as the right side of a rule, names replaced; raises `TypeError` as `gbnf` does."""
    if isinstance(part, Choice):
        return " | ".join(_sequence(item, names) for item in part.items)
    return _sequence(part, names)


def _sequence(part: Expr, names: Mapping[str, str]) -> str:
    if isinstance(part, Sequence) and part.items:
        return " ".join(_item(item, names) for item in part.items)
    return _item(part, names)


def _item(part: Expr, names: Mapping[str, str]) -> str:
    match part:
        case Text(text):
            return quoted(text)
        case Chars(ranges, negated):
            return _class(ranges, negated)
        case Ref(name):
            return names.get(name, name)
        case Repeat(item, low, high):
            repeated = _item(item, names)
            return (f"({repeated})" if isinstance(item, Repeat) else repeated) + _count(low, high)
        case Sequence(()):
            return '""'
        case Choice() | Sequence():
            return f"({body(part, names)})"
        case _:
            raise TypeError(f"GBNF has no {type(part).__name__}: expand the rules first")


def quoted(text: str) -> str:
    """A literal."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_escaped(c, '"') for c in text) + '"'


def _count(low: int, high: int | None) -> str:
    match low, high:
        case 0, 1:
            return "?"
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case _, None:
            return f"{{{low},}}"
        case _:
            return f"{{{low}}}" if low == high else f"{{{low},{high}}}"


@lru_cache(maxsize=1024)
def _class(ranges: tuple[tuple[int, int], ...], negated: bool) -> str:
    """Characters in brackets; those that mean something there stand by their codes."""
    if not ranges:  # neither engine takes empty brackets; no text holds the character 0
        ranges = ((0, 0),)
    if negated and ranges[-1][1] >= 0x80:  # llama.cpp lets no token end inside a character that shares bytes with them
        ranges, negated = _others(ranges), False
    parts = [_code(low) if low == high else f"{_code(low)}-{_code(high)}" for low, high in ranges]
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def _others(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    edges = [0, *(edge for low, high in ranges for edge in (low - 1, high + 1)), 0x10FFFF]
    return tuple((low, high) for low, high in zip(edges[::2], edges[1::2], strict=True) if low <= high)


def _code(code: int) -> str:
    return f"\\u{code:04X}" if chr(code) in "-^" else _escaped(chr(code), "[]")


def _escaped(c: str, also: str) -> str:
    if c in _ESCAPES:
        return _ESCAPES[c]
    if c in also:
        return f"\\{c}"
    if c.isprintable():
        return c
    return f"\\u{ord(c):04X}" if ord(c) < 0x10000 else f"\\U{ord(c):08X}"
