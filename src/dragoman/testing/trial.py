"""One input for a dialect, and the ways to cut and to read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from msgspec import Struct

from ..dialect import START, Dialect
from ..events import Event, merge
from ..parse.parser import Parser
from ..types import Message, Tool

__all__ = ["SELDOM", "Broken", "Trial", "chunkings", "encodable", "read", "require_same", "require_same_bytes"]

SELDOM = 0.2
"""How often is tried what costs as much as all the rest."""


class Broken(AssertionError):
    """A promise that did not hold, with the input that shows it."""


class Trial(Struct, frozen=True):
    """One input for a dialect; `message` is what it must be read as, where that is known."""

    dialect: Dialect
    text: str
    tools: tuple[Tool, ...] = ()
    start: str = START
    reason: str | None = None
    message: Message | None = None
    prefill: str = ""

    def parser(self) -> Parser:
        """A new parser for it."""
        return Parser(self.dialect, self.tools, start=self.start, prefill=self.prefill)

    def fail(self, what: str) -> Broken:
        """The exception to raise."""
        where = f"start {self.start!r}" + (f", prefill {self.prefill!r}" if self.prefill else "")
        return Broken(f"{what}\n  dialect {self.dialect.name}, {where}, input {self.text!r}")


def chunkings(text: str, random: Random, marks: Sequence[str] = ()) -> Iterator[list[str]]:
    """Ways to cut a text: whole, per character, in halves inside each marker, and at random."""
    yield [text]
    yield list(text)
    for mark in marks:
        at = text.find(mark)
        if at >= 0:
            middle = at + len(mark) // 2
            yield [text[:middle], text[middle:]]
    for size in (2, 5, 23):
        cuts = []
        at = 0
        while at < len(text):
            step = random.randint(0, size)
            cuts.append(text[at : at + step])
            at += step
        yield cuts


def read(trial: Trial, chunks: Sequence[str]) -> list[Event]:
    """The events of an input that comes in these chunks, deltas joined."""
    parser = trial.parser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return merge(events + parser.finish(trial.reason))


def require_same(trial: Trial, chunks: Sequence[str], expected: Sequence[Event]) -> None:
    """Raises `Broken` if the input, cut so, gives other events."""
    found = read(trial, chunks)
    if found != expected:
        raise trial.fail(f"cut as {list(chunks)} it gives\n  {_difference(expected, found)}")


def require_same_bytes(trial: Trial, expected: Sequence[Event]) -> None:
    """Raises `Broken` if the input, fed byte by byte, gives other events."""
    parser = trial.parser()
    events = [event for byte in trial.text.encode() for event in parser.feed_bytes(bytes([byte]))]
    if merge(events + parser.finish(trial.reason)) != expected:
        raise trial.fail("fed byte by byte it gives other events")


def encodable(text: str) -> bool:
    """Whether the text has no half characters."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _difference(expected: Sequence[Event], found: Sequence[Event]) -> str:
    for k, (a, b) in enumerate(zip(expected, found, strict=False)):
        if a != b:
            return f"event {k}: {b}\n  not {a}"
    return f"{len(found)} events, not {len(expected)}"
