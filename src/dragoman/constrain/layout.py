"""The layout of a dialect's turns, measured: what its writer puts between thoughts, text and calls.

A dialect says once how messages are written. Here that is asked of its writer, with words that stand for every
thought, text and call: what comes out between two of them is what the dialect has there. So a constraint can't differ
from what is rendered, and nothing about layout is said twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from msgspec import Struct

from ..dialect import Dialect
from ..errors import Inexpressible, InvalidDialect
from ..grammar.nodes import Label, Meaning, Until
from ..idioms.turns import MENTIONING
from ..types import Message, Part, TextPart, ThinkingPart, ToolCall

__all__ = ["CALL", "END", "START", "TEXT", "THOUGHT", "Layout", "beginning", "layout_of", "native_call", "text_on"]

START, THOUGHT, TEXT, CALL, END = "start", "thought", "text", "call", "end"

LONGEST = 3
"""Parts of the messages that are tried: what stands between two parts depends on no more than their neighbours."""

ARGUMENTS = '{"qkey": "qvalue"}'


def text_on(channel: str) -> str:
    """The kind of a text on a channel of its own."""
    return f"{TEXT}:{channel}" if channel else TEXT


class Layout(Struct, frozen=True):
    """What a dialect writes between the parts of a turn.

    `between` has the literal text between two kinds of parts, from `START` to `END`; a pair that is not there can't be
    written. What a call itself is lies between: it begins with its name or its id. `marks` are the markers that no text
    may hold, `thought_marks` those that no thought may; texts could well hold what is `barred`, at which the parser
    looks for more. In `prose`, Markdown code quotes them. Where it `mentions`, a marker of thoughts within a turn with
    punctuation behind it opens none.
    """

    dialect: Dialect
    between: Mapping[tuple[str, str], str]
    marks: tuple[str, ...]
    thought_marks: tuple[str, ...]
    barred: tuple[str, ...]
    prose: bool
    mentions: bool

    def after(self, kind: str) -> Iterator[tuple[str, str]]:
        """What can come after a part of this kind, with the text before it."""
        return ((then, text) for (before, then), text in self.between.items() if before == kind)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of parts that the dialect can write."""
        return tuple(dict.fromkeys(then for _, then in self.between if then != END))

    @property
    def texts(self) -> tuple[str, ...]:
        """The kinds of text: on no channel, and on each of its own."""
        return tuple(kind for kind in self.kinds if kind.startswith(TEXT))


_known: dict[int, Layout] = {}
KEPT = 256
"""Layouts that are kept; each keeps its dialect, so that the identity by which it is found stays its own."""


def layout_of(dialect: Dialect) -> Layout:
    """The layout that the writer of a dialect has; measured once.

    Raises `InvalidDialect` where what stands between two parts depends on more than what they are.
    """
    known = _known.get(id(dialect))
    if known is None:
        if len(_known) >= KEPT:
            _known.clear()
        known = _known[id(dialect)] = _measure(dialect)
    return known


def _measure(dialect: Dialect) -> Layout:
    channels = {
        part.channel
        for example in dialect.examples
        for part in example.message.parts
        if isinstance(part, TextPart) and part.channel
    }
    kinds = (THOUGHT, TEXT, *map(text_on, sorted(channels)), CALL)
    between: dict[tuple[str, str], str] = {}
    for length in range(LONGEST + 1):
        for sequence in product(kinds, repeat=length):
            for pair, text in _measured(dialect, sequence):
                if between.setdefault(pair, text) != text:
                    raise InvalidDialect(
                        dialect.name,
                        f"a writer that puts one and the same text between {pair[0]} and {pair[1]}",
                        f"{between[pair]!r} and {text!r}",
                    )
    marks = _marks(dialect, Meaning.CONTENT, Meaning.REASONING)
    prose = any(isinstance(node, Until) and node.prose for node in dialect.grammar.walk())
    return Layout(
        dialect,
        _without_tail(between, marks),
        marks,
        _marks(dialect, Meaning.REASONING),
        tuple(mark for mark in marks if mark.strip() and _is_written(dialect, TextPart(f"q{mark}q"))),
        prose,
        _mentions(dialect) if THOUGHT in {then for _, then in between} else False,
    )


