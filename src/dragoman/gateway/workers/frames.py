"""Frames of workers' streams: server-sent events and their JSON, where all that is broken is the worker's failure.

What the frames mean is for each protocol's reader. What a worker answers in one piece is decoded in the same way.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ...errors import InvalidEvent, WorkerFailed
from ...stream.sse import ServerSentEvent, SseDecoder

__all__ = ["Frames", "decoded"]

_Value = TypeVar("_Value")


class Frames:
    """The events of one answer, in the `worker`'s name; raises `WorkerFailed` for one beyond all measure."""

    __slots__ = ("_sse", "_worker")

    def __init__(self, worker: str) -> None:
        self._worker = worker
        self._sse = SseDecoder()

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """The events that end in these bytes."""
        try:
            return self._sse.feed(data)
        except InvalidEvent as error:
            raise WorkerFailed(self._worker, str(error)) from None

    def finish(self) -> list[ServerSentEvent]:
        """The event that no empty line followed any more; servers forget it."""
        try:
            return self._sse.finish()
        except InvalidEvent as error:
            raise WorkerFailed(self._worker, str(error)) from None


def decoded(worker: str, data: bytes, kind: type[_Value]) -> _Value:
    """The JSON as a value of this type; raises `WorkerFailed`."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkerFailed(worker, f"something that is not of its protocol: {error}") from None
