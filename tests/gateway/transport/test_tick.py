"""The beat that connections share."""

from __future__ import annotations

import asyncio

import pytest

from dragoman.errors import WorkerFailed
from dragoman.gateway.transport import Client
from dragoman.gateway.transport.limits import Limits
from dragoman.gateway.transport.tick import Tick

from ..doubles.raw import Asked, RawServer

PIECES = [b"%d," % number for number in range(40)]
WHOLE = b"".join(PIECES)


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


HEAD = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"


async def slowly(asked: Asked) -> None:
    """An answer in many pieces, a millisecond apart."""
    await asked.write(HEAD)
    for piece in PIECES:
        await asked.write(chunk(piece))
        await asyncio.sleep(0.001)
    await asked.write(b"0\r\n\r\n")


async def breaks(asked: Asked) -> None:
    """The same, cut off."""
    await asked.write(HEAD)
    for piece in PIECES:
        await asked.write(chunk(piece))
        await asyncio.sleep(0.001)
    asked.close()


def test_all_who_wait_are_called_at_one_beat_and_once() -> None:
    async def run() -> list[str]:
        loop, told = asyncio.get_running_loop(), []
        tick = Tick(loop, 0.02)
        begun = loop.time()
        tick.wait(lambda: told.append("a"))
        tick.wait(lambda: told.append("b"))
        await asyncio.sleep(0.05)
        assert loop.time() > begun
        tick.wait(lambda: told.append("c"))
        await asyncio.sleep(0.05)
        return told

    assert asyncio.run(run()) == ["a", "b", "c"]


def test_an_answer_is_read_in_fewer_pieces_and_loses_nothing() -> None:
    async def run(gather: float) -> list[bytes]:
        async with RawServer(slowly) as server, Client(Limits(gather=gather)) as client:
            read = []
            for _ in range(2):  # the second on the connection that was kept
                response = await client.open("GET", server.url)
                read = []
                while data := await response.read():
                    read.append(data)
                response.close()
                assert b"".join(read) == WHOLE
            assert server.connections == 1
            return read

    assert len(asyncio.run(run(0.02))) < len(asyncio.run(run(0.0)))


def test_an_answer_that_breaks_off_while_it_is_not_read_is_a_failure_behind_all_that_came() -> None:
    async def run() -> None:
        async with RawServer(breaks) as server, Client(Limits(gather=0.02)) as client:
            response = await client.open("GET", server.url)
            read = [await response.read()]
            while sum(map(len, read)) < len(WHOLE):
                read.append(await response.read())
            assert b"".join(read) == WHOLE
            with pytest.raises(WorkerFailed, match="within the body"):
                await response.read()

    asyncio.run(run())


def test_who_has_enough_closes_at_any_time() -> None:
    async def run() -> None:
        async with RawServer(slowly) as server, Client(Limits(gather=0.05)) as client:
            response = await client.open("GET", server.url)
            for _ in range(9):
                await response.read()
            response.close()
            await asyncio.sleep(0.1)
            assert not client._open

    asyncio.run(run())
