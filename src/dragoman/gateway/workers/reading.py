"""Reads answers that are server-sent events: what all workers of that kind have in common.

What the events hold is each protocol's; this has what comes before and after: one `Output` for all that arrives
together, ``[DONE]``, events that can't be read, and an end that comes too early.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from ...errors import InvalidEvent, WorkerFailed
from ...stream.sse import ServerSentEvent, SseDecoder
from .complaints import complaint
from .order import Output, Piece, TokenLogprob, Usage

__all__ = ["ErrorBody", "EventReader", "Events", "Gathered"]

DONE = b"[DONE]"


class ErrorBody(msgspec.Struct, frozen=True):
    """An error within a stream; servers differ in what they add."""

    message: str = ""
    code: int | str | None = None

    def failure(self, kind: str) -> WorkerFailed:
        """The error to raise; a code that is an HTTP status is one."""
        status = self.code if isinstance(self.code, int) and 400 <= self.code < 600 else None
        return WorkerFailed(kind, complaint(self.message.encode()) or "it reported an error", status)


class Events(Protocol):
    """What a protocol makes of the events of one answer; each method may raise `WorkerFailed`."""

    def read(self, event: ServerSentEvent) -> None:
        """One event more; what can't be decoded is msgspec's error."""
        ...

    def end(self) -> None:
        """There are no more; raises `WorkerFailed` where that is too early."""
        ...

    def take(self, *, last: bool = False) -> list[Piece]:
        """What is known since the last time; `last` where nothing more can come."""
        ...


class Gathered:
    """What the events of one read hold, on its way to be one `Output`; `read` adds what the data of one holds.

    The reason of the end is kept back until the worker's count of tokens is there, or nothing more can come: so the
    last piece has it all.
    """

    __slots__ = ("_kind", "_read", "_told", "finish", "ids", "logprobs", "matched", "texts", "usage")

    def __init__(self, kind: str, read: Callable[[bytes, Gathered], None]) -> None:
        self._kind, self._read = kind, read
        self.ids: list[int] = []
        self.texts: list[str] = []
        self.logprobs: list[TokenLogprob] = []
        self.finish: str | None = None
        self.matched: int | str | None = None
        self.usage: Usage | None = None
        self._told = False

    def read(self, event: ServerSentEvent) -> None:
        self._read(event.data, self)

    def end(self) -> None:
        if self.finish is None:
            raise WorkerFailed(self._kind, "its stream ended before the answer did")

    def take(self, *, last: bool = False) -> list[Piece]:
        """Hands over what there is; `last` where nothing more can come."""
        over = self.finish is not None and not self._told and (last or self.usage is not None)
        if not (self.ids or self.texts or self.logprobs or over):
            return []
        piece = Output(
            ids=self.ids or (),
            text="".join(self.texts),
            logprobs=tuple(self.logprobs),
            finish=self.finish if over else None,
            matched=self.matched if over else None,
            usage=self.usage,
        )
        self._told = self._told or over
        self.ids, self.texts, self.logprobs = [], [], []
        return [piece]


class EventReader:
    """A `Reader` of server-sent events; what they mean is for `events`.

    What came before an error in the same bytes is given first: the error is then raised by the next call.
    """

    __slots__ = ("_decoder", "_done", "_events", "_failure", "_kind")

    def __init__(self, kind: str, events: Events) -> None:
        self._kind, self._events = kind, events
        self._decoder = SseDecoder()
        self._done = False
        self._failure: WorkerFailed | None = None

    def feed(self, data: bytes) -> list[Piece]:
        if self._failure is not None:
            raise self._failure
        if self._done:
            return []
        try:
            for event in self._decoder.feed(data):
                if _is_done(event):
                    self._done = True
                    break
                self._events.read(event)
        except WorkerFailed as failure:
            self._failure = failure
        except InvalidEvent as error:
            self._failure = WorkerFailed(self._kind, str(error))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self._failure = WorkerFailed(self._kind, f"it sent what is not of its protocol: {error}")
        pieces = self._events.take(last=self._done)
        if self._failure is not None and not pieces:
            raise self._failure
        return pieces

    def finish(self) -> list[Piece]:
        """The rest, with the event that no empty line followed any more: some servers forget it."""
        if self._failure is not None:
            raise self._failure
        if not self._done:
            self._read_last()
        self._events.end()
        return self._events.take(last=True)

    def _read_last(self) -> None:
        try:
            for event in self._decoder.finish():
                if not _is_done(event):
                    self._events.read(event)
        except InvalidEvent as error:
            raise WorkerFailed(self._kind, str(error)) from None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass  # it was cut: whether that is too early is known from what came before


def _is_done(event: ServerSentEvent) -> bool:
    return event.data == DONE or (len(event.data) < 16 and event.data.strip() == DONE)
