"""By the output itself: which dialects read its beginning as something, and which as text?

A dialect's own machine reads the beginning as soon as one of its markers is there, so what counts as evidence is what
each grammar says, not a list kept here. Where one finds structure (markup as in its own examples, a thought, a call,
a stop marker), those that read the same characters as text are out. What is left is decided when it is one dialect, or
when all that are left have begun a call: then it is the one of whose own writing the most is there, of several the one
that the most models speak, going by what the dialects name. Until then, at most `HOLD` characters are held; if they do
not tell, it is the generic dialect. `Parser` with the name ``auto`` does all this.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from msgspec import Struct

from ..dialect import Dialect, Example
from ..errors import Inexpressible, InvalidStart
from ..events import CallBegin, ContentDelta, Event, Malformed, Markup, Problem, ReasoningDelta, Stop
from ..grammar.machine import Machine
from ..registry import dialects, get_dialect
from ..types import Message, ThinkingPart, ToolCall
from .answer import Answer, Certainty

__all__ = ["HOLD", "Detection"]

HOLD = 512
"""Characters that are held at most: more than any opener, its call's name and a sentence before it."""

GENERIC = "generic"
SHOWN = 60
"""Characters of the output that the evidence shows."""

SOME_NAME = "q0z7x"
"""A name that every dialect can write, and that is not part of any marker."""

Opening = Callable[[Dialect], Machine]


class Detection:
    """Reads the beginning of one output until it tells the dialect; `text` is all that was fed.

    The answer depends on the text, not on how it was cut. The work is that of the machines of those dialects that come
    into question, on `HOLD` characters. `machine` opens one where the output begins.
    """

    __slots__ = ("_awake", "_close", "_machine", "_readers", "text")

    def __init__(self, machine: Opening = Dialect.machine) -> None:
        self.text = ""
        self._machine = machine
        self._close = False  # something was found: go on character by character
        self._readers: list[Reader] = []
        self._awake: set[str] = set()  # dialects that read, or that have and are out
        self._begin("")

    def feed(self, chunk: str) -> Answer | None:
        """Read on; the answer as soon as there is one, after which nothing more is to be fed."""
        begin = len(self.text)
        self.text += chunk
        piece = chunk[: HOLD - begin]
        if not self._close:
            for reader in self._readers:
                reader.feed(piece)
            marked = _markers().pattern.search(self.text, max(0, begin - _markers().longest), begin + len(piece))
            self._close = marked is not None or any(reader.found for reader in self._readers)
            if self._close:  # once more, since what was first must not depend on the chunk
                self._begin(self.text[:begin])
        if self._close:
            for at, character in enumerate(piece, begin + 1):
                answer = self._step(character, at)
                if answer is not None:
                    return answer
        return self.finish() if len(self.text) >= HOLD else None

    def finish(self) -> Answer:
        """The answer if nothing more comes, or nothing more may be held."""
        read = min(len(self.text), HOLD)
        found = [reader for reader in self._readers if reader.found and not reader.broken]
        if found and not any(reader.generic for reader in self._readers):
            return self._answer(found, read, Certainty.WEAK)
        evidence = f"nothing in the first {read} characters of the output tells another"
        return Answer(get_dialect(GENERIC), evidence, Certainty.WEAK)

    def copy(self) -> Detection:
        """An independent detection in the same state."""
        other = Detection.__new__(Detection)
        other.text, other._machine, other._close = self.text, self._machine, self._close
        other._readers, other._awake = [reader.copy() for reader in self._readers], self._awake.copy()
        return other

    def accepts(self) -> frozenset[str]:
        """What may come next in any dialect that has come into question so far."""
        return frozenset().union(*(reader.machine.accepts() for reader in self._readers))

    @property
    def hold_bound(self) -> int:
        """Characters that are held at most, by this and then by any dialect that it may find."""
        return max(HOLD, *(dialect.hold_bound for dialect in dialects()))

    def _begin(self, text: str) -> None:
        self._readers, self._awake = [], set()
        self._wake((get_dialect(GENERIC), *_markers().bare), text)

    def _wake(self, found: Iterable[Dialect], text: str) -> None:
        """Let more dialects read, from the beginning; those that read alike do it together."""
        alike = {(reader.generic, id(reader.machine.program)): reader for reader in self._readers}
        for dialect in found:
            if dialect.name in self._awake:
                continue
            self._awake.add(dialect.name)
            try:
                reader = Reader(dialect, self._machine(dialect))
            except InvalidStart:
                continue
            key = (reader.generic, id(reader.machine.program))
            if key not in alike:
                reader.feed(text)
                alike[key] = reader
            else:
                alike[key].dialects += (dialect,)
        self._readers = list(alike.values())

    def _step(self, character: str, read: int) -> Answer | None:
        for reader in self._readers:
            reader.feed(character)
        ending = [
            dialect for marker, dialect in _markers().by_end.get(character, ()) if self.text.endswith(marker, 0, read)
        ]
        if ending:
            self._wake(ending, self.text[:read])
        self._drop()
        left = [reader for reader in self._readers if not reader.generic]
        alone = len(left) == len(self._readers) == 1 and left[0].found
        if alone or (left and all(reader.called for reader in left)):
            return self._answer(left, read, Certainty.STRONG)
        return None

    def _drop(self) -> None:
        """Leave out those that read as text what another reads as structure, first things first; then the broken."""
        for start, deep in sorted({place for reader in self._readers for place in reader.places}):
            if any((start, deep) in reader.places for reader in self._readers):
                self._readers = [reader for reader in self._readers if not reader.has_as_text(start, thoughts=deep)]
        if any(reader.found and not reader.broken for reader in self._readers):
            self._readers = [reader for reader in self._readers if not reader.broken]

    def _answer(self, left: list[Reader], read: int, certainty: Certainty) -> Answer:
        pairs = [(reader, dialect) for reader in left for dialect in reader.dialects]
        best, dialect = min(pairs, key=lambda pair: (-pair[0].written_so(pair[1], self.text), _rarity(pair[1])))
        first = min((start for start, _ in best.places), default=0)
        return Answer(dialect, f"the output has {self.text[first:read][-SHOWN:]!r}", certainty)


