"""Server-sent events: bytes from the network to events and back, as the WHATWG's HTML standard has them (9.2).

Not a client: nothing reconnects, and what an event's data means is for its reader. Data stay bytes, since JSON decoders
take bytes. The way that nearly all streams of models go, a read that holds whole events of one line of data each,
is one split; whatever is otherwise goes line by line.
"""

from __future__ import annotations

from codecs import BOM_UTF8

from msgspec import Struct

from ..errors import InvalidEvent

__all__ = ["EVENT_LIMIT", "RETRY_DIGITS", "ServerSentEvent", "SseDecoder", "comment", "sse_event"]

EVENT_LIMIT = 1 << 24
"""Bytes of one event that are held at most: an answer of a million tokens in one piece fits many times."""

RETRY_DIGITS = 18
"""Digits of a reconnection time that are believed: thirty million years, in milliseconds."""


class ServerSentEvent(Struct, frozen=True, gc=False):
    """An event: its data with its lines joined by ``\\n``, its type, and the last id that the stream has told.

    Where it is not `complete` the stream ended inside it: the standard has such an event dropped.
    """

    data: bytes
    event: str = "message"
    id: str = ""
    complete: bool = True

    @property
    def text(self) -> str:
        """The data as text; bytes that are not UTF-8 are U+FFFD."""
        return self.data.decode("utf-8", "replace")


class SseDecoder:
    """Reads a stream of events that arrives in pieces of any size; linear in them.

    `retry` is the time in milliseconds that the server last gave for coming again. Raises `InvalidEvent` for an event
    of more than `limit` bytes; then nothing more can be read, and `feed` raises it again.
    """

    __slots__ = (
        "_after_cr",
        "_between",
        "_data",
        "_event",
        "_first",
        "_id",
        "_limit",
        "_overlong",
        "_parts",
        "_size",
        "retry",
    )

    def __init__(self, limit: int = EVENT_LIMIT) -> None:
        self._limit = limit
        self._first: bytes | None = b""  # the beginning, while it may be a byte order mark
        self._parts: list[bytes] = []  # of the line that is open
        self._data: list[bytes] = []  # the lines of data of the event that is open
        self._size = 0  # bytes in both
        self._event = ""
        self._id = ""
        self._after_cr = False  # the last line ended in a CR: a LF that follows belongs to it
        self._overlong = False
        self._between = False  # nothing is open: an event begins here
        self.retry: int | None = None

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """The events that end in these bytes.

        Those before an overlong one come first: `InvalidEvent` is then raised by the next call.
        """
        if self._between and self._is_single(chunk):  # what a read of a stream at its pace is
            return [ServerSentEvent(chunk[6:-2], "message", self._id)]
        events = self._feed(chunk)
        open_ = self._parts or self._data or self._event or self._after_cr or self._first is not None or self._overlong
        self._between = not open_
        return events

    def _is_single(self, chunk: bytes) -> bool:
        """Whether these bytes are one event of one line of data."""
        end = len(chunk) - 2
        whole = chunk[:6] == b"data: " and chunk.find(b"\n") == end and chunk[-1:] == b"\n"
        return whole and end + 2 <= self._limit and b"\r" not in chunk

    def _feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Any bytes."""
        self._refuse_overlong()
        if self._first is not None:
            chunk = self._without_mark(self._first + chunk)
        events: list[ServerSentEvent] = []
        begun = bool(self._parts or self._data or self._event or self._after_cr)
        begin = chunk.find(b"\n\n") + 2 if begun else 0
        end = chunk.rfind(b"\n\n") + 2
        if len(chunk) <= self._limit and end >= 2 and begin < end and b"\r" not in chunk:
            if begin:
                self._read_lines(chunk[:begin], events)
            self._read_whole(chunk[begin:end], events)
            chunk = chunk[end:]
        if chunk:
            self._read_lines(chunk, events)
        if not events:
            self._refuse_overlong()
        return events

    def finish(self) -> list[ServerSentEvent]:
        """The event inside which the stream ends, marked as not complete."""
        self._refuse_overlong()
        events: list[ServerSentEvent] = []
        if self._parts:
            self._read_line(b"".join(self._parts), events)
            self._parts = []
        if self._data:
            events.append(ServerSentEvent(b"\n".join(self._data), self._event or "message", self._id, False))
            self._data = []
        return events

    def _refuse_overlong(self) -> None:
        if self._overlong:
            raise InvalidEvent(f"at most {self._limit} bytes", "more")

    def _without_mark(self, begun: bytes) -> bytes:
        """The beginning without its byte order mark; nothing while more may come of that."""
        if len(begun) < len(BOM_UTF8) and BOM_UTF8.startswith(begun):
            self._first = begun
            return b""
        self._first = None
        return begun.removeprefix(BOM_UTF8)

    def _read_whole(self, chunk: bytes, events: list[ServerSentEvent]) -> None:
        """Bytes that end an event, where none is open."""
        if chunk.startswith(b"data: ") and not self._overlong:
            datas = chunk[6:-2].split(b"\n\ndata: ")
            if chunk.count(b"\n") == 2 * len(datas):
                last = self._id
                events += [ServerSentEvent(data, "message", last) for data in datas]
                return
        self._read_lines(chunk, events)

    def _read_lines(self, chunk: bytes, events: list[ServerSentEvent]) -> None:
        """Bytes that begin and end anywhere."""
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk or self._overlong:
            return
        lines = chunk.splitlines()  # of bytes, at CR, LF and CRLF only
        rest = lines.pop() if chunk[-1] not in b"\r\n" else b""
        if self._parts and lines:
            self._parts.append(lines[0])
            lines[0] = b"".join(self._parts)
            self._size -= sum(map(len, self._parts[:-1]))
            self._parts = []
        for line in lines:
            if self._size + len(line) > self._limit:
                self._overlong = True
                return
            self._read_line(line, events)
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
            self._overlong = self._size > self._limit
        self._after_cr = chunk.endswith(b"\r")

    def _read_line(self, line: bytes, events: list[ServerSentEvent]) -> None:
        if not line:
            if self._data:
                events.append(ServerSentEvent(b"\n".join(self._data), self._event or "message", self._id))
                self._data = []
                self._size = 0
            self._event = ""
            return
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        match field:
            case b"data":
                self._data.append(value)
                self._size += len(value) + 1  # empty lines are held too
            case b"event":
                self._event = value.decode("utf-8", "replace")
            case b"id" if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
            case b"retry" if value.isdigit() and len(value) <= RETRY_DIGITS:
                self.retry = int(value)
            case _:
                pass  # a comment, or a field that there is not


def sse_event(data: bytes, event: str | None = None) -> bytes:
    """An event as it is sent; each line of the data is one of its own, whatever ended it.

    Raises `InvalidEvent` for a type that has a line break.
    """
    if b"\n" in data or b"\r" in data:
        lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        data = b"\ndata: ".join(lines)
    if event is None:
        return b"data: " + data + b"\n\n"
    if "\n" in event or "\r" in event:
        raise InvalidEvent("a type in one line", repr(event))
    return b"event: %b\ndata: %b\n\n" % (event.encode("utf-8", "replace"), data)


def comment(text: str = "") -> bytes:
    """A comment as it is sent, which keeps a connection alive; readers skip it."""
    lines = text.encode("utf-8", "replace").splitlines() or [b""]
    return b"".join(b": %b\n" % line for line in lines) + b"\n"
