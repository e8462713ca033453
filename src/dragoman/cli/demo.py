"""``dragoman demo``: the bundled recordings, streamed through their dialects while one watches.

In a terminal it keeps a pace that an eye can follow; piped, or with ``--fast``, it does not wait. At the end a
table says of each recording what was checked: that its spans tile the text, and that reading it in one piece
gives the same events.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import chain

from msgspec import Struct
from rich.console import Console
from rich.text import Text

from ..errors import UnknownDialect
from ..events import CallEnd, Event, Problem, merge
from ..parse.parser import Parser
from ..recordings import Recording, recordings, tools
from ..registry import get_dialect
from .inputs import positive
from .live import View
from .output import Ink, open_console, table
from .spans import spans, tiles

__all__ = ["Outcome", "register"]

_EXAMPLE = """\
example:
  dragoman demo                 all of them, some seconds in all
  dragoman demo harmony hermes  these only, more slowly
  dragoman demo --fast | less   without waiting
"""

_SECONDS_ALL, _SECONDS_ONE = 9.0, 4.0
"""How long a person is kept watching: all recordings together, or a single one."""

_FRAME = 0.01
"""Seconds below which sleeping is not worth its while."""


_PASSES = 3
"""How often a recording is measured, without a view and without waiting; the best pass counts."""


class Outcome(Struct, frozen=True):
    """What came of a recording."""

    name: str
    events: int
    chunks: int
    microseconds: float
    problems: int
    tiled: bool
    same_whole: bool


class Pace:
    """Spreads a number of steps over some seconds; with no seconds it never waits."""

    def __init__(self, seconds: float, steps: int) -> None:
        self._step = seconds / max(steps, 1)
        self._due = time.perf_counter()

    def wait(self) -> None:
        """Wait until the next step is due."""
        self._due += self._step
        left = self._due - time.perf_counter()
        if left > _FRAME:
            time.sleep(left)


def register(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "demo",
        help="watch every dialect being read",
        description="Stream bundled raw outputs through their dialects, and check what came of them.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="dialects or recordings; all if none is given")
    parser.add_argument("--fast", action="store_true", help="don't wait, not even in a terminal")
    parser.add_argument("--chunk", type=positive, default=4, metavar="N", help="feed N characters at a time (4)")
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    chosen = _chosen(args.names)
    console = open_console()
    paced = console.is_terminal and not args.fast
    seconds = max(_SECONDS_ONE, _SECONDS_ALL * len(chosen) / len(recordings())) if paced else 0.0
    outcomes = []
    for recording in chosen:
        ink = Ink(console)
        ink.line(f"━━ {recording.name} · {recording.title}", "bold")
        outcomes.append(_play(recording, args.chunk, View(ink), seconds / len(chosen)))
        ink.line("")
    _summary(console, outcomes)
    return 0 if all(outcome.tiled and outcome.same_whole for outcome in outcomes) else 1


def _chosen(names: Sequence[str]) -> tuple[Recording, ...]:
    known = {name for each in recordings() for name in (each.name, each.dialect)}
    for name in names:
        if name not in known:
            dialect = get_dialect(name).name  # an alias, or nothing that we know
            if dialect not in known:
                raise UnknownDialect(name, (), tuple(sorted(known)))
    return recordings(*(name if name in known else get_dialect(name).name for name in names))


def _play(recording: Recording, size: int, view: View, seconds: float) -> Outcome:
    """Stream a recording through its dialect, and check what came of it."""
    text = recording.text
    chunks = [text[at : at + size] for at in range(0, len(text), size)]
    pace = Pace(seconds, len(chunks))
    events: list[Event] = []
    for came in _read(recording, chunks):
        view.show(came)
        events += came
        pace.wait()
    view.close()
    merged = merge(events)
    return Outcome(
        name=recording.name,
        events=len(merged),
        chunks=len(chunks),
        microseconds=1e6 * min(_seconds(recording, chunks) for _ in range(_PASSES)) / len(chunks),
        problems=_problems(merged),
        tiled=tiles(spans(merged), len(text)),
        same_whole=merged == merge(chain.from_iterable(_read(recording, [text]))),
    )


def _read(recording: Recording, chunks: Sequence[str]) -> Iterator[list[Event]]:
    """The events of each chunk, and of the end."""
    parser = Parser(recording.dialect, tools(), start=recording.start)
    for chunk in chunks:
        yield parser.feed(chunk)
    yield parser.finish()


def _seconds(recording: Recording, chunks: Sequence[str]) -> float:
    """How long the parser alone takes for all chunks."""
    feed = Parser(recording.dialect, tools(), start=recording.start).feed
    begun = time.perf_counter()
    for chunk in chunks:
        feed(chunk)
    return time.perf_counter() - begun


def _summary(console: Console, outcomes: Sequence[Outcome]) -> None:
    rows = [
        (
            outcome.name,
            str(outcome.events),
            str(outcome.chunks),
            f"{outcome.microseconds:.1f}",
            _yes(outcome.tiled),
            _yes(outcome.same_whole),
            str(outcome.problems),
        )
        for outcome in outcomes
    ]
    table(console, ("recording", "events", "chunks", "µs/chunk", "spans tile", "same in one piece", "problems"), rows)


def _yes(truth: bool) -> Text:
    return Text("yes", style="green") if truth else Text("NO", style="bold red")


def _problems(events: Sequence[Event]) -> int:
    ends = [event for event in events if isinstance(event, CallEnd)]
    return sum(isinstance(event, Problem) for event in events) + sum(len(end.problems) for end in ends)