class Reader:
    """The machine of a dialect, or of several that read alike, and what has been seen of its events."""

    __slots__ = (
        "broken",
        "called",
        "dialects",
        "generic",
        "machine",
        "name_at",
        "places",
        "texts",
        "thoughts",
        "written",
    )

    def __init__(self, dialect: Dialect, machine: Machine) -> None:
        self.dialects: tuple[Dialect, ...] = (dialect,)
        self.machine = machine
        self.generic = dialect.name == GENERIC
        self.written = _written(dialect)
        self.called = self.broken = False
        self.name_at = -1
        self.places: frozenset[tuple[int, bool]] = frozenset()  # of structure; may it not be part of a thought either?
        self.texts: list[tuple[int, int]] = []
        self.thoughts: list[tuple[int, int]] = []

    @property
    def found(self) -> bool:
        """Whether there is any structure for it."""
        return bool(self.places)

    def feed(self, text: str) -> None:
        """Let the machine read on, and look at what it says."""
        for event in self.machine.feed(text):
            self._see(event)

    def has_as_text(self, position: int, *, thoughts: bool = False) -> bool:
        """Whether the character there is plain text to this dialect; also part of a thought, if that is asked."""
        spans = (*self.texts, *self.thoughts) if thoughts else self.texts
        return any(start <= position < end for start, end in spans)

    def written_so(self, dialect: Dialect, text: str) -> int:
        """How many characters a dialect itself writes before a call's name, if the output has them all there, but for
        white space; else 0.
        """
        if not self.called:
            return 0
        try:
            written = dialect.render(Message("assistant", (ToolCall(SOME_NAME, "{}"),)))
        except Inexpressible:
            return 0
        head = _solid(written.partition(SOME_NAME)[0]).rstrip('"')  # which may be part of the name's span
        return len(head) if head in _solid(text[: self.name_at]) else 0

    def copy(self) -> Reader:
        """An independent reader in the same state."""
        other = Reader(self.dialects[0], self.machine.copy())
        other.dialects = self.dialects
        other.called, other.broken, other.name_at, other.places = self.called, self.broken, self.name_at, self.places
        other.texts, other.thoughts = self.texts.copy(), self.thoughts.copy()
        return other

    def _see(self, event: Event) -> None:
        match event:
            case ContentDelta():
                _join(self.texts, event.start, event.end)
            case ReasoningDelta():
                if not self.thoughts:
                    self.places |= {(event.start, False)}
                _join(self.thoughts, event.start, event.end)
            case Malformed() | Problem():
                self.broken = True
            case Markup() if any(marker in event.text for marker in self.written):
                self.places |= {(event.start, False)}
            case Stop():
                self.places |= {(event.start, True)}
            case CallBegin():
                self.places |= {(event.start, True)}
                self.name_at = event.start if not self.called else self.name_at
                self.called = True
            case _:
                pass


class Markers(Struct, frozen=True):
    """What makes a dialect come into question: `by_end` has each marker by its last character, `bare` the dialects that
    may begin without one.
    """

    pattern: re.Pattern[str]
    longest: int
    by_end: Mapping[str, tuple[tuple[str, Dialect], ...]]
    bare: tuple[Dialect, ...]


@cache
def _markers() -> Markers:
    known = [dialect for dialect in dialects() if dialect.name != GENERIC]
    bare = tuple(dialect for dialect in known if any(_is_bare(dialect, example) for example in dialect.examples))
    pairs = [(marker, dialect) for dialect in known for marker in dict.fromkeys((*dialect.marks, *dialect.stops))]
    pairs = [(marker, dialect) for marker, dialect in pairs if marker.strip() and dialect not in bare]
    ends = {marker[-1] for marker, _ in pairs}
    by_end = {end: tuple(pair for pair in pairs if pair[0].endswith(end)) for end in ends}
    every = sorted({marker for marker, _ in pairs}, key=len, reverse=True)
    return Markers(re.compile("|".join(map(re.escape, every))), max(map(len, every)), by_end, bare)


def _written(dialect: Dialect) -> tuple[str, ...]:
    """The markers that a dialect's models really write; its grammar reads more."""
    texts = (*(example.text for example in dialect.examples), *dialect.stops)
    return tuple(marker for marker in (*dialect.marks, *dialect.stops) if any(marker in text for text in texts))


def _is_bare(dialect: Dialect, example: Example) -> bool:
    """Whether a call or a thought of the example begins before any marker of the dialect."""
    firsts = [example.text.find(marker) for marker in dialect.marks]
    first = min((at for at in firsts if at >= 0), default=len(example.text))
    parts = example.message.parts
    told = [
        part.text if isinstance(part, ThinkingPart) else part.name
        for part in parts
        if isinstance(part, ThinkingPart | ToolCall)
    ]
    return any(0 <= example.text.find(each) < first for each in told)


def _rarity(dialect: Dialect) -> tuple[int, int, str]:
    """Less for what more models speak, and has fewer markers."""
    return -len(dialect.models), len(dialect.marks), dialect.name


def _join(spans: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a span behind the others, as one with the last if it touches it."""
    if spans and spans[-1][1] == start:
        start, _ = spans.pop()
    spans.append((start, end))


def _solid(text: str) -> str:
    """A text without its white space."""
    return re.sub(r"\s+", "", text)
