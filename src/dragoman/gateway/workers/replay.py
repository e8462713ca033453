"""A worker without a model: it says recorded outputs of the dialect that is asked for, as fast as a model would.

The gateway has it where nothing else is set up, so that clients can be tried at once. What it says is chosen and
written by `replay_scripts`; nothing here knows what the text means.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from zlib import crc32

import msgspec

from ...errors import WorkerFailed
from ...registry import AUTO, dialects
from ...types import JSON
from .order import Order, Output, Piece, Usage
from .replay_scripts import scene_of, script_for
from .worker import Capabilities, Speech

__all__ = ["ReplayWorker", "pieces_of"]

PIECES = re.compile(r"\s?\w{1,6}|\s+|[^\w\s]{1,3}")
"""What stands for tokens."""

RATE = 100.0
"""Pieces in a second."""


class ReplayWorker:
    """Speaks all dialects; its models are their names.

    It says `rate` pieces a second, waiting with `sleep`; with ``None`` it only lets others run in between. The same
    request and seed give the same output, and so does the same request without a seed.
    """

    def __init__(self, rate: float | None = RATE, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._pause = 1 / rate if rate else 0.0
        self._sleep = sleep
        models = tuple(dialect.name for dialect in dialects() if dialect.name != AUTO)
        self.capabilities = Capabilities(kind="replay", speech=(Speech.TEXT,), models=models, lays_out=True)

    @property
    def name(self) -> str:
        """There is one of them in a process."""
        return "replay"

    async def generate(self, order: Order) -> AsyncIterator[Sequence[Piece]]:
        """The pieces of the script, at most as many as there may be; raises `WorkerFailed` for an unknown model."""
        if order.model not in self.capabilities.models:
            raise WorkerFailed(self.name, f"there is no dialect {order.model!r} to replay", 404)
        script = script_for(scene_of(order.model, order.prompt.begun, order.chat, _seed(order)))
        pieces = pieces_of(script)
        limit = order.sampling.max_tokens
        said = pieces if limit is None else pieces[:limit]
        prompt = _length(order)
        for count, piece in enumerate(said, 1):
            await self._sleep(self._pause)
            yield (Output(text=piece, usage=Usage(prompt, count, 0)),)
        finish = "stop" if len(said) == len(pieces) else "length"
        yield (Output(finish=finish, usage=Usage(prompt, len(said), 0)),)

    async def is_well(self) -> bool:
        """It always is."""
        return True

    async def close(self) -> None:
        """There is nothing to let go of."""


def pieces_of(text: str) -> list[str]:
    """The text in pieces like tokens; joined they are the text."""
    return PIECES.findall(text)


def _length(order: Order) -> int | None:
    prompt = order.prompt
    if prompt.ids is not None:
        return len(prompt.ids)
    return len(pieces_of(prompt.text)) if prompt.text is not None else None


def _seed(order: Order) -> int:
    """The caller's, or one that the conversation gives."""
    if order.sampling.seed is not None:
        return abs(order.sampling.seed)
    messages: Mapping[str, JSON] = {"messages": (order.chat or {}).get("messages")}
    return crc32(msgspec.json.encode(messages))
