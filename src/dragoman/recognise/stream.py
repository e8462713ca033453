"""By the output itself: which dialects read its beginning as something, and which as text?

Every dialect's own machine reads the beginning, so what counts as evidence is what each grammar says, not a list kept
here. As soon as one finds structure (markup, a thought, a call, a stop marker), those that have read the same
characters as text are out; so are, once a call has begun, those for which its name is text. What is left is decided
when it is one dialect, or when all that are left have begun a call: then it is the one of whose own writing the most
is there, of several the one with the fewest markers, since nothing was seen of what the others have besides. Until
then, at most `HOLD` characters are held; if they do not tell, it is the generic dialect. `Parser` with the name
``auto`` does all this.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ..dialect import Dialect
from ..errors import Inexpressible, InvalidStart
from ..events import CallBegin, ContentDelta, Event, Malformed, Markup, Problem, ReasoningDelta, Stop
from ..grammar.machine import Machine
from ..registry import dialects, get_dialect
from ..types import Message, ToolCall
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

    The answer depends on the text, not on how it was cut. The work is that of all dialects' machines on `HOLD`
    characters; the first `Detection` compiles every dialect. `machine` opens one where the output begins.
    """

    __slots__ = ("_close", "_generic", "_machine", "_readers", "text")

    def __init__(self, machine: Opening = Dialect.machine) -> None:
        self.text = ""
        self._machine = machine
        self._close = False  # something was found: go on character by character
        self._generic: Reader | None
        self._readers: list[Reader]
        self._begin("")

    def feed(self, chunk: str) -> Answer | None:
        """Read on; the answer as soon as there is one, after which nothing more is to be fed."""
        begin = len(self.text)
        self.text += chunk
        piece = chunk[: HOLD - begin]
        if not self._close:
            for reader in self._all():
                reader.feed(piece)
            self._close = any(reader.found for reader in self._readers)
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
        if found and self._generic is None:
            return self._answer(found, read, Certainty.WEAK)
        evidence = f"nothing in the first {read} characters of the output tells another"
        return Answer(get_dialect(GENERIC), evidence, Certainty.WEAK)

    def copy(self) -> Detection:
        """An independent detection in the same state."""
        other = Detection.__new__(Detection)
        other.text, other._machine, other._close = self.text, self._machine, self._close
        other._readers = [reader.copy() for reader in self._readers]
        other._generic = self._generic.copy() if self._generic is not None else None
        return other

    def accepts(self) -> frozenset[str]:
        """What may come next in any dialect that is left."""
        return frozenset().union(*(reader.machine.accepts() for reader in self._all()))

    @property
    def hold_bound(self) -> int:
        """Characters that are held at most, by this and then by the dialect that it finds."""
        return max(HOLD, *(reader.dialect.hold_bound for reader in self._all()))

    def _all(self) -> list[Reader]:
        return self._readers if self._generic is None else [*self._readers, self._generic]

    def _begin(self, text: str) -> None:
        generic = get_dialect(GENERIC)
        self._generic = Reader(generic, self._machine(generic))
        self._readers = _readers(self._machine)
        for reader in self._all():
            reader.feed(text)

    def _step(self, character: str, read: int) -> Answer | None:
        for reader in self._all():
            reader.feed(character)
        self._drop()
        left = self._readers
        alone = len(left) == 1 and left[0].found and self._generic is None
        if alone or (left and all(reader.called for reader in left)):
            return self._answer(left, read, Certainty.STRONG)
        return None

    def _drop(self) -> None:
        """Leave out those that read as text what another reads as structure, and those that find it broken."""
        first = min((reader.first for reader in self._readers if reader.found), default=-1)
        name = min((reader.name_at for reader in self._readers if reader.called), default=-1)
        sound = any(reader.found and not reader.broken for reader in self._readers)
        self._readers = [
            reader
            for reader in self._readers
            if not reader.has_as_text(first)
            and (reader.called or not reader.has_as_text(name, thoughts=True))
            and not (reader.broken and sound)
        ]
        if self._generic is not None and self._generic.has_as_text(first):
            self._generic = None

    def _answer(self, left: list[Reader], read: int, certainty: Certainty) -> Answer:
        best = min(
            left, key=lambda reader: (-reader.written_so(self.text) if reader.called else 0, _commitment(reader))
        )
        return Answer(best.dialect, f"the output has {self.text[best.first : read][-SHOWN:]!r}", certainty)


