"""Which characters of an output became what: the output itself in colours, or a table of its spans when piped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct
from rich.console import Console

from ..events import (
    Event,
    kind_of,
)
from .inputs import Decoded
from .live import STYLES
from .output import Ink, table

__all__ = ["Span", "Spans", "spans", "tiles"]


class Span(Struct, frozen=True):
    """A stretch of the input, from ``start`` up to but without ``end``, and what it became."""

    start: int
    end: int
    kind: str


class Spans:
    """Keeps what is read, and at the end shows the output as it was written with each span in its colour."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._decoder = Decoded()
        self._text: list[str] = []
        self._events: list[Event] = []

    def take(self, piece: bytes, events: Sequence[Event], /) -> None:
        """Keep what was read and what came of it."""
        self._text.append(self._decoder.feed(piece))
        self._events.extend(events)

    def close(self) -> None:
        """Write the output in colours, or the table."""
        text = "".join(self._text) + self._decoder.finish()
        found = spans(self._events)
        if self._console.is_terminal:
            self._draw(text, found)
        else:
            rows = [(str(s.start), str(s.end), s.kind, quoted(text[s.start : s.end])) for s in found]
            table(self._console, ("start", "end", "kind", "text"), rows)

    def _draw(self, text: str, found: Sequence[Span]) -> None:
        ink = Ink(self._console)
        for kind in sorted({span.kind for span in found}):
            ink.write(f" {kind} ", _style(kind))
            ink.write(" ")
        ink.line("\n")
        for span in found:
            ink.write(text[span.start : span.end], _style(span.kind))
        ink.fresh_line()


def spans(events: Iterable[Event]) -> list[Span]:
    """The spans of all events that stand for characters, neighbours of one kind joined.

    In the order of the input, which is not that of the events where arguments had to wait for their call's name.
    """
    found: list[Span] = []
    for event in sorted((event for event in events if event.start < event.end), key=lambda event: event.start):
        span = Span(event.start, event.end, kind_of(event))
        if found and (found[-1].end, found[-1].kind) == (span.start, span.kind):
            span = Span(found.pop().start, span.end, span.kind)
        found.append(span)
    return found


def tiles(found: Iterable[Span], length: int) -> bool:
    """Whether the spans cover a text of this length without gap and without overlap."""
    at = 0
    for span in found:
        if span.start != at:
            return False
        at = span.end
    return at == length


def quoted(text: str) -> str:
    """A text on one line, as JSON writes it."""
    return msgspec.json.encode(text).decode()


def _style(kind: str) -> str:
    return f"{STYLES[kind]} reverse" if kind in ("markup", "stop", "malformed") else STYLES[kind]
