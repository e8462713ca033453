"""Sets of literal markers as regular expressions that also see the beginning of one at the end of the text."""

from __future__ import annotations

import re

__all__ = ["delimiter_pattern", "followed_pattern", "marker_pattern"]

_Trie = dict[str, "_Trie"]


def _trie(words: tuple[str, ...]) -> _Trie:
    root: _Trie = {}
    for word in words:
        node = root
        for char in word:
            node = node.setdefault(char, {})
    return root


def _pattern(node: _Trie, *, partial: bool) -> str:
    branches = [re.escape(char) + _pattern(child, partial=partial) for char, child in node.items()]
    if not branches:
        return ""
    if partial:
        branches.append(r"\Z")
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def delimiter_pattern(words: tuple[str, ...]) -> str:
    """Matches one of the words, or a proper beginning of one that ends the text; words must be prefix-free."""
    root = _trie(words)
    branches = [re.escape(char) + _pattern(child, partial=True) for char, child in root.items()]
    return "|".join(branches)


def marker_pattern(words: tuple[str, ...]) -> str:
    """Matches one of the words at a place, or a beginning of one (the empty one too) that ends the text."""
    if not words:
        return "(?!)"
    return _pattern(_trie(words), partial=True)


def followed_pattern(words: tuple[str, ...], gap: int) -> re.Pattern[str]:
    """Layout whitespace, then one of the words (group 1) or what may become one at the end of the text (group 2)."""
    full = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    layout = rf"[ \t\r\n]{{0,{gap}}}+"
    return re.compile(rf"{layout}(?:({full})|({_pattern(_trie(words), partial=True)}))" if words else r"()\Z")
