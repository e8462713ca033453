"""The regular expressions of declarations, as grammars: a subset that can be read as it streams, and written.

A pattern is parsed into a few kinds of pieces. `begins` tells the literals with which a match begins, `node_of` makes
a grammar of it, `written` the shortest text that it matches. What a stream can't follow is refused: groups without a
bound, backreferences, lookbehinds, flags, and greedy repetition that only trying and going back would end rightly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct

from ..grammar import build as b
from ..grammar.nodes import Node

__all__ = [
    "LIMIT",
    "Either",
    "Group",
    "Many",
    "OneOf",
    "Piece",
    "Row",
    "Text",
    "Unreadable",
    "begins",
    "behind",
    "groups",
    "literals",
    "node_of",
    "parsed",
    "trimmed",
    "written",
]

ANY = r"\s\S"
"""The class of the dot."""

LIMIT = 256
"""Characters that an unbounded part of a delimiter may have: it is held until the delimiter is whole."""


class Unreadable(Exception):
    """A pattern with a part that can't be honoured: what was expected, and what is there."""

    def __init__(self, expected: str, found: str) -> None:
        super().__init__(expected, found)
        self.expected, self.found = expected, found


class Piece(Struct, frozen=True):
    """A part of a pattern; this one matches nothing but the empty text."""


class Text(Piece, frozen=True):
    """These characters."""

    text: str


class OneOf(Piece, frozen=True):
    """A character of a class."""

    cls: str


class Many(Piece, frozen=True):
    """A piece again and again."""

    item: Piece
    low: int
    high: int | None
    lazy: bool


class Row(Piece, frozen=True):
    """One piece after the other."""

    items: tuple[Piece, ...]


class Either(Piece, frozen=True):
    """One of several pieces."""

    items: tuple[Piece, ...]


class Group(Piece, frozen=True):
    """A piece with a name."""

    item: Piece
    name: str


class Look(Piece, frozen=True):
    """What must, or must not, come next."""

    item: Piece
    negative: bool


WORD_END = Look(OneOf(r"\w"), True)


class Finish(Piece, frozen=True):
    """The end of the input."""


# Parsing

_CLASSES = {letter: "\\" + letter for letter in "sSwWdD"}
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}
_MANY = re.compile(r"([*+?]|\{(\d+)(,?)(\d*)\})(\??)")
_OPENING = re.compile(r"\((?:\?P<(?P<name>\w+)>|(?P<kind>\?:|\?=|\?!)|(?!\?))")
_CLASS = re.compile(r"\[(\^?\]?(?:[^\]\\]|\\.)*)\]", re.DOTALL)


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0

    def either(self) -> Piece:
        items = [self.row()]
        while self.pattern.startswith("|", self.at):
            self.at += 1
            items.append(self.row())
        return items[0] if len(items) == 1 else Either(tuple(items))

    def row(self) -> Piece:
        items: list[Piece] = []
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            item = self.repeated(self.one(items))
            last = items[-1] if items else None
            if isinstance(item, Text) and isinstance(last, Text):
                items.pop()
                item = Text(last.text + item.text)
            items.append(item)
        return items[0] if len(items) == 1 else Row(tuple(items))

    def repeated(self, item: Piece) -> Piece:
        found = _MANY.match(self.pattern, self.at)
        if found is None:
            return item
        self.at = found.end()
        sign, low, comma, high, lazy = found.groups()
        if sign in "*+?":
            return Many(item, int(sign == "+"), 1 if sign == "?" else None, bool(lazy))
        return Many(item, int(low), int(high) if high else None if comma else int(low), bool(lazy))

    def one(self, before: list[Piece]) -> Piece:
        char = self.pattern[self.at]
        if char == "(":
            return self.group()
        if char == "[":
            return self.char_class()
        self.at += 1
        if char == "\\":
            return self.escape(before)
        if char == ".":
            return OneOf(ANY)
        if char == "$":
            return Finish()
        if char in "^*+?{":
            raise Unreadable("a pattern that a stream can follow", f"{char!r} at {self.at - 1}")
        return Text(char)

    def escape(self, before: list[Piece]) -> Piece:
        char = self.pattern[self.at : self.at + 1]
        self.at += 1
        if char in _CLASSES:
            return OneOf(_CLASSES[char])
        if char == "b":  # behind a word it must end; before one, what stood there is past
            word = before and isinstance(before[-1], Text) and re.search(r"\w\Z", before[-1].text)
            return WORD_END if word else Piece()
        if char == "Z":
            return Finish()
        if char.isalnum() and char not in _CONTROLS:
            raise Unreadable("a pattern that a stream can follow", f"'\\{char}' at {self.at - 2}")
        return Text(_CONTROLS.get(char, char))

    def char_class(self) -> Piece:
        found = _CLASS.match(self.pattern, self.at)
        if found is None:
            raise Unreadable("a class in brackets", self.pattern[self.at :])
        self.at = found.end()
        return OneOf(re.sub(r"(?<!\\)\[", r"\\[", found.group(1)))

    def group(self) -> Piece:
        found = _OPENING.match(self.pattern, self.at)
        if found is None:
            raise Unreadable("groups (..), (?:..), (?P<name>..), (?=..), (?!..)", self.pattern[self.at : self.at + 4])
        self.at = found.end()
        item = self.either()
        self.at += 1  # the pattern compiles, so the bracket is there
        if found["name"]:
            return Group(item, found["name"])
        return Look(item, found["kind"] == "?!") if found["kind"] in ("?=", "?!") else item


def parsed(pattern: str) -> Piece:
    """The pieces of a pattern; raises `Unreadable`."""
    try:
        re.compile(pattern, re.DOTALL)
    except re.error as error:
        raise Unreadable("a regular expression", str(error)) from error
    return _Parser(pattern).either()


