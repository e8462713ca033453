"""Streams of events, as far as no protocol matters."""

from __future__ import annotations

import pytest

from dragoman.errors import WorkerFailed
from dragoman.gateway.workers.frames import FrameReader, decoded
from dragoman.gateway.workers.order import Output, Piece
from dragoman.stream.sse import EVENT_LIMIT, ServerSentEvent


class Echo:
    """Gives the data back; ``!`` is an error, and without a dot there is no end."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.over = False

    def read(self, event: ServerSentEvent) -> None:
        if event.data == b"!":
            raise WorkerFailed("echo", "an error")
        self.texts.append(event.text)
        self.over = self.over or event.data.endswith(b".")

    def end(self) -> None:
        if not self.over:
            raise WorkerFailed("echo", "too early")

    def take(self) -> list[Piece]:
        texts, self.texts = self.texts, []
        return [Output(text=text) for text in texts]


def test_events_are_read_and_what_comes_of_them_is_given() -> None:
    reader = FrameReader("echo", Echo())
    assert reader.feed(b"data: a\n\ndata: b.\n\nda") == [Output(text="a"), Output(text="b.")]
    assert reader.finish() == []


def test_the_last_event_needs_no_empty_line() -> None:
    reader = FrameReader("echo", Echo())
    assert reader.feed(b"data: a.") == []
    assert reader.finish() == [Output(text="a.")]


def test_an_early_end_is_a_failure() -> None:
    reader = FrameReader("echo", Echo())
    reader.feed(b"data: a\n\n")
    with pytest.raises(WorkerFailed, match="too early"):
        reader.finish()


def test_a_failure_comes_behind_what_came_before_it_and_stays() -> None:
    reader = FrameReader("echo", Echo())
    assert reader.feed(b"data: a\n\ndata: !\n\ndata: b.\n\n") == [Output(text="a")]
    for again in (lambda: reader.feed(b"data: c\n\n"), reader.finish):
        with pytest.raises(WorkerFailed, match="an error"):
            again()


def test_an_event_without_end_is_a_failure() -> None:
    reader = FrameReader("echo", Echo())
    with pytest.raises(WorkerFailed, match="at most"):
        reader.feed(b"data: " + b"a" * EVENT_LIMIT + b"\n\n")
    with pytest.raises(WorkerFailed, match="at most"):
        reader.finish()


def test_an_event_without_end_behind_another_is_a_failure_too() -> None:
    reader = FrameReader("echo", Echo())
    assert reader.feed(b"data: a.\n\ndata: " + b"a" * (EVENT_LIMIT + 1)) == [Output(text="a.")]
    with pytest.raises(WorkerFailed, match="at most"):
        reader.finish()


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b'{"a": "\xff"}', b'{"a": ' + b"[" * 100_000])
def test_what_can_not_be_decoded_is_a_failure(data: bytes) -> None:
    with pytest.raises(WorkerFailed, match="worker echo: it sent what is not of its protocol"):
        decoded("echo", data, dict)


def test_what_can_be_decoded_is_a_value() -> None:
    assert decoded("echo", b'{"a": 1}', dict) == {"a": 1}
