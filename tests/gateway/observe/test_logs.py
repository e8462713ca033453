"""A line a request, for eyes or for programs, and nothing in it that a client could forge."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator

import msgspec
import pytest

from dragoman.gateway.observe.logs import ACCESS, Access, JsonLines, TextLines, log_access, open_log

LINE = Access(
    request="r1",
    endpoint="chat",
    status=200,
    seconds=1.23456789,
    model="qwen3",
    worker="http://w",
    stream=True,
    completion_tokens=7,
    finish=("stop", "length"),
    problems={"orphan": 2},
)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """The loggers as they were."""
    loggers = [logging.getLogger(name) for name in ("dragoman", "uvicorn", "uvicorn.error", "dragoman.access")]
    before = [(each.handlers[:], each.level, each.propagate) for each in loggers]
    yield
    for each, (handlers, level, propagate) in zip(loggers, before, strict=True):
        each.handlers[:], each.level, each.propagate = handlers, level, propagate
        each.setLevel(level)


def record(message: str, level: int = logging.INFO, **extra: object) -> logging.LogRecord:
    made = logging.LogRecord("dragoman.x", level, "", 0, message, (), None)
    made.created = 0.5
    made.__dict__.update(extra)
    return made


def test_a_request_is_an_object_for_programs() -> None:
    assert msgspec.json.decode(JsonLines().format(record("chat", access=LINE))) == {
        "time": "1970-01-01T00:00:00.500Z",
        "level": "info",
        "logger": "dragoman.x",
        "event": "request",
        "request": "r1",
        "endpoint": "chat",
        "status": 200,
        "seconds": 1.234568,
        "model": "qwen3",
        "worker": "http://w",
        "stream": True,
        "completion_tokens": 7,
        "finish": ["stop", "length"],
        "problems": {"orphan": 2},
    }


def test_a_request_is_a_line_for_eyes() -> None:
    assert TextLines().format(record("chat", access=LINE)) == (
        "1970-01-01T00:00:00.500Z chat 200 request=r1 seconds=1.234568 model=qwen3 worker=http://w stream=true"
        " completion_tokens=7 finish=stop,length problems=orphan:2"
    )


def test_what_else_happens_is_said_with_its_level() -> None:
    assert TextLines().format(record("a worker left", logging.WARNING)) == (
        "1970-01-01T00:00:00.500Z warning: a worker left"
    )
    assert msgspec.json.decode(JsonLines().format(record("x", logging.ERROR)))["event"] == "x"


@pytest.mark.parametrize("model", ["a\nstatus=200", "a b", 'a"b', "\x1b[31m", "é\udcff", "", "m" * 10_000])
def test_the_name_that_a_client_gives_stays_a_word(model: str) -> None:
    access = Access(request="r", endpoint="chat", status=404, seconds=0.0, model=model)
    for form in (TextLines(), JsonLines()):
        line = form.format(record("chat", access=access))
        assert line.isprintable()
        assert len(line) < 1000
        line.encode()


def test_a_message_can_not_begin_a_line() -> None:
    assert "\n" not in TextLines().format(record("a\nb\x1b"))


def test_a_traceback_is_told() -> None:
    try:
        raise ValueError("broken")
    except ValueError as error:
        failed = record("failed", logging.ERROR, exc_info=(ValueError, error, error.__traceback__))
    assert "ValueError: broken" in TextLines().format(failed)
    assert "ValueError: broken" in msgspec.json.decode(JsonLines().format(failed))["traceback"]


def test_the_log_is_opened_once_and_holds_what_its_level_says() -> None:
    first, second = io.StringIO(), io.StringIO()
    open_log("debug", "json", first)
    open_log("info", "text", second)
    log_access(LINE)
    logging.getLogger("dragoman.gateway").debug("too much")
    logging.getLogger("uvicorn.error").info("chatter")
    logging.getLogger("uvicorn.error").error("matters")
    assert first.getvalue() == ""
    assert [line.split()[1] for line in second.getvalue().splitlines()] == ["chat", "error:"]


def test_a_line_that_is_not_wanted_is_not_made() -> None:
    stream = io.StringIO()
    open_log("warning", "text", stream)
    log_access(LINE)
    assert stream.getvalue() == ""
    assert not ACCESS.isEnabledFor(logging.INFO)