# What is known of a pattern


def _items(piece: Piece) -> tuple[Piece, ...]:
    return piece.items if isinstance(piece, Row) else (piece,)


def groups(piece: Piece) -> set[str]:
    """The names of its groups."""
    match piece:
        case Group(item=item, name=name):
            return {name} | groups(item)
        case Row(items=items) | Either(items=items):
            return set().union(*map(groups, items))
        case Many(item=item) | Look(item=item):
            return groups(item)
        case _:
            return set()


def literals(piece: Piece) -> tuple[str, ...] | None:
    """All that it matches, if that is a few literals; an end of the input among them is left out."""
    match piece:
        case Text(text=text):
            return (text,)
        case Finish():
            return ()
        case Either(items=items):
            found = [literals(item) for item in items]
            return tuple(text for texts in found for text in texts or ()) if None not in found else None
        case _:
            return None


def behind(text: str, piece: Piece) -> Piece:
    """The piece behind a text, so that as much of it as can be is one literal."""
    match piece:
        case Text(text=own):
            return Text(text + own)
        case Either(items=items):
            return Either(tuple(behind(text, item) for item in items))
        case Row(items=(Many(item=item, low=0, high=1), *rest)):
            return Either((Row((behind(text, item), *rest)), behind(text, Row(tuple(rest)))))
        case Row(items=(first, *rest)):
            return Row((behind(text, first), *rest))
        case _:
            return Row((Text(text), piece))


def trimmed(piece: Piece) -> Piece:
    """Without whitespace that may stand in front: to text before it, that is layout."""
    items = _items(piece)
    while items and isinstance(items[0], Many) and items[0].item == OneOf(r"\s") and not items[0].low:
        items = items[1:]
    return items[0] if len(items) == 1 else Row(items)


def begins(piece: Piece, after: frozenset[str] = frozenset([""])) -> frozenset[str]:
    """The literals of which a match begins with one, in a text that goes on with `after`; one is empty if unknown."""
    match piece:
        case Text(text=text):
            return frozenset([text])
        case Row(items=items):
            for k in reversed(range(len(items))):
                after = begins(items[k], after)
                before = items[k - 1] if k else None
                if isinstance(before, Text) and isinstance(items[k], (Either, Many)):
                    after = frozenset(before.text + rest for rest in after)
                    return begins(Row(items[: k - 1]), after) if k > 1 else after
            return after
        case Either(items=items):
            return frozenset().union(*(begins(item, after) for item in items))
        case Many(item=item, low=low):
            return begins(item) | (frozenset() if low else after)
        case Group(item=item):
            return begins(item, after)
        case OneOf():
            return frozenset([""])
        case Finish():
            return frozenset()
        case _:
            return after


def _takes_space(piece: Many) -> bool:
    return isinstance(piece.item, OneOf) and re.fullmatch(f"[{piece.item.cls}]", " ") is not None


def written(piece: Piece, values: Mapping[str, str]) -> str:
    """The shortest text of it, with these values for its groups; raises `Unreadable` if it does not tell."""
    match piece:
        case Text(text=text):
            return text
        case Row(items=items):
            parts = [
                " " if before == WORD_END and isinstance(item, Many) and _takes_space(item) else written(item, values)
                for before, item in zip((None, *items), items, strict=False)
            ]
            return "".join(parts)
        case Either(items=items):
            return written(items[0], values)
        case Many(item=item, low=low):
            return written(item, values) * low
        case Group(item=item, name=name) if name not in values:
            return written(item, values)
        case Group(name=name):
            return values[name]
        case OneOf(cls=cls):
            if re.fullmatch(f"[{cls}]", " "):
                return " "
            raise Unreadable("a literal", f"[{cls}]")
        case _:
            return ""


# Grammars


def node_of(
    piece: Piece, captured: Mapping[str, Callable[[Node], Node]], after: frozenset[str] = frozenset([""])
) -> Node:
    """A grammar that reads what the pattern matches, before what begins as `after`; raises `Unreadable`.

    `captured` makes fields of the groups.
    """
    match piece:
        case Text(text=text):
            return b.literal(text)
        case OneOf(cls=cls):
            return b.one(cls)
        case Finish():
            return b.end()
        case Row(items=items):
            nodes: list[Node] = []
            for item in reversed(items):
                nodes.insert(0, node_of(item, captured, after))
                after = begins(item, after)
            return b.sequence(*nodes)
        case Either(items=items):
            return b.choice(*(node_of(item, captured, after) for item in items))
        case Many():
            return _many(piece, captured, after)
        case Group(item=item, name=name):
            inner = node_of(item, captured, after)
            return captured[name](inner) if name in captured else inner
        case Look(item=item, negative=negative):
            inner = node_of(item, {})
            return b.negate(inner) if negative else b.peek(inner)
        case _:
            return b.sequence()


def _many(piece: Many, captured: Mapping[str, Callable[[Node], Node]], after: frozenset[str]) -> Node:
    most = LIMIT if piece.high is None else min(piece.high, LIMIT)
    if not isinstance(piece.item, OneOf):
        return b.repeat(node_of(piece.item, captured, after | begins(piece.item)), piece.low, most)
    cls = piece.item.cls
    ambiguous = [text for text in after if re.match(f"[{cls}]", text) or (not text and cls == ANY)]
    if piece.high == piece.low or not ambiguous or cls == r"\s":
        return b.chars(cls, piece.low, most) if most else b.sequence()
    if not piece.lazy or after == {""}:
        raise Unreadable("a repetition that the next character ends", f"[{cls}] before {sorted(after)}")
    return b.repeat(b.negate(b.choice(*sorted(after - {""}))) + b.one(cls), piece.low, most)
