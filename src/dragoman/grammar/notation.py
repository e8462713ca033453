"""Notations: other ways than JSON to write JSON's values, as frozen values that `transcode` reads by.

A notation says which marks open and close strings, which brackets make arrays, which words stand for JSON's, and
whether text may stand bare. Objects are written in braces, members with a colon, and a comma before a closing bracket
is allowed, in all of them.
"""

from __future__ import annotations

import re
from functools import cache

from msgspec import Struct

from .tries import Delimiters

__all__ = [
    "BARE_LIMIT",
    "GAP_LIMIT",
    "PYTHON",
    "SPACE",
    "Lexicon",
    "Marks",
    "Notation",
    "Quote",
    "bare_dict",
    "lexicon_of",
]

SPACE = " \t\n\r"
"""JSON's whitespace."""

GAP_LIMIT = 64
"""Characters of whitespace behind a quote or a comma that may wait for what follows them."""

BARE_LIMIT = 256
"""Characters of a bare key or value, whose type is known at its end only."""

ESCAPE_LIMIT = 9
"""Characters of an escape that is cut: all but the last of ``\\U0001F642``."""


class Quote(Struct, frozen=True, cache_hash=True):
    """A mark that opens and closes strings.

    `copied` are the characters behind a backslash that JSON reads alike; Python's other escapes are undone. Without
    any, there are no escapes. With `then`, a mark closes a string only if one of these characters follows it, after
    whitespace, or the end of the input; else it belongs to the string.
    """

    mark: str
    copied: str = ""
    then: str = ""


class Notation(Struct, frozen=True, cache_hash=True):
    """A way to write values.

    Of two `quotes` that begin alike the longer comes first. `brackets` are pairs that make arrays, `words` pairs of a
    word and its JSON. With `bare`, keys and values may be up to so many characters of plain text, and numbers are as in
    JSON; without it, numbers are as in Python. Such text ends before one of the `ends`, too, which is legal only where
    no bracket is open.
    """

    name: str
    quotes: tuple[Quote, ...]
    brackets: tuple[str, ...]
    words: tuple[tuple[str, str], ...]
    bare: int = 0
    ends: tuple[str, ...] = ()

    @property
    def first(self) -> str:
        """The characters with which a value can begin, as a class."""
        if self.bare:
            return r"^ \t\r\n,}\]"
        begin = [*(quote.mark for quote in self.quotes), "{", *self.brackets, *(word for word, _ in self.words)]
        return "".join(re.escape(char) for char in sorted({text[0] for text in begin})) + r"0-9.+\-"

    @property
    def hold(self) -> int:
        """Characters that may have to wait for what follows them."""
        quotes = [len(quote.mark) + (GAP_LIMIT if quote.then else 0) for quote in self.quotes]
        return max(1 + GAP_LIMIT, self.bare, ESCAPE_LIMIT, *quotes)


_WORDS = (
    ("True", "true"),
    ("False", "false"),
    ("None", "null"),
    ("true", "true"),
    ("false", "false"),
    ("null", "null"),
)
_SHARED = '"\\bfnrt'
_FOLLOWERS = ",)]}:"

PYTHON = Notation(
    "python",
    quotes=(
        Quote('"""', _SHARED + "/", _FOLLOWERS),
        Quote("'''", _SHARED, _FOLLOWERS),
        Quote('"', _SHARED + "/", _FOLLOWERS),
        Quote("'", _SHARED, _FOLLOWERS),
    ),
    brackets=("[]", "()"),
    words=_WORDS,
)
"""Python's literals. JSON's values are among them: between double quotes, an escape that JSON has is JSON's."""


def bare_dict(mark: str, *ends: str) -> Notation:
    """Dicts with bare keys, and strings between two of these marks, without escapes; or in quotes, as in Python.

    Bare text holds none of the `ends`, the markers of what is around the dict, in which there is no comma or bracket.
    """
    quotes = (Quote(mark), Quote('"', _SHARED + "/"), Quote("'", _SHARED, _FOLLOWERS))
    return Notation(f"dict {mark}", quotes, ("[]",), _WORDS, BARE_LIMIT, ends)


class Marks:
    """What to look for in a string with these quotes.

    `until` finds what may end its plain text, `whole` matches a string that is all there, and is in JSON as it is here.
    """

    __slots__ = ("close", "partial", "quote", "run", "until", "whole")

    def __init__(self, quote: Quote) -> None:
        self.quote = quote
        self.until = Delimiters((quote.mark, "\\") if quote.copied else (quote.mark,))
        self.partial = Delimiters((quote.mark,)).search
        self.run = re.compile(rf"[^{re.escape(quote.mark[0])}\\]*+").match
        then = re.escape(quote.then)
        pattern = rf"[{SPACE}]{{0,{GAP_LIMIT}}}+(?:([{then}{SPACE}])|\Z)" if then else "()"
        self.close = re.compile(pattern).match
        mark = re.escape(quote.mark)
        behind = f"(?=[{then}])" if then else ""
        self.whole = re.compile(rf'{mark}([^{re.escape(quote.mark[0])}"\\\x00-\x1f]*+){mark}{behind}').match


class Lexicon:
    """A notation, ready to be read."""

    __slots__ = ("arrays", "bare", "bare_key", "bare_value", "firsts", "longest", "marks", "word", "words")

    def __init__(self, notation: Notation) -> None:
        self.marks = tuple(Marks(quote) for quote in notation.quotes)
        self.firsts = frozenset(quote.mark[0] for quote in notation.quotes)
        self.longest = max(len(quote.mark) for quote in notation.quotes)
        self.words = dict(notation.words)
        self.word = Delimiters(tuple(self.words))
        self.arrays = "".join(pair[0] for pair in notation.brackets)
        self.bare = notation.bare
        never = (*(quote.mark for quote in notation.quotes if not quote.copied), *notation.ends)
        heads = "".join(re.escape(head) for head in sorted({mark[0] for mark in never}))
        marks = "|".join(re.escape(mark) for mark in never)
        self.bare_key = re.compile(rf'[^:,{{}}\[\]"{heads}]*+').match
        self.bare_value = re.compile(rf"(?:[^,}}\]{heads}]++|(?!{marks})[{heads}])*+" if never else r"[^,}\]]*+").match

    def is_cut(self, text: str, i: int) -> bool:
        """Whether the text ends in what may become a longer mark."""
        left = len(text) - i
        return left < self.longest and any(
            left < len(marks.quote.mark) and marks.quote.mark.startswith(text[i:]) for marks in self.marks
        )


lexicon_of = cache(Lexicon)
