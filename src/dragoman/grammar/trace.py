"""A readable trace of a parse: what was read, what it became, and what had to be held back until then.

Works on anything that reads as a machine does: a `Machine` with a grammar of one's own, or a `Parser`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec import Struct

from ..events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    ContentDelta,
    Event,
    Problem,
    Stop,
    TagDelta,
    TagEnd,
    kind_of,
)

__all__ = ["Reader", "Step", "Tracer", "explain"]


class Reader(Protocol):
    """What can be traced."""

    def feed(self, chunk: str, /) -> list[Event]:
        """The events that a chunk decides."""

    def finish(self, reason: str | None = None) -> list[Event]:
        """The events of the end."""

    @property
    def held(self) -> int:
        """Characters that wait to be decided."""


class Step(Struct, frozen=True):
    """Neighbouring events of one kind: their span, what they say beyond their characters, and when that was known.

    `read` is how many characters had been read when the first of them came out, `held` the most that was held back
    since the event before it.
    """

    start: int
    end: int
    kind: str
    says: str
    read: int
    held: int


class Tracer:
    """Collects the steps of a parse."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self._read = self._held = 0

    def add(self, events: Iterable[Event], read: int, held: int) -> None:
        """Take the events that came when `read` more characters had been read, and what is held after them."""
        self._read += read
        anything = False
        for event in events:
            anything = True
            self._join(Step(event.start, event.end, kind_of(event), _says(event), self._read, self._held))
        self._held = held if anything else max(self._held, held)

    def _join(self, step: Step) -> None:
        last = self.steps[-1] if self.steps else None
        same = last is not None and (last.kind, last.says, last.end) == (step.kind, step.says, step.start)
        if last is not None and same and step.end > step.start:
            self.steps[-1] = Step(last.start, step.end, last.kind, last.says, last.read, max(last.held, step.held))
        else:
            self.steps.append(step)


def explain(reader: Reader, chunks: Iterable[str], reason: str | None = None) -> str:
    """Read the chunks to their end and tell, a line a step, what became of them; a string is read per character."""
    tracer = Tracer()
    text = []
    for chunk in chunks:
        text.append(chunk)
        tracer.add(reader.feed(chunk), len(chunk), reader.held)
    tracer.add(reader.finish(reason), 0, reader.held)
    whole = "".join(text)
    lines = [f"{'span':>9}  {'read':>5}  {'held':>4}  event"]
    for step in tracer.steps:
        said = " ".join(filter(None, (step.kind, step.says, repr(whole[step.start : step.end]))))
        lines.append(f"{f'{step.start}-{step.end}':>9}  {step.read:>5}  {step.held:>4}  {said}")
    return "\n".join(lines)


def _says(event: Event) -> str:
    """What an event says beyond its characters."""
    match event:
        case ContentDelta(channel=channel):
            return f"on {channel}" if channel else ""
        case CallBegin(index=index, name=name, id=None):
            return f"call {index} of {name}"
        case CallBegin(index=index, name=name, id=known):
            return f"call {index} of {name}, id {known}"
        case ArgumentsDelta(index=index):
            return f"of call {index}"
        case CallEnd(index=index, status=status, problems=problems):
            return " ".join([f"call {index} {status}", *(f"{p.kind}: {p.detail}" for p in problems)])
        case Problem():
            return f"{event.kind}: {event.detail}"
        case Stop(reason=reason, marker=None):
            return f"reason {reason}"
        case TagDelta(tag=tag) | TagEnd(tag=tag):
            return tag
        case _:
            return ""
