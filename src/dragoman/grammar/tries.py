"""Sets of literal markers as regular expressions that also see the beginning of one at the end of the text."""

from __future__ import annotations

import re
from itertools import pairwise

LONG = 256
"""Characters from which on it pays to look for marks before looking for delimiters."""

WINDOW = 4096
"""Characters in which marks are looked for at a time."""

__all__ = [
    "LONG",
    "Delimiters",
    "delimiter_pattern",
    "final_hold",
    "final_pattern",
    "followed_pattern",
    "opening_pattern",
    "prefix_free",
]

_Trie = dict[str, "_Trie"]


def _trie(words: tuple[str, ...]) -> _Trie:
    root: _Trie = {}
    for word in words:
        node = root
        for char in word:
            node = node.setdefault(char, {})
    return root


def _pattern(node: _Trie) -> str:
    branches = [re.escape(char) + _pattern(child) for char, child in node.items()]
    if not branches:
        return ""
    branches.append(r"\Z")
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def prefix_free(words: tuple[str, ...]) -> bool:
    """Whether no word is empty, there twice, or the beginning of another."""
    ordered = sorted(words)
    return all(ordered) and not any(after.startswith(before) for before, after in pairwise(ordered))


def delimiter_pattern(words: tuple[str, ...]) -> str:
    """Matches one of the words, or a proper beginning of one that ends the text; words must be prefix-free."""
    root = _trie(words)
    branches = [re.escape(char) + _pattern(child) for char, child in root.items()]
    return "|".join(branches)


def opening_pattern(words: tuple[str, ...]) -> str:
    """Matches where text may begin with one of the words: with all of it, or as far as the text goes."""
    shortest = tuple(word for word in words if not any(word != other and word.startswith(other) for other in words))
    return _pattern(_trie(shortest))


def followed_pattern(words: tuple[str, ...], gap: int) -> re.Pattern[str]:
    """Layout whitespace, then one of the words (group 1) or what may become one at the end of the text (group 2)."""
    full = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    layout = rf"[ \t\r\n]{{0,{gap}}}+"
    return re.compile(rf"{layout}(?:({full})|({_pattern(_trie(words))}))" if words else r"()\Z")


FINALS, FINALS_GAP = 3, 16
"""How many markers may end the input together, and characters of whitespace behind each."""


def final_pattern(words: tuple[str, ...], *, ended: bool) -> re.Pattern[str]:
    """Matches what ends the text and is nothing but such words, with whitespace behind; or may become that."""
    word = f"(?:{'|'.join(map(re.escape, words))})"
    gap = rf"[ \t\r\n]{{0,{FINALS_GAP}}}+"
    if ended:
        return re.compile(rf"{word}{gap}(?:{word}{gap}){{0,{FINALS - 1}}}\Z")
    begun = f"(?:{delimiter_pattern(words)})"
    return re.compile(rf"(?:{word}{gap}){{0,{FINALS - 1}}}(?:{word}{gap}|{begun})\Z")


def final_hold(words: tuple[str, ...]) -> int:
    """The characters that such an end has at most."""
    return FINALS * (max(map(len, words)) + FINALS_GAP)


class Delimiters:
    """A set of delimiters, ready to be searched for.

    `firsts` are the characters that one can begin with. A match whose text is not in `all` is the beginning of a
    delimiter at the end of the text.
    """

    __slots__ = ("_before", "_marks", "all", "firsts", "match", "search")

    def __init__(self, words: tuple[str, ...]) -> None:
        pattern = re.compile(delimiter_pattern(words) if words else "(?!)")
        self.all = frozenset(words)
        self.search, self.match = pattern.search, pattern.match
        self.firsts = "".join(sorted({word[0] for word in words}))
        # A newline that is part of a delimiter only because templates write one there shows nothing by itself.
        self._before = max(map(self._framing, words), default=0)
        self._marks = sorted({word[0] for word in words if word[1:] not in self.all})

    def _framing(self, word: str) -> int:
        """How many first characters of a delimiter can be left out."""
        size = 0
        while word[size + 1 :] in self.all:
            size += 1
        return size

    def find(self, text: str, at: int) -> re.Match[str] | None:
        """The first delimiter or beginning of one; `str.find` runs ahead, many times faster than an expression."""
        start, end = at, len(text)
        while end - at >= LONG:
            # In windows, since a mark that is nowhere would else be looked for to the end each time.
            far = near = min(at + WINDOW, end)
            for mark in self._marks:
                spot = text.find(mark, at, near)
                near = spot if spot >= 0 else near
            at = near
            if near < far:
                break
        return self.search(text, max(start, at - self._before))
