"""The log: lines for eyes or JSON objects, and one line for each request.

A line says what happened, when, how long it took and how much it was; never what was said, and never a key. What comes
from a client (the name of a model, an id) is shortened and can't begin a line of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Literal, TextIO

import msgspec
from msgspec import Struct

__all__ = ["ACCESS", "Access", "JsonLines", "TextLines", "log_access", "open_log"]

ACCESS = logging.getLogger("dragoman.access")
"""Where the lines of requests go."""

SHOWN = 200
"""Characters of a word that are logged."""

_OURS = ("dragoman", "uvicorn")
"""The loggers that write to our log."""

_QUIET = {"uvicorn.error": logging.WARNING}
"""What is said by others only when it matters: we tell ourselves that we have started."""


class Access(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is told of a request when it has ended; what is not known or was not is left out."""

    request: str
    endpoint: str
    status: int
    seconds: float
    model: str = ""
    worker: str = ""
    stream: bool = False
    queued_seconds: float | None = None
    first_token_seconds: float | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    finish: tuple[str, ...] = ()
    retries: int = 0
    problems: Mapping[str, int] = {}
    error: str = ""
    trace: str = ""


def log_access(access: Access) -> None:
    """Write the line of a request; costs next to nothing where it would not be written."""
    if ACCESS.isEnabledFor(logging.INFO):
        ACCESS.info("%s", access.endpoint, extra={"access": access})


def open_log(level: str, form: Literal["text", "json"], stream: TextIO) -> logging.Handler:
    """Write what the gateway and its server log to a stream, in place of what was there; gives the handler."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines() if form == "json" else TextLines())
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level.upper())
        logger.propagate = False
    for name, least in _QUIET.items():
        logging.getLogger(name).setLevel(max(least, logging.getLevelName(level.upper())))
    return handler


class JsonLines(logging.Formatter):
    """A JSON object a line: ``time``, ``level``, ``logger``, ``event``, and what belongs to the event."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, whatever the record holds."""
        fields: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
        }
        access = getattr(record, "access", None)
        if isinstance(access, Access):
            fields |= {"event": "request"} | _fields(access)
        else:
            fields["event"] = record.getMessage()
        if record.exc_info:
            fields["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(fields).decode()


class TextLines(logging.Formatter):
    """A line for eyes: the time, the level if it is no mere information, what happened, ``key=value``."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the lines of a traceback."""
        level = f"{record.levelname.lower()}: " if record.levelno != logging.INFO else ""
        access = getattr(record, "access", None)
        if isinstance(access, Access):
            told = _fields(access)
            said = f"{told.pop('endpoint')} {told.pop('status')} {_pairs(told)}"
        else:
            said = _line(record.getMessage())
        lines = [f"{_time(record)} {level}{said}"]
        if record.exc_info:
            lines.append(self.formatException(record.exc_info))
        return "\n".join(lines)


def _time(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fields(access: Access) -> dict[str, object]:
    """What is told of a request, without what is not known."""
    told = msgspec.to_builtins(access)
    return {key: _short(value) for key, value in told.items() if value is not None}


def _short(value: object) -> object:
    if isinstance(value, float):
        return round(value, 6)
    return _characters(value[:SHOWN]) if isinstance(value, str) else value


def _characters(text: str) -> str:
    """A text that UTF-8 can say."""
    return text.encode("utf-8", "replace").decode()


def _pairs(told: Mapping[str, object]) -> str:
    return " ".join(f"{key}={_word(value)}" for key, value in told.items())


def _word(value: object) -> str:
    match value:
        case str():
            return value if value.isprintable() and value and not set(value) & set(' ="') else repr(value)
        case list() | tuple():
            return ",".join(map(_word, value))
        case Mapping():
            return ",".join(f"{key}:{count}" for key, count in value.items())
        case bool():
            return str(value).lower()
        case _:
            return str(value)


def _line(text: str) -> str:
    """A text without what would begin another line or command a terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in _characters(text))
