"""``dragoman parse``: a model's output as it is read, as events, as a message, or as marked characters."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Protocol

import msgspec

from ..events import CallEnd, Event, Problem
from ..parse.assemble import assemble
from .inputs import Source, add_source
from .live import View
from .output import Ink, open_console
from .spans import Spans

__all__ = ["register"]

_EXAMPLE = """\
example:
  dragoman parse answer.txt --dialect hermes --tools tools.json
  some-model | dragoman parse --dialect qwen3_coder --start reasoning --json

exit codes: 0 fine, 1 problems in the output (with --strict only), 2 a mistake in the call of this command
"""


class Shape(Protocol):
    """A way to show an output: takes each piece that was read with the events that came of it, and the end."""

    def take(self, piece: bytes, events: Sequence[Event], /) -> None:
        """Take what was read last."""

    def close(self) -> None:
        """Take the end."""


class Live:
    """Draws the output as it is read."""

    def __init__(self) -> None:
        self._view = View(Ink(open_console()))

    def take(self, _piece: bytes, events: Sequence[Event], /) -> None:
        """Draw events at once."""
        self._view.show(events)

    def close(self) -> None:
        """End the last line."""
        self._view.close()


class JsonLines:
    """Writes one event a line, each with its kind in the field ``type``."""

    def take(self, _piece: bytes, events: Sequence[Event], /) -> None:
        """Write events at once."""
        for event in events:
            _write_json(event)
        sys.stdout.flush()

    def close(self) -> None:
        """Nothing is left to write."""


class WholeMessage:
    """Writes the message as JSON once it is complete."""

    def __init__(self) -> None:
        self._events: list[Event] = []

    def take(self, _piece: bytes, events: Sequence[Event], /) -> None:
        """Keep events."""
        self._events.extend(events)

    def close(self) -> None:
        """Write the message."""
        _write_json(assemble(self._events))


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "parse",
        help="read a model's output",
        description="Read a model's output as it arrives and show what it says.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_source(parser)
    shape = parser.add_mutually_exclusive_group()
    shape.add_argument("--json", action="store_true", help="one event a line, as it is read")
    shape.add_argument("--message", action="store_true", help="the whole message as JSON, at the end")
    shape.add_argument("--spans", action="store_true", help="which characters became what, at the end")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if the output had problems")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    source = Source.of(args)
    parser = source.parser()
    shape = _shape(args)
    problems = 0
    for piece in source.pieces():
        events = parser.feed_bytes(piece)
        shape.take(piece, events)
        problems += _problems(events)
    events = parser.finish(source.reason)
    shape.take(b"", events)
    shape.close()
    problems += _problems(events)
    return 1 if args.strict and problems else 0


def _shape(args: argparse.Namespace) -> Shape:
    if args.json:
        return JsonLines()
    if args.message:
        return WholeMessage()
    return Spans(open_console()) if args.spans else Live()


def _problems(events: Sequence[Event]) -> int:
    return sum(
        1 if isinstance(event, Problem) else len(event.problems) if isinstance(event, CallEnd) else 0
        for event in events
    )


def _write_json(value: object) -> None:
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
