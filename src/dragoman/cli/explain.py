"""``dragoman explain``: a parse told step by step, with what was known after which character.

    span   read  held  event      text
    0-8    8     7     markup     "<think>\\n"
    8-31   9     0     reasoning  "The user wants ..."

*read* is how many characters had been read when the first of the event came out, *held* the most that was held
back, undecided, since the event before it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rich.text import Text

from ..grammar.trace import Step, Tracer
from .inputs import Decoded, Source, add_source
from .live import STYLES
from .output import Ink, open_console, table, visible
from .spans import quoted

__all__ = ["Trace", "register"]

_EXAMPLE = """\
example:
  printf '<think>Hm.</think>Hi <tool' | dragoman explain --dialect hermes
"""

_TEXT_SHOWN = 56
"""Characters of a text that are shown; the middle of a longer one is left out."""


class Trace:
    """Reads an output and keeps its steps; ``text`` is what was read."""

    def __init__(self, source: Source) -> None:
        tracer = Tracer()
        self.steps = tracer.steps
        parser = source.parser()
        decoder = Decoded()
        pieces: list[str] = []
        for byte in _small(source):
            events = parser.feed_bytes(byte)
            pieces.append(decoder.feed(byte))
            tracer.add(events, len(pieces[-1]), parser.held)
        pieces.append(decoder.finish())
        tracer.add(parser.finish(source.reason), len(pieces[-1]), 0)
        self.text = "".join(pieces)


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
    bound = source.parser().hold_bound
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


def _shortened(text: str) -> str:
    if not text:
        return ""
    half = _TEXT_SHOWN // 2
    return quoted(text) if len(text) <= _TEXT_SHOWN else f"{quoted(text[:half])} … {quoted(text[-half:])}"
