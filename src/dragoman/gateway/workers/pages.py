"""What servers say of themselves: their pages of JSON, asked for when a worker is registered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from ...errors import WorkerFailed
from ...types import JSON
from ..transport import Client
from .complaints import complaint

__all__ = ["Listed", "base_of", "decoded", "has_call", "key_header", "models_of", "page", "text_of"]


_Value = TypeVar("_Value")


class Listed(msgspec.Struct, frozen=True):
    """A model in the list of ``/v1/models``, as SGLang, vLLM and others have it."""

    id: str
    owned_by: str | None = None
    root: str | None = None
    max_model_len: int | None = None


class _List(msgspec.Struct, frozen=True):
    data: tuple[Listed, ...]


async def page(url: str, path: str, client: Client, key: str | None) -> Mapping[str, JSON] | None:
    """A page; ``None`` where there is none, or no object in it. Raises `WorkerFailed` where nobody answers."""
    got = await client.fetch("GET", base_of(url) + path, key_header(key))
    if got.status != 200:
        return None
    try:
        told: JSON = msgspec.json.decode(got.body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return told if isinstance(told, Mapping) else None


async def models_of(url: str, client: Client, key: str | None) -> tuple[Listed, ...]:
    """The models that a server lists; none where it has no such list.

    Raises `WorkerFailed` where nobody answers, where the key is wrong, and where the server is not ready.
    """
    got = await client.fetch("GET", base_of(url) + "/v1/models", key_header(key))
    if got.status in (401, 403) or got.status >= 500:
        raise WorkerFailed(url, complaint(got.body, key) or "it does not list its models", got.status)
    try:
        return msgspec.json.decode(got.body, type=_List).data if got.status == 200 else ()
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ()


async def has_call(url: str, path: str, client: Client, key: str | None) -> bool:
    """Whether a POST there is taken at all: one without content is refused for that, and costs no work."""
    headers = (("content-type", "application/json"), *key_header(key))
    got = await client.fetch("POST", base_of(url) + path, headers, b"{}")
    return got.status not in (403, 404, 405, 501)


def text_of(told: Mapping[str, JSON] | None, *names: str) -> str | None:
    """The first of these fields that has a text."""
    found = (told.get(name) for name in names) if told is not None else ()
    return next((value for value in found if isinstance(value, str) and value), None)


def decoded(worker: str, data: bytes, kind: type[_Value]) -> _Value:
    """The JSON as a value of this type; raises `WorkerFailed`."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WorkerFailed(worker, f"it sent what is not of its protocol: {error}") from None


def base_of(url: str) -> str:
    """A URL without what paths begin with: OpenAI's clients are given it with ``/v1``."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def key_header(key: str | None) -> tuple[tuple[str, str], ...]:
    """The header by which a worker knows its own."""
    return () if key is None else (("authorization", f"Bearer {key}"),)
