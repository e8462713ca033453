"""What servers say when they refuse: their error bodies in all their shapes, as one short sentence."""

from __future__ import annotations

import msgspec

from ...types import JSON

__all__ = ["COMPLAINT", "complaint"]

COMPLAINT = 500
"""Characters of a worker's message that are passed on."""


def complaint(body: bytes, key: str | None = None) -> str:
    """The message in an error body: OpenAI's, vLLM's, SGLang's, FastAPI's, llama.cpp's, or just text.

    It is shown to clients, so the `key` that the gateway has sent is taken out of it.
    """
    if key:
        body = body.replace(key.encode(), b"(hidden)")
    try:
        found = _message(msgspec.json.decode(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = body.decode("utf-8", "replace")
    text = " ".join((found or body.decode("utf-8", "replace")).split())
    return text if len(text) <= COMPLAINT else text[: COMPLAINT - 3] + "..."


def _message(value: JSON) -> str:
    """The first text in the places where messages stand."""
    match value:
        case str():
            return value
        case {"error": inner} | {"message": inner} | {"detail": inner} | {"msg": inner} if inner:
            return _message(inner)
        case [first, *_]:
            return _message(first)
    return ""
