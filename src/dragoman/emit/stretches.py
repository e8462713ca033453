"""Free text up to a word, as an automaton: what a `Scan` says, one character at a time.

The automaton follows how much of a word the text ends with (Aho and Corasick, 1975) and, where code hides words, in
which kind of Markdown code it is, by the rules of `dragoman.grammar.prose`. A run of backticks is counted no further
than `RUNS`: longer ones open no code here, so they can't be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from .rules import Chars, Expr

__all__ = ["RUNS", "Edges", "Place", "Stretch", "edges", "is_end", "unread"]

RUNS = 5
"""The longest run of backticks that opens code."""


class Stretch(Expr, frozen=True, cache_hash=True):
    """Text in which the first of `words` that no code hides is one of `ends`, and stands at its end.

    With `cut`, that word is left out: the text is what stands before it. Without `ends`, no word is in the text, which
    may end anywhere. `runs` is the longest run of backticks that opens code, 0 where there must be none; ``None`` is
    text in which backticks are nothing special.
    """

    words: tuple[str, ...]
    ends: tuple[str, ...] = ()
    cut: bool = False
    runs: int | None = None


class Place(Struct, frozen=True):
    """A state: the beginning of a word that the text ends with, or the kind of code that is open.

    `size` is the run of backticks that opened the code, `run` the one being read.
    """

    seen: str = ""
    mode: str = "text"
    size: int = 0
    run: int = 0


Edges: TypeAlias = tuple[tuple[Chars, Place | None], ...]
"""Where the characters of each class lead; ``None`` is the end of the text."""


@lru_cache(4096)
def edges(stretch: Stretch, place: Place) -> Edges:
    """The ways on from a place; characters in none of the classes can't come."""
    special = "".join(sorted({*"".join(stretch.words), *("`\n" if stretch.runs is not None else "")}))
    targets: dict[Place | None, list[str]] = {}
    for char in special:
        for target in _after(stretch, place, char):
            targets.setdefault(target, []).append(char)
    ways: list[tuple[Chars, Place | None]] = []
    for other in _after(stretch, place, ""):
        same = "".join(targets.pop(other, ()))
        ways.append((_class("".join(char for char in special if char not in same), negated=True), other))
    return (*((_class("".join(found)), target) for target, found in targets.items()), *ways)


def is_end(stretch: Stretch, place: Place) -> bool:
    """Whether the text may end here, without another character."""
    if not stretch.ends:
        return True
    return stretch.cut and any(_reads(stretch, place, word) for word in stretch.ends)


@lru_cache(4096)
def unread(stretch: Stretch, word: str) -> tuple[str, ...]:
    """The beginnings of words behind which this word would not be the first one, and longest, at its end."""
    begun = {other[:size] for other in stretch.words for size in range(1, len(other))}
    return tuple(sorted(seen for seen in begun if not _reads(stretch, Place(seen), word)))


def _reads(stretch: Stretch, place: Place, word: str) -> bool:
    plain = Stretch(stretch.words, (word,), runs=stretch.runs)
    for at, char in enumerate(word):
        target = next(_after(plain, place, char), place)
        if target is None:
            return at == len(word) - 1
        place = target
    return False


def _class(given: str, negated: bool = False) -> Chars:
    ranges: list[tuple[int, int]] = []
    for code in sorted(map(ord, given)):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1] = (ranges[-1][0], code)
        else:
            ranges.append((code, code))
    return Chars(tuple(ranges), negated)


def _after(stretch: Stretch, place: Place, char: str) -> Iterator[Place | None]:
    """The place behind this character, if it may come; an empty one stands for all that are in no word."""
    size, run = place.size, place.run
    match place.mode:
        case "text":
            yield from _in_text(stretch, place.seen, char)
        case "opening" if char == "`":
            if run < (stretch.runs or 0):
                yield Place("", "opening", 0, run + 1)
        case "opening":
            yield from _after(stretch, Place("", "info" if run >= 3 else "span", run), char)
        case "span" | "info" if char == "`":
            yield Place("", "closing", size, 1)
        case "span" if char == "\n":
            yield from _in_text(stretch, "", char)
        case "info" | "fence" if char == "\n":
            yield Place("", "line", size, 0)
        case "closing" if char == "`":
            yield Place("", "closing", size, min(run + 1, size + 1))
        case "closing":
            yield from _in_text(stretch, "", char) if run == size else _after(stretch, Place("", "span", size), char)
        case "line" if char == "`":
            yield Place("", "line", size, min(run + 1, size))
        case "line":
            yield from _in_text(stretch, "", char) if run >= size else _after(stretch, Place("", "fence", size), char)
        case _:
            yield place


def _in_text(stretch: Stretch, seen: str, char: str) -> Iterator[Place | None]:
    if char == "`" and stretch.runs is not None:
        if stretch.runs:
            yield Place("", "opening", 0, 1)
        return
    text = seen + char if char else ""
    whole = max((word for word in stretch.words if text.endswith(word)), key=len, default=None)
    if whole is not None:
        if whole in stretch.ends and not stretch.cut:
            yield None
        return
    while text and not any(word.startswith(text) for word in stretch.words):
        text = text[1:]
    yield Place(text)
