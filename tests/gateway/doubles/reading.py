"""What a wire makes of an answer: fed in pieces, or over a socket, and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dragoman.gateway.transport import Client, Limits
from dragoman.gateway.workers.http_worker import HttpWorker
from dragoman.gateway.workers.order import Order, Output, Piece
from dragoman.gateway.workers.worker import Capabilities, Reader, Wire
from tests.gateway.doubles.double import Double

__all__ = ["QUICK", "answer_of", "asked_of", "merged", "read"]

QUICK = Limits(stall=0.2)


def read(reader: Reader, pieces: Iterable[bytes]) -> list[Piece]:
    """What a reader makes of a body that comes in these pieces."""
    found: list[Piece] = []
    for data in pieces:
        found += reader.feed(data)
    return found + reader.finish()


def merged(pieces: Iterable[Piece]) -> Output:
    """Many outputs as one: what does not depend on how they came."""
    ids: list[int] = []
    text, logprobs = "", ()
    last = Output()
    for piece in pieces:
        assert isinstance(piece, Output)
        assert last.finish is None, "nothing comes behind the end"
        ids += piece.ids
        text += piece.text
        logprobs += piece.logprobs
        last = piece
    return Output(ids, text, logprobs, last.finish, last.matched, last.usage)


async def answer_of(double: Double, wire: Wire, order: Order, capabilities: Capabilities | None = None) -> Output:
    """The answer to an order, over a socket."""
    async with double, Client(QUICK) as client:
        worker = HttpWorker(double.url, wire, client, capabilities or Capabilities(kind=wire.kind), key=double.key)
        found: list[Sequence[Piece]] = [pieces async for pieces in worker.generate(order)]
    return merged(piece for pieces in found for piece in pieces)


def asked_of(wire: Wire, order: Order, capabilities: Capabilities | None = None) -> bytes:
    """The body of the request for an order."""
    return wire.build(order, capabilities or Capabilities(kind=wire.kind)).body
