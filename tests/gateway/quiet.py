"""A gateway of which nothing may be left running, held or open when a test is done with it, and a chat to ask it."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from dragoman.gateway.config import Settings

from .doubles.double import Json
from .doubles.script import Script
from .doubles.sglang import SglangDouble
from .running import Gateway, gateway, in_front_of, settled

__all__ = ["MODEL", "ask", "facing", "held", "quiet", "says"]

MODEL = "qwen3"
"""A model that is known by its name and has no tokenizer here: its workers are given text."""

OPEN = re.compile("dragoman_(streams_open|requests_in_flight)[ {]")


def ask(content: str = "How is the weather?", **fields: Any) -> dict[str, Any]:
    """A chat."""
    return {"model": MODEL, "messages": [{"role": "user", "content": content}], **fields}


def says(*texts: str, **fields: Any) -> Script:
    """An answer of these texts, an event each."""
    return Script(ids=tuple(range(len(texts))), texts=texts, **fields)


def held(door: Gateway) -> dict[str, object]:
    """What is held for requests, where there is any."""
    parts = door.parts
    gate, client = parts.hall.gate, parts.client
    page = parts.hall.metrics.exposition()[0].decode()
    counts: dict[str, object] = {
        "inside": gate.inside,
        "waiting": gate.waiting,
        "lines": len(parts.hall.heart.lines),
        "running": door.draining.running,
        "loads": [seat for seat in parts.fleet.seats() if seat.load != (0, 0)],
        "connections": len(client._open) - sum(map(len, client._spares.values())),
        "gauges": [line for line in page.splitlines() if OPEN.match(line) and not line.endswith(" 0.0")],
    }
    return {name: count for name, count in counts.items() if count}


@asynccontextmanager
async def quiet(settings: Settings, *, tells: Sequence[str] = ()) -> AsyncIterator[Gateway]:
    """A gateway; fails if, at the end, it does not come to rest, or has had errors but for these."""
    broken: list[object] = []
    heard = _Ear()
    loggers = [logging.getLogger(name) for name in ("asyncio", "dragoman", "uvicorn.error")]
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: broken.append(context))
    for logger in loggers:
        logger.addHandler(heard)
    try:
        async with gateway(settings) as door:
            before = asyncio.all_tasks()
            yield door
            await door.client.close()
            with suppress(TimeoutError):
                await settled(lambda: not held(door) and asyncio.all_tasks() <= before, 5)
            left = held(door), asyncio.all_tasks() - before
            assert left == ({}, set()), left
            gc.collect()  # tells of exceptions that nobody has taken
            await asyncio.sleep(0)
    finally:
        for logger in loggers:
            logger.removeHandler(heard)
    assert broken == [], broken
    assert len(heard.errors) == len(tells), heard.errors
    assert all(told in error for told, error in zip(tells, heard.errors, strict=True)), heard.errors


@asynccontextmanager
async def facing(
    script: Script | Callable[[Json], Script] | None = None, *, tells: Sequence[str] = (), **fields: Any
) -> AsyncIterator[tuple[SglangDouble, Gateway]]:
    """A worker with this script, and such a gateway of these settings in front of it."""
    async with (
        SglangDouble(script) as worker,
        quiet(in_front_of(worker.url, model=MODEL, **fields), tells=tells) as door,
    ):
        yield worker, door


class _Ear(logging.Handler):
    """Keeps what is said to have gone wrong."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.errors.append(self.format(record))
