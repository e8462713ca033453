"""The bounds of the HTTP client: how long it waits, and how much it holds."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Limits"]


class Limits(Struct, frozen=True, kw_only=True):
    """Seconds and bytes at most.

    `connect` is for name, socket and TLS together. `stall` is how long a worker may be silent, before its answer and
    within it: a long prompt, or a queue, is silence. `idle` is how long an unused connection is kept; uvicorn, which
    most workers run on, closes it after 5 seconds. `spare` connections are kept unused for each worker. `head` bounds
    an answer's headers, `buffer` what is read ahead of a slow reader, `body` what `Client.fetch` takes. Answers
    that have begun are read every `gather` seconds, all together, where that is not 0.
    """

    connect: float = 5.0
    stall: float = 300.0
    idle: float = 4.0
    spare: int = 64
    head: int = 1 << 16
    buffer: int = 1 << 18
    body: int = 1 << 22
    gather: float = 0.0
