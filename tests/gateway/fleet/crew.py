"""A worker that does nothing, a clock that is set by hand, and seats with so much to do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from itertools import count

from dragoman.gateway.fleet.breaker import RULES, Breaker
from dragoman.gateway.fleet.seat import Seat
from dragoman.gateway.workers.order import Order, Output, Piece
from dragoman.gateway.workers.worker import Capabilities


class Clock:
    """Time that passes only when told to."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time

    def passes(self, seconds: float) -> None:
        self.time += seconds


class Hand:
    """A worker; `well` is what it answers when it is asked."""

    def __init__(self, name: str, *models: str) -> None:
        self.name, self.capabilities, self.well = name, Capabilities(kind="hand", models=models or ("m",)), True

    async def generate(self, order: Order) -> AsyncIterator[Sequence[Piece]]:
        yield [Output(text="", finish="stop")]

    async def is_well(self) -> bool:
        return self.well

    async def close(self) -> None:
        pass


def seat(name: str = "a", requests: int = 0, tokens: int = 0) -> Seat:
    """A seat with so many requests, all of them together of so many tokens."""
    taken = Seat(Hand(name), {"m": "m"}, Breaker(RULES, Clock()))
    for left in range(requests, 0, -1):
        taken.lease("m", tokens if left == 1 else 0)
    return taken


def seats(*requests: int) -> list[Seat]:
    """Seats a, b, c ... with so many requests."""
    return [seat(chr(ord("a") + at), number) for at, number in zip(count(), requests, strict=False)]
