"""Regular expressions as llguidance's lexer reads them: Rust's syntax, between slashes."""

from __future__ import annotations

from .rules import Chars, Choice, Expr, Lexeme, Repeat, Sequence, Text

__all__ = ["ANY", "count", "regex"]

ANY = "(?s:.)"
"""Any character."""

_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_PLAIN = frozenset(" !\"#%',-:;<=>@_`")


def regex(part: Expr) -> str:
    """The expression of a part that is regular; raises `TypeError` for one that is not."""
    match part:
        case Text(text):
            return "".join(map(_char, map(ord, text)))
        case Chars():
            return _class(part)
        case Lexeme(item):
            return regex(item)
        case Sequence(items):
            return "".join(map(regex, items))
        case Choice(items):
            return f"({'|'.join(map(regex, items))})"
        case Repeat(item, low, high):
            single = isinstance(item, Chars) or (isinstance(item, Text) and len(item.text) == 1)
            return f"{regex(item) if single else f'({regex(item)})'}{count(low, high)}"
        case _:
            raise TypeError(f"no part of a regular expression: {part!r}")


def count(low: int, high: int | None) -> str:
    """How often, behind what is repeated."""
    match low, high:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _:
            return f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"


def _char(code: int) -> str:
    char = chr(code)
    if char in _NAMED:
        return _NAMED[char]
    if char in _PLAIN or (char.isascii() and char.isalnum()):
        return char
    return f"\\{char}" if 0x20 <= code < 0x7F else rf"\x{{{code:x}}}"


def _class(part: Chars) -> str:
    """A class; half characters, which text can't hold, are left out."""
    written = []
    for low, high in part.ranges:
        low = 0xE000 if 0xD800 <= low <= 0xDFFF else low
        high = 0xD7FF if 0xD800 <= high <= 0xDFFF else high
        if low <= high:
            written.append(_in_class(low) + (f"-{_in_class(high)}" if high > low else ""))
    if not written:
        return ANY if part.negated else r"[^\x{0}-\x{10ffff}]"
    return f"[{'^' if part.negated else ''}{''.join(written)}]"


def _in_class(code: int) -> str:
    return r"\-" if code == 0x2D else _char(code)
