"""An answer while it comes: pieces together, and what came before a failure first."""

from __future__ import annotations

import asyncio

import pytest

from dragoman.errors import WorkerFailed
from dragoman.gateway.transport.response import Response


class Nowhere:
    """A source that remembers how it was told to go on or to stop."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def resume(self) -> None:
        self.told.append("resume")

    def abort(self) -> None:
        self.told.append("abort")


def response() -> tuple[Response, Nowhere]:
    source = Nowhere()
    return Response(asyncio.get_running_loop(), source), source


def test_pieces_that_have_arrived_are_read_together() -> None:
    async def run() -> None:
        it, source = response()
        it.begin(200, {})
        it.add(b"a")
        it.add(b"b")
        assert it.unread == 2
        assert await it.read() == b"ab"
        assert it.unread == 0
        assert source.told == ["resume"]

    asyncio.run(run())


def test_a_reader_is_woken() -> None:
    async def run() -> None:
        it, _ = response()
        head, reading = asyncio.create_task(it.head()), None
        await asyncio.sleep(0)
        it.begin(204, {"a": "b"})
        await head
        reading = asyncio.create_task(it.read())
        await asyncio.sleep(0)
        it.wake()  # for nothing
        await asyncio.sleep(0)
        it.add(b"a")
        it.wake()
        it.wake()
        assert await reading == b"a"

    asyncio.run(run())


def test_a_failure_comes_behind_what_was_read() -> None:
    async def run() -> None:
        it, _ = response()
        it.begin(200, {})
        it.add(b"a")
        it.fail(WorkerFailed("w", "it broke"))
        it.fail(WorkerFailed("w", "it broke again"))
        assert await it.read() == b"a"
        for _ in range(2):
            with pytest.raises(WorkerFailed, match=r"it broke$"):
                await it.read()

    asyncio.run(run())


def test_a_failure_behind_the_end_is_none() -> None:
    async def run() -> None:
        it, source = response()
        it.begin(200, {})
        it.end()
        it.fail(WorkerFailed("w", "it broke"))
        it.close()
        assert await it.read() == b""
        assert source.told == []

    asyncio.run(run())


def test_closing_cuts_once_and_forgets() -> None:
    async def run() -> None:
        it, source = response()
        it.begin(200, {})
        it.add(b"a")
        it.close()
        it.close()
        assert source.told == ["abort"]
        assert await it.read() == b""

    asyncio.run(run())


def test_only_so_much_is_collected() -> None:
    async def run() -> None:
        it, source = response()
        it.begin(200, {})
        it.add(b"abcdef")
        assert await it.collect(4) == b"abcd"
        assert source.told[-1] == "abort"

    asyncio.run(run())
