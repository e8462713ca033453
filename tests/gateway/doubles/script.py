"""What a double is to do: which tokens it writes, in what pieces, how fast, and what goes wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from .raw import Asked

__all__ = ["Fault", "Script", "play"]


class Fault(Enum):
    """What goes wrong, behind so many events."""

    NONE = auto()
    RESET = auto()
    """The connection breaks, as if the process were killed."""
    CUT = auto()
    """The connection closes within the body."""
    SHORT = auto()
    """The body ends in good order, and the answer has not."""
    STALL = auto()
    """Nothing more comes, and the connection stays."""
    GARBAGE = auto()
    """Bytes that are no event's."""
    HALF = auto()
    """Half an event, and the end of the body."""
    ERROR = auto()
    """An event that tells of an error."""
    ABORT = auto()
    """The server gives the request up."""


@dataclass(frozen=True)
class Script:
    """One answer.

    `texts` are those of the `ids`, one each; ``<7>`` is the text of 7 where there are none. Each event has `chunk` ids,
    each write `burst` events, with `pace` seconds between writes; with `cut`, the body is written in pieces of so many
    bytes instead, each a write of its own. `status` other than 200 refuses, with `message`. `delay` is before the head.
    """

    ids: tuple[int, ...] = (1, 2, 3)
    texts: tuple[str, ...] | None = None
    chunk: int = 1
    burst: int = 1
    pace: float = 0.0
    cut: int | None = None
    finish: str = "stop"
    matched: int | str | None = None
    cached: int | None = None
    incremental: bool = False
    fault: Fault = Fault.NONE
    after: int = 1
    status: int = 200
    message: str = "the double refuses"
    delay: float = 0.0

    @property
    def spelled(self) -> tuple[str, ...]:
        return tuple(f"<{token}>" for token in self.ids) if self.texts is None else self.texts

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where each event's ids begin and end; one event at least."""
        for begin in range(0, max(len(self.ids), 1), self.chunk):
            yield begin, min(begin + self.chunk, len(self.ids))


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n"


async def play(asked: Asked, script: Script, events: Iterable[bytes], error: bytes) -> None:
    """Writes the data of events as an answer; `error` is the data of one that tells of an error."""
    await asked.write(HEAD)
    waiting: list[bytes] = []
    for number, data in enumerate(events):
        if script.fault not in (Fault.NONE, Fault.ABORT) and number == script.after:
            break
        waiting.append(b"data: %b\n\n" % data)
        if len(waiting) == script.burst:
            await _send(asked, script, b"".join(waiting))
            waiting.clear()
            await asyncio.sleep(script.pace)
    await _send(asked, script, b"".join(waiting))
    await asyncio.sleep(0 if script.fault is Fault.NONE else 0.005)  # a reset takes back what was not read
    match script.fault:
        case Fault.RESET:
            asked.reset()
            return
        case Fault.CUT:
            asked.close()
            return
        case Fault.STALL:
            await asyncio.sleep(3600)
        case Fault.GARBAGE:
            await _send(asked, script, b'data: {"what\xff is this\n\n')
        case Fault.HALF:
            await _send(asked, script, b'data: {"text": "ha')
        case Fault.ERROR:
            await _send(asked, script, b"data: %b\n\ndata: [DONE]\n\n" % error)
        case _:
            pass
    await asked.write(b"0\r\n\r\n")


async def _send(asked: Asked, script: Script, body: bytes) -> None:
    """A part of the body, as a chunk of HTTP; or as one for each piece, each of its own packet."""
    if not body:
        return
    if script.cut is None:
        await asked.write(b"%x\r\n%b\r\n" % (len(body), body))
        return
    for at in range(0, len(body), script.cut):
        piece = body[at : at + script.cut]
        await asked.write(b"%x\r\n%b\r\n" % (len(piece), piece))
        await asyncio.sleep(0)
