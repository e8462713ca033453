"""The small endpoints: models, tokens and their text, and whether the gateway is well."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct

from ..errors import Refused
from ..tokenizers import TokenDecoder, Tokenizer
from ..types import JSON
from .assembly import Assembly
from .catalog import Catalog
from .door import Visit
from .fleet.fleet import Fleet
from .protocol.refusals import decoded, invalid
from .reply import Receive, Scope, Send, send_body
from .served import ServedModel

__all__ = ["DetokenizeWork", "HealthWork", "MetricsWork", "ModelWork", "ModelsWork", "ReadyWork", "TokenizeWork"]

INLINE = 1 << 16
"""Bytes of a text that is encoded at once; a longer one goes to a thread."""


def _shown(model: ServedModel, created: int) -> dict[str, JSON]:
    return {
        "id": model.name,
        "object": "model",
        "created": created,
        "owned_by": "dragoman",
        "dialect": model.dialect.name,
        "aliases": list(model.aliases),
    }


class ModelsWork:
    """``GET /v1/models``"""

    def __init__(self, catalog: Catalog, created: int) -> None:
        self._catalog, self._created = catalog, created

    async def __call__(self, visit: Visit) -> None:
        listed = [_shown(self._catalog[name], self._created) for name in self._catalog.names]
        await send_body(visit.send, msgspec.json.encode({"object": "list", "data": listed}), visit.headers)


class ModelWork:
    """``GET /v1/models/{model}``"""

    def __init__(self, catalog: Catalog, created: int) -> None:
        self._catalog, self._created = catalog, created

    async def __call__(self, visit: Visit) -> None:
        model = self._catalog[visit.path_params["model"]]
        await send_body(visit.send, msgspec.json.encode(_shown(model, self._created)), visit.headers)


class _Text(Struct, frozen=True):
    model: str = ""
    prompt: str | None = None
    text: str | None = None
    messages: list[dict[str, object]] | None = None
    tools: list[dict[str, object]] | None = None
    chat_template_kwargs: dict[str, object] | None = None


class _Ids(Struct, frozen=True):
    tokens: list[int]
    model: str = ""


def _tokenizer(model: ServedModel) -> Tokenizer:
    if model.tokenizer is None:
        raise Refused(501, "no_tokenizer", f"the gateway has no tokenizer of {model.name!r}", param="model")
    return model.tokenizer


class TokenizeWork:
    """``POST /tokenize``: ``prompt`` is ordinary text, ``messages`` are a chat, rendered as for its model."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def __call__(self, visit: Visit) -> None:
        asked = decoded(visit.body, _Text)
        model = self._catalog[asked.model]
        tokenizer = _tokenizer(model)
        ids: list[int] | tuple[int, ...] | None
        if asked.messages is not None:
            messages, tools, options = asked.messages, asked.tools or [], asked.chat_template_kwargs or {}
            prompt = await asyncio.to_thread(model.prompt, messages, tools, options)  # type: ignore[arg-type]
            ids = prompt.ids
        else:
            text = asked.prompt if asked.prompt is not None else asked.text
            if text is None:
                raise invalid("prompt", "'prompt' or 'messages' is needed", "missing_required_parameter")
            encode = tokenizer.encode
            ids = encode(text) if len(text) <= INLINE else await asyncio.to_thread(encode, text)
        if ids is None:
            raise Refused(501, "no_layout", f"the gateway has no layout of {model.name!r}", param="model")
        answer = {"tokens": ids, "count": len(ids), "max_model_len": None}
        await send_body(visit.send, msgspec.json.encode(answer), visit.headers)


class DetokenizeWork:
    """``POST /detokenize``"""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def __call__(self, visit: Visit) -> None:
        asked = decoded(visit.body, _Ids)
        decoder = TokenDecoder(_tokenizer(self._catalog[asked.model]))
        text = decoder.feed(asked.tokens) + decoder.finish()
        answer = {"prompt": text, "text": text}
        await send_body(visit.send, msgspec.json.encode(answer), visit.headers)


class HealthWork:
    """``GET /health``: the process lives."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send_body(send, b'{"status":"ok"}')


class ReadyWork:
    """``GET /ready``: there is a worker that can be given requests."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        usable = sum(seat.is_usable for seat in self._fleet.seats())
        facts = {"status": "ready" if usable else "no_worker", "workers": len(self._fleet.seats()), "usable": usable}
        await send_body(send, msgspec.json.encode(facts), status=200 if usable else 503)


class MetricsWork:
    """``GET /metrics``: what Prometheus reads."""

    def __init__(self, parts: Assembly) -> None:
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._parts.show()
        accept = dict(scope["headers"]).get(b"accept", b"").decode("latin-1")
        body, kind = self._parts.hall.metrics.exposition(accept)
        await send_body(send, body, kind=kind.encode())
