"""Reads streams of server-sent events whose pieces are not all of one kind; all that is broken is the worker's failure.

What the events mean is for `Events`, one class for each protocol; this has the bytes before and the failures behind.
What a worker answers in one piece is decoded in the same way.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import msgspec

from ...errors import InvalidEvent, WorkerFailed
from ...stream.sse import ServerSentEvent, SseDecoder
from .order import Piece

__all__ = ["Events", "FrameReader", "decoded"]

_Value = TypeVar("_Value")


class Events(Protocol):
    """What a protocol makes of the events of one answer; each method may raise `WorkerFailed`."""

    def read(self, event: ServerSentEvent) -> None:
        """One event more."""
        ...

    def end(self) -> None:
        """There are no more; raises `WorkerFailed` where that is too early."""
        ...

    def take(self) -> list[Piece]:
        """What is known since the last time."""
        ...


class FrameReader:
    """A `Reader`: what comes before a failure is given first, and the failure is raised by the next call."""

    __slots__ = ("_events", "_failure", "_kind", "_sse")

    def __init__(self, kind: str, events: Events) -> None:
        self._kind, self._events = kind, events
        self._sse = SseDecoder()
        self._failure: WorkerFailed | None = None

    def feed(self, data: bytes) -> list[Piece]:
        """The pieces in these bytes."""
        if self._failure is None:
            try:
                for event in self._sse.feed(data):
                    self._events.read(event)
            except WorkerFailed as failure:
                self._failure = failure
            except InvalidEvent as error:
                self._failure = WorkerFailed(self._kind, str(error))
        pieces = self._events.take()
        if self._failure is not None and not pieces:
            raise self._failure
        return pieces

    def finish(self) -> list[Piece]:
        """The pieces of an event that no empty line followed any more; servers forget it."""
        if self._failure is not None:
            raise self._failure
        try:
            for event in self._sse.finish():
                self._events.read(event)
        except InvalidEvent as error:
            raise WorkerFailed(self._kind, str(error)) from None
        self._events.end()
        return self._events.take()


def decoded(worker: str, data: bytes, kind: type[_Value]) -> _Value:
    """The JSON as a value of this type; raises `WorkerFailed`."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkerFailed(worker, f"it sent what is not of its protocol: {error}") from None
