"""Reads answers that are server-sent events: what all workers of that kind have in common.

What the events hold is each protocol's; this has what comes before and after: one `Output` for all that arrives
together, ``[DONE]``, events that can't be read, and an end that comes too early.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ...errors import InvalidEvent, WorkerFailed
from ...stream.sse import SseDecoder
from .complaints import complaint
from .order import Output, Piece, TokenLogprob, Usage

__all__ = ["ErrorBody", "EventReader", "Gathered"]

DONE = b"[DONE]"


class ErrorBody(msgspec.Struct, frozen=True):
    """An error within a stream; servers differ in what they add."""

    message: str = ""
    code: int | str | None = None

    def failure(self, kind: str) -> WorkerFailed:
        """The error to raise; a code that is an HTTP status is one."""
        status = self.code if isinstance(self.code, int) and 400 <= self.code < 600 else None
        return WorkerFailed(kind, complaint(self.message.encode()) or "it reported an error", status)


class Gathered:
    """What the events of one read hold, on its way to be one `Output`.

    The reason of the end is kept back until the worker's count of tokens is there, or nothing more can come: so the
    last piece has it all.
    """

    __slots__ = ("_told", "finish", "ids", "logprobs", "matched", "texts", "usage")

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.texts: list[str] = []
        self.logprobs: list[TokenLogprob] = []
        self.finish: str | None = None
        self.matched: int | str | None = None
        self.usage: Usage | None = None
        self._told = False

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
    """A `Reader` of server-sent events; `read` adds what the data of one holds to what is gathered.

    What came before an error in the same bytes is given first: the error is then raised by the next call.
    """

    __slots__ = ("_decoder", "_done", "_failure", "_gathered", "_kind", "_read")

    def __init__(self, kind: str, read: Callable[[bytes, Gathered], None]) -> None:
        self._kind, self._read = kind, read
        self._decoder = SseDecoder()
        self._gathered = Gathered()
        self._done = False
        self._failure: WorkerFailed | None = None

    def feed(self, data: bytes) -> list[Piece]:
        if self._failure is not None:
            raise self._failure
        if self._done:
            return []
        try:
            for event in self._decoder.feed(data):
                if event.data == DONE:
                    self._done = True
                    break
                self._read(event.data, self._gathered)
        except WorkerFailed as failure:
            self._failure = failure
        except InvalidEvent as error:
            self._failure = WorkerFailed(self._kind, str(error))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            self._failure = WorkerFailed(self._kind, f"it sent what is not of its protocol: {error}")
        pieces = self._gathered.take(last=self._done)
        if self._failure is not None and not pieces:
            raise self._failure
        return pieces

    def finish(self) -> list[Piece]:
        if self._failure is not None:
            raise self._failure
        if self._gathered.finish is None:
            raise WorkerFailed(self._kind, "its stream ended before the answer did")
        return self._gathered.take(last=True)
