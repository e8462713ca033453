"""Whose each character of a rendered conversation is.

A shadow render (see `traced`) names the owner of each character, if it has the same shape as the real one. Where it
has not, the texts of the parts are looked for in the output, in order; that is a guess, so that what can't be placed
is kept from making control tokens wherever its words occur.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from ..segments import Kind, Segment
from .openai_messages import Owner

__all__ = ["CLOSE", "FIRST", "OPEN", "Marks", "Run", "aligned", "located", "segments"]

FIRST, OPEN, CLOSE = "\U000f0000", "\U0010fffc", "\U0010fffd"
"""Private-use characters from here on name owners; the last two stand around what is to be generated."""

INKED = re.compile(rf"([{FIRST}-\U0010fffb])\1*")
GUARDS = re.compile(f"[{OPEN}{CLOSE}]")

FILLING = re.compile(r"""(?:[\s"'\[\]{}:,.0-9eE+-]|\\.|true|false|null|True|False|None)*""")
"""What may stand between two pieces of one owner and be theirs too: white space, and what JSON is made of."""

WORD = re.compile(r"\S{3,}")


class Run(Struct, frozen=True):
    """Some characters of one owner."""

    start: int
    end: int
    owner: Owner


class Marks(Struct, frozen=True):
    """What a shadow render tells."""

    runs: tuple[Run, ...]
    generated: tuple[tuple[int, int], ...]


def aligned(text: str, shadow: str, owners: Sequence[Owner]) -> Marks | None:
    """What the shadow says of the text, or nothing if they are not of one shape; linear."""
    shadow = str.__getitem__(shadow, slice(None))  # its own characters, whatever it stands for
    bounds, pieces, at, taken = [], [], 0, 0
    for guard in GUARDS.finditer(shadow):
        pieces.append(shadow[taken : guard.start()])
        at += guard.start() - taken
        taken = guard.end()
        bounds.append((at, guard.group() == OPEN))
    shadow = "".join([*pieces, shadow[taken:]])
    if len(shadow) != len(text):
        return None
    runs, at = [], 0
    for inked in INKED.finditer(shadow):
        start, end = inked.span()
        if shadow[at:start] != text[at:start]:
            return None
        runs.append(Run(start, end, owners[ord(inked.group(1)) - ord(FIRST)]))
        at = end
    if shadow[at:] != text[at:]:
        return None
    return Marks(tuple(_filled(text, runs)), tuple(_pairs([*bounds, (len(text), False)])))


def _pairs(bounds: Iterable[tuple[int, bool]]) -> Iterator[tuple[int, int]]:
    """The outermost pairs of openers and closers; the last closer may be the end of the text."""
    depth = start = 0
    for at, opens in bounds:
        if opens and depth == 0:
            start = at
        depth += 1 if opens else -1
        if depth == 0:
            yield start, at
        depth = max(depth, 0)


def _filled(text: str, runs: Iterable[Run]) -> list[Run]:
    """The runs, those of one owner made one where nothing but white space or JSON is between them."""
    filled: list[Run] = []
    for run in runs:
        last = filled[-1] if filled else None
        if last and last.owner == run.owner and FILLING.fullmatch(text, last.end, run.start):
            filled[-1] = Run(last.start, run.end, run.owner)
        else:
            filled.append(run)
    return filled


def located(text: str, pieces: Iterable[tuple[str, Owner]]) -> Marks:
    """Where the pieces stand in the text, as they are or without the white space around them, one after another."""
    runs: list[Run] = []
    missing: list[tuple[str, Owner]] = []
    at = 0
    for piece, owner in pieces:
        for form in (piece, piece.strip()):
            found = text.find(form, at) if form else -1
            if found >= 0:
                runs.append(Run(found, found + len(form), owner))
                at = found + len(form)
                break
        else:
            missing.append((piece, owner))
    for piece, owner in missing:
        for word in {match.group() for match in WORD.finditer(piece)}:
            spots = [match.span() for match in re.finditer(re.escape(word), text)]
            runs += [Run(*spot, owner) for spot in spots]
    return Marks(tuple(_disjoint(runs)), ())


def _disjoint(runs: Iterable[Run]) -> Iterator[Run]:
    """In order, what two of them claim left to the one that begins first."""
    end = 0
    for run in sorted(runs, key=lambda run: (run.start, -run.end)):
        if run.end > end:
            yield Run(max(run.start, end), run.end, run.owner)
            end = run.end


def segments(text: str, runs: Sequence[Run], sampled: Sequence[tuple[int, int]]) -> tuple[Segment, ...]:
    """The text cut where its owner changes, or whether the model writes it; what nobody owns is the template's."""
    cuts = sorted(
        {0, len(text), *(at for run in runs for at in (run.start, run.end)), *(a for s in sampled for a in s)}
    )
    markup = Owner(Kind.MARKUP)
    made, run, span = [], 0, 0
    for start, end in pairwise(cuts):
        while run < len(runs) and runs[run].end <= start:
            run += 1
        while span < len(sampled) and sampled[span][1] <= start:
            span += 1
        owner = runs[run].owner if run < len(runs) and runs[run].start <= start else markup
        writes = span < len(sampled) and sampled[span][0] <= start
        control = owner.kind is Kind.MARKUP
        made.append(Segment(text[start:end], owner.kind, owner.message, owner.part, control=control, sampled=writes))
    return tuple(made)
