"""Errors as OpenAI's API words them: ``{"error": {"message", "type", "param", "code"}}`` and an HTTP status.

What a caller did wrong is named by the path of the field; an error of this package's that is no `Refused` yet becomes
one here, so that no endpoint needs to know them all.
"""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec

from ...errors import (
    DragomanError,
    InvalidChatTemplate,
    InvalidConversation,
    InvalidRequest,
    InvalidTool,
    Refused,
    UnknownToken,
    WorkerFailed,
)

__all__ = ["BROKEN", "decoded", "error_body", "error_type", "invalid", "refusal_of", "unreadable"]

BROKEN = Refused(500, "internal_error", "the gateway failed; its log tells more under this request's id")
"""What is answered where the gateway itself is wrong."""

T = TypeVar("T")

_PATH = re.compile(r" - at `\$(?:\.|(?=\[))?(.*)`$")

_TOO_LONG = re.compile(r"context (length|size|window)", re.IGNORECASE)
"""In what llama.cpp, vLLM and SGLang say of a prompt that is too long, each in its own words."""

_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    408: "timeout_error",
    429: "rate_limit_error",
}


LONGEST_MESSAGE, LONGEST_PARAM = 2000, 200
"""Characters of an error: what it says may quote the request, which may be long."""


def error_type(status: int) -> str:
    """The kind of error that a status is."""
    return _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."


def error_body(refused: Refused) -> bytes:
    """The body of an error, the same in an answer and in a stream."""
    error = {
        "message": _short(refused.message, LONGEST_MESSAGE),
        "type": error_type(refused.status),
        "param": _short(refused.param, LONGEST_PARAM) if refused.param is not None else None,
        "code": refused.code,
    }
    return msgspec.json.encode({"error": error})


def invalid(param: str | None, message: str, code: str = "invalid_value") -> Refused:
    """A field that has a value it can't have."""
    return Refused(400, code, message, param=param)


def decoded(body: bytes, kind: type[T]) -> T:
    """The body as a value of this type; raises `Refused`."""
    try:
        return msgspec.json.decode(body, type=kind)
    except RecursionError:
        raise Refused(400, "invalid_json", "the body is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise Refused(400, "invalid_json", f"the body is not UTF-8: {error.reason} at byte {error.start}") from None
    except msgspec.DecodeError as error:
        raise unreadable(error) from None


def unreadable(error: msgspec.DecodeError) -> Refused:
    """A body that is no JSON, or not of the shape that the endpoint takes."""
    text = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return Refused(400, "invalid_json", f"the body is not JSON: {text}")
    found = _PATH.search(text)
    param = found.group(1) if found else None
    said = _PATH.sub("", text).replace("`", "'")
    missing = re.fullmatch(r"Object missing required field '(.*)'", said)
    if missing:
        param = f"{param}.{missing.group(1)}" if param else missing.group(1)
        return Refused(400, "missing_required_parameter", f"missing required parameter: '{param}'", param=param)
    where = f"'{param}': " if param else ""
    return Refused(400, "invalid_type", f"{where}{said[:1].lower()}{said[1:]}", param=param)


def refusal_of(error: DragomanError) -> Refused:
    """What a caller is answered for any error of this package."""
    match error:
        case Refused():
            return error
        case WorkerFailed(status=status) if (
            status is not None and 400 <= status < 500 and status not in (401, 403, 404)
        ):
            return _refused(error, status)
        case WorkerFailed(status=503):
            return Refused(503, "worker_overloaded", str(error), retry_after=1)
        case WorkerFailed():
            return Refused(502, "worker_failed", str(error))
        case InvalidConversation(message=index):
            return invalid(f"messages[{index}]" if index >= 0 else "messages", str(error))
        case InvalidTool():
            return invalid("tools", str(error))
        case InvalidRequest(where=where):
            return invalid(where, str(error))
        case InvalidChatTemplate():
            return invalid("messages", str(error), "chat_template_refused")
        case UnknownToken():
            return invalid("prompt", str(error), "unknown_token")
        case _:
            return invalid(None, str(error))


def _refused(error: WorkerFailed, status: int) -> Refused:
    """What a worker does not want to do."""
    if status == 429:
        return Refused(status, "rate_limit_exceeded", str(error), retry_after=1)
    if _TOO_LONG.search(error.problem):
        return Refused(400, "context_length_exceeded", str(error))
    return Refused(status, "worker_refused", str(error))
