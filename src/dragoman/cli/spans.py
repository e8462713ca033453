"""Which characters of an output became what: the output itself in colours, or a table of its spans when piped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from json import dumps

import msgspec
from msgspec import Struct
from rich.console import Console

from ..dialect import Dialect, Example
from ..events import CallBegin, Event, kind_of
from ..parse.parser import Parser
from .inputs import Decoded
from .looks import LOOKS, Look
from .output import Ink, lines, table

__all__ = ["Span", "Spans", "draw", "example_spans", "legend", "quoted", "span_table", "spans", "tiles"]


class Span(Struct, frozen=True):
    """A stretch of the input, from ``start`` up to but without ``end``, and what it became."""

    start: int
    end: int
    kind: str

    @property
    def look(self) -> Look:
        """How it is dressed."""
        return LOOKS[self.kind]


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
            ink = Ink(self._console)
            legend(ink, found)
            draw(ink, text, found)
        else:
            span_table(self._console, text, found)


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


def example_spans(dialect: Dialect, example: Example) -> list[Span]:
    """What the characters of an example become.

    A call's name that was read as a part of its header belongs to no event; it is shown as a name all the same.
    """
    parser = Parser(dialect, example.tools, start=example.start)
    events = parser.feed(example.text) + parser.finish(example.reason)
    found = spans(events)
    for event in events:
        if isinstance(event, CallBegin) and event.start == event.end:
            at = example.text.rfind(event.name, 0, event.start)
            found = [piece for span in found for piece in _parted(span, at, at + len(event.name))]
    return found


def _parted(span: Span, start: int, end: int) -> Iterator[Span]:
    """A span of markup with the name that stands in it, from `start` to `end`, as a span of its own; others whole."""
    if span.kind != "markup" or not span.start <= start < end <= span.end:
        yield span
        return
    pieces = (Span(span.start, start, "markup"), Span(start, end, "name"), Span(end, span.end, "markup"))
    yield from (piece for piece in pieces if piece.start < piece.end)


def tiles(found: Iterable[Span], length: int) -> bool:
    """Whether the spans cover a text of this length without gap and without overlap."""
    at = 0
    for span in found:
        if span.start != at:
            return False
        at = span.end
    return at == length


def legend(ink: Ink, found: Iterable[Span]) -> None:
    """A line that says which colour is what, of those that occur."""
    kinds = {span.kind for span in found}
    for kind, look in LOOKS.items():
        if kind in kinds:
            ink.write(f" {look.word} ", look.style)
            ink.write(" ")
    ink.fresh_line()
    ink.line("")


def draw(ink: Ink, text: str, found: Iterable[Span], indent: str = "") -> None:
    """The text with each span in its colour, all lines behind the same indentation."""
    for span in found:
        for line in lines(text[span.start : span.end]):
            if ink.at_line_start and line != "\n":
                ink.write(indent)
            ink.write(line, span.look.style)
    ink.fresh_line()


def span_table(console: Console, text: str, found: Iterable[Span]) -> None:
    """The spans one a line: where they are, what they became, what was written."""
    rows = [(str(span.start), str(span.end), span.kind, quoted(text[span.start : span.end])) for span in found]
    table(console, ("start", "end", "kind", "text"), rows)


def quoted(text: str) -> str:
    """A text on one line, as JSON may write it, with nothing in it that can't be seen."""
    written = msgspec.json.encode(text).decode()
    return written if written.isprintable() else "".join(c if c.isprintable() else dumps(c)[1:-1] for c in written)
