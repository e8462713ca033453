"""What all answers of events have in common: one output a read, errors after what came before, and the end."""

from __future__ import annotations

import pytest

from dragoman.errors import WorkerFailed
from dragoman.gateway.workers.order import Output, Usage
from dragoman.gateway.workers.reading import ErrorBody, EventReader, Gathered
from tests.gateway.doubles.reading import read


def letters(data: bytes, into: Gathered) -> None:
    """A protocol of its own: letters are text, a number counts, a full stop ends, and an exclamation mark fails."""
    match data:
        case b"!":
            raise WorkerFailed("letters", "it shouts")
        case b".":
            into.finish = "stop"
        case _ if data.isdigit():
            into.usage = Usage(completion=int(data))
        case _:
            into.texts.append(data.decode())


def reader() -> EventReader:
    return EventReader("letters", Gathered("letters", letters))


def events(*datas: bytes) -> bytes:
    return b"".join(b"data: %b\n\n" % data for data in datas)


def test_a_read_is_one_output() -> None:
    assert reader().feed(events(b"a", b"b", b"1", b".")) == [
        Output(text="ab", finish="stop", usage=Usage(completion=1))
    ]


def test_a_read_of_half_an_event_is_none() -> None:
    assert reader().feed(b"data: a") == []


def test_a_count_alone_is_no_output() -> None:
    assert reader().feed(events(b"1")) == []


def test_the_reason_of_the_end_waits_for_the_count() -> None:
    it = reader()
    assert it.feed(events(b"a", b".")) == [Output(text="a")]
    assert it.feed(events(b"1")) == [Output(finish="stop", usage=Usage(completion=1))]
    assert it.finish() == []


def test_the_reason_of_the_end_does_not_wait_for_ever() -> None:
    it = reader()
    assert it.feed(events(b"a", b".")) == [Output(text="a")]
    assert it.feed(events(b"[DONE]")) == [Output(finish="stop")]
    assert it.finish() == []


def test_the_end_of_the_body_is_an_end_too() -> None:
    it = reader()
    assert it.feed(events(b".")) == []
    assert it.finish() == [Output(finish="stop")]


def test_nothing_is_read_behind_the_end() -> None:
    it = reader()
    it.feed(events(b".", b"[DONE]", b"a"))
    assert it.feed(events(b"a")) == []


def test_what_came_before_an_error_comes_first() -> None:
    it = reader()
    assert it.feed(events(b"a", b"!", b"b")) == [Output(text="a")]
    for _ in range(2):
        with pytest.raises(WorkerFailed, match="it shouts"):
            it.feed(events(b"c"))
    with pytest.raises(WorkerFailed, match="it shouts"):
        it.finish()


def test_an_end_that_comes_too_early_is_a_failure() -> None:
    it = reader()
    it.feed(events(b"a"))
    with pytest.raises(WorkerFailed, match="ended before the answer did"):
        it.finish()


def test_the_last_event_needs_no_empty_line() -> None:
    it = reader()
    assert it.feed(b"data: a\n\ndata: .") == [Output(text="a")]
    assert it.finish() == [Output(finish="stop")]


def test_an_event_that_is_cut_is_an_early_end_unless_the_answer_had_ended() -> None:
    it = reader()
    it.feed(events(b".") + b"data: \xff")
    assert it.finish() == [Output(finish="stop")]
    it = reader()
    it.feed(events(b"a") + b"data: \xff")
    with pytest.raises(WorkerFailed, match="ended before the answer did"):
        it.finish()


def test_bytes_that_are_no_text_are_a_failure() -> None:
    with pytest.raises(WorkerFailed, match="not of its protocol"):
        reader().feed(events(b"\xff"))


def test_an_event_without_end_is_a_failure() -> None:
    with pytest.raises(WorkerFailed, match="at most 16777216 bytes"):
        read(reader(), [b"data: ", *[b"x" * (1 << 20)] * 20])


@pytest.mark.parametrize(("code", "status"), [(500, 500), ("overloaded", None), (7, None), (None, None)])
def test_an_error_may_have_a_status(code: int | str | None, status: int | None) -> None:
    assert ErrorBody("it broke", code).failure("letters").status == status