def _marks(dialect: Dialect, *meanings: Meaning) -> tuple[str, ...]:
    """What no text may hold: the dialect's markers, and all at which its parser would stop reading such text.

    Of two of which one ends in the other, that is the shorter.
    """
    found = dict.fromkeys(mark for mark in (*dialect.marks, *dialect.stops) if mark)
    for node in dialect.grammar.walk():
        if isinstance(node, Label) and node.meaning in meanings:
            for inner in node.walk():
                if isinstance(inner, Until):
                    found.update(dict.fromkeys((*inner.delimiters, *inner.finals)))
    return tuple(mark for mark in found if not any(mark != other and mark.endswith(other) for other in found))


def _mentions(dialect: Dialect) -> bool:
    """Whether the writer refuses thoughts within a turn for how they begin."""
    plain, mentioned = (ThinkingPart(f"{first}q") for first in ("q", MENTIONING[-1]))
    return _is_written(dialect, TextPart("q"), plain) and not _is_written(dialect, TextPart("q"), mentioned)


def _is_written(dialect: Dialect, *parts: Part) -> bool:
    try:
        dialect.render(Message("assistant", parts))
    except Inexpressible:
        return False
    return True


def _measured(dialect: Dialect, sequence: tuple[str, ...]) -> Iterator[tuple[tuple[str, str], str]]:
    """What stands between the parts of a message of these kinds; nothing if the dialect can't write it."""
    parts: list[Part] = []
    holes: list[tuple[str, str]] = []
    for k, kind in enumerate(sequence):
        if kind == CALL:
            call = native_call(dialect, f"qname{k}", ARGUMENTS, sum(one == CALL for one in sequence[:k]))
            parts.append(call)
            holes.append((call.name, "qvalue"))
        else:
            word = f"qword{k}q"
            parts.append(ThinkingPart(word) if kind == THOUGHT else TextPart(word, kind.partition(":")[2] or None))
            holes.append((word, word))
    try:
        written = dialect.render(Message("assistant", tuple(parts)))
    except Inexpressible:
        return
    at = 0
    before = START
    for part, (first, last), kind in zip(parts, holes, sequence, strict=True):
        starts = _starts(written, at, first, part)
        yield (before, kind), written[at:starts]
        before, at = kind, _ends(written, starts, last, part)
    yield (before, END), written[at:]


def native_call(dialect: Dialect, name: str, arguments: str, index: int = 0) -> ToolCall:
    """A call with the id that a model of the dialect itself would give it."""
    return ToolCall(name, arguments, dialect.native_id(name, index) if dialect.native_id is not None else None)


def _starts(written: str, at: int, word: str, part: Part) -> int:
    """Where a part begins: with its text, or a call with its name or id."""
    places = [written.find(word, at)]
    if isinstance(part, ToolCall) and part.id is not None:
        places.append(written.find(part.id, at))
    return min(place for place in places if place >= 0)


def _ends(written: str, at: int, word: str, part: Part) -> int:
    """Where a part ends, but for what stands behind every one of its kind: its text, its arguments or its id."""
    end = written.index(word, at) + len(word)
    if isinstance(part, ToolCall) and part.id is not None:
        end = max(end, written.index(part.id, at) + len(part.id))
    return end


def beginning(texts: Sequence[str]) -> str:
    """What all these texts begin with."""
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    same = next((k for k, char in enumerate(first) if char != last[k]), len(first))
    return first[:same]


def _without_tail(between: dict[tuple[str, str], str], marks: tuple[str, ...]) -> Mapping[tuple[str, str], str]:
    """The same without what stands behind every call, whatever comes next: that belongs to the call.

    No marker is cut in two.
    """
    behind = [text for (before, _), text in between.items() if before == CALL]
    tail = beginning(behind)
    for mark in marks:
        for text in behind:
            at = text.find(mark)
            while 0 <= at < len(tail):
                if at + len(mark) > len(tail):
                    tail = tail[:at]
                at = text.find(mark, at + 1)
    return {pair: text.removeprefix(tail) if pair[0] == CALL else text for pair, text in between.items()}
