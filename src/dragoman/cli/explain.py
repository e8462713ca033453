"""``dragoman explain``: a parse told step by step, with what was known after which character.

    span   read  held  event      text
    0-8    8     7     markup     "<think>\\n"
    8-31   9     0     reasoning  "The user wants ..."

*read* is how many characters had been read when the first of the event came out, *held* the most that was held
back, undecided, since the event before it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from msgspec import Struct
from rich.text import Text

from ..events import ArgumentsDelta, CallBegin, CallEnd, ContentDelta, Event, Problem, Stop, TagDelta, TagEnd
from .inputs import Decoded, Source, add_source
from .live import STYLES
from .output import Ink, open_console, table, visible
from .spans import kind, quoted

__all__ = ["Step", "Trace", "register"]

_EXAMPLE = """\
example:
  printf '<think>Hm.</think>Hi <tool' | dragoman explain --dialect hermes
"""

_TEXT_SHOWN = 56
"""Characters of a text that are shown; the middle of a longer one is left out."""


class Step(Struct, frozen=True):
    """Neighbouring events of one kind: their span, what they say, and when that was known."""

    start: int
    end: int
    kind: str
    says: str
    read: int
    held: int


class Trace:
    """Reads an output and keeps its steps; ``text`` is what was read."""

    def __init__(self, source: Source) -> None:
        self.steps: list[Step] = []
        self.text = ""
        self._read = self._held = 0
        parser = source.parser()
        decoder = Decoded()
        pieces: list[str] = []
        for byte in _small(source):
            events = parser.feed_bytes(byte)
            pieces.append(decoder.feed(byte))
            self._read += len(pieces[-1])
            self._add(events)
            self._held = parser.held if events else max(self._held, parser.held)
        pieces.append(decoder.finish())
        self._add(parser.finish(source.reason))
        self.text = "".join(pieces)

    def _add(self, events: Iterable[Event]) -> None:
        for event in events:
            step = Step(event.start, event.end, kind(event), _says(event), self._read, self._held)
            last = self.steps[-1] if self.steps else None
            if last and _is_delta(event) and (last.kind, last.says, last.end) == (step.kind, step.says, step.start):
                self.steps[-1] = Step(last.start, step.end, last.kind, last.says, last.read, max(last.held, step.held))
            else:
                self.steps.append(step)


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "explain",
        help="tell a parse step by step",
        description="Tell step by step what was read, what it became, and what had to be held back until then. "
        "Reads byte by byte unless --chunk says otherwise.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_source(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    source = Source.of(args)
    trace = Trace(source)
    console = open_console()
    table(console, ("span", "read", "held", "event", "text"), [_row(step, trace.text) for step in trace.steps])
    most = max((step.held for step in trace.steps), default=0)
    bound = source.dialect.hold_bound
    Ink(console).write(f"\n{len(trace.text)} characters; at most {most} held back (the dialect's bound is {bound})\n")
    return 0


def _row(step: Step, text: str) -> list[str | Text]:
    shown = " ".join(filter(None, (step.says, _shortened(text[step.start : step.end]))))
    style = STYLES.get(step.kind, "")
    return [f"{step.start}-{step.end}", str(step.read), str(step.held), step.kind, Text(visible(shown), style=style)]


def _small(source: Source) -> Iterator[bytes]:
    for piece in source.pieces():
        if source.chunk is None:
            yield from (piece[at : at + 1] for at in range(len(piece)))
        else:
            yield piece


def _is_delta(event: Event) -> bool:
    return not isinstance(event, CallBegin | CallEnd | Problem | Stop | TagEnd)


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


def _shortened(text: str) -> str:
    if not text:
        return ""
    half = _TEXT_SHOWN // 2
    return quoted(text) if len(text) <= _TEXT_SHOWN else f"{quoted(text[:half])} … {quoted(text[-half:])}"
