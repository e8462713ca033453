"""Asks a server of llama.cpp what it can do: its model, its context, and which marks are control tokens there.

No tokenizer is loaded for that: one request to ``/tokenize`` tells which of the spellings that dialects and the chat
template have are single tokens. Everything about orders is in `llama_cpp`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from ...dialect import Dialect
from ...errors import WorkerFailed
from ...registry import dialects
from ..transport import Client
from .pages import base_of, decoded, key_header, models_of
from .worker import Capabilities, Speech

__all__ = ["ask"]

LIKE_TOKEN = re.compile(r"<[^<>\s'\"{}=]{1,60}>|\[[A-Z_/]{2,40}\]")
"""How control tokens are spelled."""


LOADING = b"Loading model"
"""What it says until it is ready."""


class _Settings(Struct):
    n_ctx: int | None = None


class _Props(Struct):
    default_generation_settings: _Settings
    total_slots: int
    build_info: str = ""
    model_path: str | None = None
    chat_template: str = ""
    bos_token: str = ""
    eos_token: str = ""


class _Token(Struct):
    id: int
    piece: str | list[int] = ""


class _Tokens(Struct):
    tokens: list[_Token] = []


async def ask(url: str, client: Client, key: str | None = None) -> Capabilities | None:
    """What the server at this address can do; ``None`` if it is none of llama.cpp.

    Raises `WorkerFailed`, also for one that is still loading its model.
    """
    url, headers = base_of(url), key_header(key)
    answer = await client.fetch("GET", f"{url}/props", headers)
    if answer.status == 503 and LOADING in answer.body:
        raise WorkerFailed(url, "it is loading its model", answer.status)
    if answer.status != 200:
        return None
    try:
        props = decoded(url, answer.body, _Props)
    except WorkerFailed:
        return None
    models = await models_of(url, client, key)
    spelled = _spelled(props, await asyncio.to_thread(dialects))  # their files are many, if nobody has read them yet
    question = msgspec.json.encode({"content": " ".join(spelled), "parse_special": True, "with_pieces": True})
    typed = (("content-type", "application/json"), *headers)
    tokens = decoded(url, (await client.fetch("POST", f"{url}/tokenize", typed, question)).body, _Tokens)
    return Capabilities(
        kind="llama.cpp",
        version=props.build_info,
        speech=(Speech.TOKENS, Speech.TEXT),
        models=tuple(model.id for model in models),
        context=props.default_generation_settings.n_ctx,
        path=props.model_path,
        template=props.chat_template or None,
        control={one.piece: one.id for one in tokens.tokens if isinstance(one.piece, str) and one.piece in spelled},
    )


def _spelled(props: _Props, known: Sequence[Dialect]) -> dict[str, None]:
    """What may be control tokens of a model."""
    tokens = (text for dialect in known for text in (*dialect.tokens, *dialect.stops) if not re.search(r"\s", text))
    marks = (text for dialect in known for text in dialect.marks if LIKE_TOKEN.fullmatch(text))
    ends = (text for text in (props.bos_token, props.eos_token) if text)
    return dict.fromkeys((*ends, *LIKE_TOKEN.findall(props.chat_template), *tokens, *marks))