class Reader:
    """A dialect's machine, and what has been seen of its events."""

    __slots__ = ("broken", "called", "dialect", "first", "found", "machine", "name", "name_at", "texts", "thoughts")

    def __init__(self, dialect: Dialect, machine: Machine) -> None:
        self.dialect, self.machine = dialect, machine
        self.found = self.called = self.broken = False
        self.first = self.name_at = -1
        self.name = ""
        self.texts: list[tuple[int, int]] = []
        self.thoughts: list[tuple[int, int]] = []

    def feed(self, text: str) -> None:
        """Let the machine read on, and look at what it says."""
        for event in self.machine.feed(text):
            if event.end > 0 or isinstance(event, CallBegin):  # what lies before was given, not written
                self._see(event)

    def has_as_text(self, position: int, *, thoughts: bool = False) -> bool:
        """Whether the character there is plain text to this dialect; also part of a thought, if that is asked."""
        spans = (*self.texts, *self.thoughts) if thoughts else self.texts
        return any(start <= position < end for start, end in spans)

    def written_so(self, text: str) -> int:
        """How many characters the dialect itself writes before a call's name, if the output has them all there, but for
        white space; else 0.
        """
        try:
            written = self.dialect.render(Message("assistant", (ToolCall(SOME_NAME, "{}"),)))
        except Inexpressible:
            return 0
        head = _solid(written.partition(SOME_NAME)[0])
        return len(head) if _solid(text[: max(self.name_at, 0)]).endswith(head) else 0

    def copy(self) -> Reader:
        """An independent reader in the same state."""
        other = Reader(self.dialect, self.machine.copy())
        other.found, other.called, other.broken = self.found, self.called, self.broken
        other.first, other.name_at, other.name = self.first, self.name_at, self.name
        other.texts, other.thoughts = self.texts.copy(), self.thoughts.copy()
        return other

    def _see(self, event: Event) -> None:
        match event:
            case ContentDelta():
                _join(self.texts, event.start, event.end)
                return
            case Malformed() | Problem():
                self.broken = True
                return
            case Markup() if not event.text.strip():
                return
            case ReasoningDelta():
                _join(self.thoughts, event.start, event.end)
            case CallBegin() if not self.called:
                self.called, self.name, self.name_at = True, event.name, event.start
            case Markup() | Stop() | CallBegin():
                pass
            case _:
                return
        if not self.found:
            self.found, self.first = True, event.start


def _readers(machine: Opening) -> list[Reader]:
    """A reader for each way to read but the generic one."""
    alike: dict[int, Reader] = {}
    for dialect in dialects():
        try:
            reader = Reader(dialect, machine(dialect))
        except InvalidStart:
            continue
        if dialect.name != GENERIC:
            other = alike.setdefault(id(reader.machine.program), reader)
            alike[id(reader.machine.program)] = min(other, reader, key=_commitment)
    return list(alike.values())


def _commitment(reader: Reader) -> tuple[int, str]:
    """How much more than what was seen it would be to be this dialect."""
    return len(reader.dialect.marks), reader.dialect.name


def _join(spans: list[tuple[int, int]], start: int, end: int) -> None:
    """Add a span behind the others, as one with the last if it touches it."""
    if spans and spans[-1][1] == start:
        start, _ = spans.pop()
    spans.append((start, end))


def _solid(text: str) -> str:
    """A text without its white space."""
    return re.sub(r"\s+", "", text)
