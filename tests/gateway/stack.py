"""A gateway and a worker that run beside the tests, for properties that ask them again and again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from dragoman.gateway.config import Settings

from .doubles.double import Double
from .running import Gateway, gateway
from .tiny_llama import TinyLlama

__all__ = ["Stack", "running"]

T = TypeVar("T")


class Stack:
    """An event loop in a thread, with a gateway in it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.door: Gateway
        self.worker: Any

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do this in the loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(60)


@contextmanager
def running(worker: Double | TinyLlama, settings: Any) -> Iterator[Stack]:
    """A worker, and the gateway of the settings that a function makes of its URL."""
    loop = asyncio.new_event_loop()
    stack = Stack(loop)
    ready, over = threading.Event(), asyncio.Event()
    failed: list[BaseException] = []

    async def live() -> None:
        try:
            async with worker:
                made: Settings = settings(worker.url)
                async with gateway(made) as stack.door:
                    stack.worker = worker
                    ready.set()
                    await over.wait()
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            ready.set()

    thread = threading.Thread(target=loop.run_until_complete, args=(live(),), daemon=True)
    thread.start()
    ready.wait(60)
    try:
        if failed:
            raise failed[0]
        yield stack
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join(30)
        loop.close()
