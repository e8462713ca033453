"""Server-sent events: read as the standard says, however they are cut, and without looking twice at a byte."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidEvent
from dragoman.stream.sse import RETRY_DIGITS, ServerSentEvent, SseDecoder, comment, sse_event
from tests.streams import cut, cuts, hard


def decoded(*chunks: bytes) -> list[ServerSentEvent]:
    decoder = SseDecoder()
    return [*(event for chunk in chunks for event in decoder.feed(chunk)), *decoder.finish()]


def whole_and_in_bytes(stream: bytes) -> list[ServerSentEvent]:
    """The events, which are the same however the stream is cut in two or in bytes."""
    expected = decoded(stream)
    assert decoded(*(stream[at : at + 1] for at in range(len(stream)))) == expected
    assert all(decoded(stream[:at], stream[at:]) == expected for at in range(len(stream)))
    return expected


def datas(stream: bytes) -> list[bytes]:
    return [event.data for event in whole_and_in_bytes(stream)]


class Literal:
    """The standard's steps, one after the other, on the whole stream."""

    def __init__(self, stream: bytes) -> None:
        self.events: list[tuple[str, str, str]] = []
        self.data = self.type = self.id = ""
        self.retry: int | None = None
        text = stream.decode("utf-8", "replace").removeprefix("\ufeff")
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        for line in lines[:-1]:  # what no line break ends is discarded
            self.line(line)

    def line(self, line: str) -> None:
        if line == "":
            self.dispatch()
        elif line.startswith(":"):
            pass
        elif ":" in line:
            name, value = line.split(":", 1)
            self.field(name, value.removeprefix(" "))
        else:
            self.field(line, "")

    def field(self, name: str, value: str) -> None:
        if name == "event":
            self.type = value
        elif name == "data":
            self.data += value + "\n"
        elif name == "id" and "\0" not in value:
            self.id = value
        elif name == "retry" and value and all(char in "0123456789" for char in value):
            self.retry = int(value)

    def dispatch(self) -> None:
        if self.data:
            self.events.append((self.data[:-1], self.type or "message", self.id))
        self.data = self.type = ""


PIECES = st.sampled_from(
    [
        b"data: {}\n\n",
        b"data: a",
        b"data:",
        b"data",
        b"event: x",
        b"id: 1",
        b"id: \0",
        b"retry: 10",
        b"retry: 1x",
        b": ping",
        b"other: y",
        b" ",
        b":",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\xef\xbb\xbf",
        "é".encode(),
        b"\xff",
        "\u2028".encode(),
    ]
)
STREAMS = st.lists(PIECES, max_size=14).map(b"".join)


@hard
@given(STREAMS, cuts())
def test_any_bytes_are_read_as_the_standard_reads_them(stream: bytes, places: list[int]) -> None:
    decoder, literal = SseDecoder(), Literal(stream)
    events = [event for chunk in cut(stream, places) for event in decoder.feed(chunk)]
    assert [(event.text, event.event, event.id) for event in events] == literal.events
    assert decoder.retry == literal.retry


@hard
@given(STREAMS, cuts())
def test_any_bytes_are_read_the_same_however_they_are_cut(stream: bytes, places: list[int]) -> None:
    expected = whole_and_in_bytes(stream)
    assert decoded(*cut(stream, places)) == expected


LINES = st.binary(max_size=8).map(lambda line: line.replace(b"\r", b""))
TYPES = st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1, max_size=5)


@hard
@given(st.lists(st.tuples(LINES, TYPES), max_size=5), cuts())
def test_what_is_encoded_is_decoded(sent: list[tuple[bytes, str | None]], places: list[int]) -> None:
    stream = b"".join(sse_event(data, kind) + comment("ping") for data, kind in sent)
    expected = [ServerSentEvent(data, kind or "message") for data, kind in sent]
    assert decoded(stream) == decoded(*cut(stream, places)) == expected


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b'data: {"a": 1}\n\ndata: [DONE]\n\n', [b'{"a": 1}', b"[DONE]"]),
        (b"data:{}\n\n", [b"{}"]),
        (b"data:  {}\n\n", [b" {}"]),
        (b"data: a\r\ndata: b\r\n\r\n", [b"a\nb"]),
        (b"data: a\rdata\r\r", [b"a\n"]),
        (b": ping\n\ndata: a\n: ping\ndata: b\n\n", [b"a\nb"]),
        (b"data\n\n", [b""]),
        (b"event: x\n\n\n", []),
        (b"dato: a\n\n", []),
        (b"\xef\xbb\xbfdata: a\n\n\xef\xbb\xbfdata: b\n\n", [b"a"]),
        (b"\xef\xbbdata: a\n\n", []),
        (b"data: a\n\ndata: b\ndata: c\n\ndata: d\n\n", [b"a", b"b\nc", b"d"]),
    ],
)
def test_data_are_read(stream: bytes, expected: list[bytes]) -> None:
    assert datas(stream) == expected


