"""Which characters of a rendered conversation the model itself would write.

A template that says so itself is believed (``{% generation %}``). For the others, a turn of the model lies between the
generation prompt and the stop. What the prompt is, the template shows when it is rendered up to a turn; where the turn
ends is known by the stop, or by how a conversation ends that ends with the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from .provenance import Run

__all__ = ["Turn", "last_token", "opened", "stopped", "turns"]

TOKEN = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]")
"""What looks like a control token."""

NEXT = re.compile(rf"[^\n<\[]*(?:{TOKEN.pattern})")


class Turn(Struct, frozen=True):
    """What of a message lies together: from its first character to its last, and the markup on both sides of it."""

    message: int
    floor: int
    start: int
    end: int
    ceiling: int


def turns(text: str, runs: Sequence[Run], speaking: frozenset[int], header: str) -> list[Turn]:
    """The messages that the model itself wrote, each where it first stands, in the order of the text.

    One ends where a header begins that is not the model's: what follows is another's, who repeats a name of it, say.
    """
    found: list[Turn] = []
    seen: set[int] = set()
    for at, run in enumerate(runs):
        message = run.owner.message
        before, after = runs[at - 1].end if at else 0, runs[at + 1].start if at + 1 < len(runs) else len(text)
        if found and found[-1].message == message and found[-1].ceiling == run.start:
            last = found[-1]
            if not _others(text[last.end : run.start], header):
                found[-1] = Turn(message, last.floor, last.start, run.end, after)
        elif message in speaking and message not in seen:
            seen.add(message)
            found.append(Turn(message, before, run.start, run.end, after))
    return found


def _others(gap: str, header: str) -> bool:
    """Whether markup begins a message of somebody else, as the header begins one of the model's."""
    first = TOKEN.match(header)
    return first is not None and first.group() in gap and header not in gap


def opened(text: str, turn: Turn, header: str) -> int:
    """Where the model begins: behind as much of the generation prompt, in whole tokens, as stands before the turn."""
    tokens = [match.span() for match in TOKEN.finditer(header)]
    least = tokens[0][1] if tokens else len(header)
    sizes = {len(header), *(at for token in tokens for at in token), *(m.end() for m in re.finditer("\n", header))}
    for size in sorted(sizes, reverse=True):
        at = text.rfind(header[:size], turn.floor, turn.start) if size >= max(least, 1) else -1
        if at >= 0:
            return at + size
    return turn.start


def stopped(text: str, turn: Turn, stops: Iterable[str]) -> int:
    """Where the model ends: behind the first of the stops, else behind a token that follows on the same line."""
    found = [(text.find(stop, turn.end, turn.ceiling), stop) for stop in stops if stop]
    ends = [at + len(stop) for at, stop in found if at >= 0]
    if ends:
        return min(ends)
    token = NEXT.match(text, turn.end, turn.ceiling)
    return token.end() if token else turn.end


def last_token(text: str) -> str:
    """The last of a text that looks like a control token."""
    return max(TOKEN.findall(text)[-1:], default="")