def test_the_type_is_the_events_own_and_the_id_stays() -> None:
    assert whole_and_in_bytes(b"event: a\nid: 7\ndata: x\n\ndata: y\n\n") == [
        ServerSentEvent(b"x", "a", "7"),
        ServerSentEvent(b"y", "message", "7"),
    ]


def test_an_event_that_the_end_cuts_is_marked() -> None:
    cut_off = ServerSentEvent(b"[DONE]", complete=False)
    assert whole_and_in_bytes(b"data: [DONE]") == whole_and_in_bytes(b"data: [DONE]\n") == [cut_off]


def test_the_text_of_bytes_that_are_not_utf_8_shows_it() -> None:
    assert decoded(b"data: a\xff\n\n")[0].text == "a\ufffd"


def test_a_retry_time_is_kept_and_an_endless_one_is_not_believed() -> None:
    decoder = SseDecoder()
    decoder.feed(b"retry: 250\nretry: " + b"9" * (RETRY_DIGITS + 1) + b"\n")
    assert decoder.retry == 250


@pytest.mark.parametrize("event", [b"data: " + b"x" * 95, b"data: 1\n" * 47 + b"data: 1", b":" + b"x" * 100])
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_an_event_over_the_limit_is_refused_behind_the_ones_before_it(event: bytes, size: int) -> None:
    stream, decoder = b"data: a\n\n" + event, SseDecoder(limit=100)
    pieces = [stream[at : at + size] for at in range(0, len(stream), size)]
    events = [event for piece in pieces[:-1] for event in decoder.feed(piece)]
    with suppress(InvalidEvent):  # the last byte is one too many; what ends before it in this piece comes first
        events += decoder.feed(pieces[-1])
    assert events == [ServerSentEvent(b"a")]
    with pytest.raises(InvalidEvent, match="at most 100 bytes"):
        decoder.feed(b"")
    with pytest.raises(InvalidEvent, match="at most 100 bytes"):
        decoder.finish()


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_limit_is_of_one_event_not_of_the_stream(size: int) -> None:
    stream, decoder = b"data: 12345678\n\n: ping\n" * 30 + b"data: " + b"x" * 94 + b"\n\n", SseDecoder(limit=100)
    events = [event for at in range(0, len(stream), size) for event in decoder.feed(stream[at : at + size])]
    assert len(events) == 31


def test_an_overlong_event_ends_a_read_that_holds_more() -> None:
    decoder = SseDecoder(limit=40)
    assert decoder.feed(b"data: a\n\ndata: " + b"x" * 25) == [ServerSentEvent(b"a")]
    with pytest.raises(InvalidEvent):
        decoder.feed(b"x" * 15 + b"\n\ndata: b\n\n")


class Counted(bytes):
    """Bytes that count how many of them are looked at."""

    looked = 0

    def splitlines(self, keepends: bool = False) -> list[bytes]:
        Counted.looked += len(self)
        return super().splitlines(keepends)


def test_no_byte_of_a_huge_event_is_looked_at_twice() -> None:
    piece, decoder = Counted(b"x" * 1024), SseDecoder()
    decoder.feed(b"data: ")
    Counted.looked = 0
    for _ in range(10_000):
        assert decoder.feed(piece) == []
    assert Counted.looked == 10_000 * 1024
    assert len(decoder.feed(b"\n\n")[0].data) == 10_000 * 1024


def test_a_type_with_a_line_break_is_refused() -> None:
    with pytest.raises(InvalidEvent, match="a type in one line"):
        sse_event(b"", "a\ndata: b")


def test_comments_are_of_one_line_each() -> None:
    assert comment() == b": \n\n"
    assert comment("a\nb") == b": a\n: b\n\n"
