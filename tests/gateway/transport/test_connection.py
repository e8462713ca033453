"""One connection, its bytes given by hand: what a socket does only at times that no test can choose."""

from __future__ import annotations

import asyncio

from dragoman.gateway.transport.connection import Connection
from dragoman.gateway.transport.limits import Limits
from dragoman.gateway.transport.request import Origin
from dragoman.gateway.transport.response import Response

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n"


class Pipe(asyncio.Transport):
    """A transport that leads nowhere, and keeps what was done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def writelines(self, list_of_data: object) -> None:
        self.done.append("write")

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return "abort" in self.done

    def abort(self) -> None:
        self.done.append("abort")

    def pause_reading(self) -> None:
        self.done.append("pause")

    def resume_reading(self) -> None:
        self.done.append("resume")


def asked(limits: Limits) -> tuple[Connection, Pipe, Response, list[str]]:
    """A connection that waits for an answer; the list says when it is spare and when it is lost."""
    told: list[str] = []
    loop = asyncio.get_running_loop()
    origin = Origin("http", "host", 80)
    connection = Connection(loop, origin, limits, lambda _: told.append("spare"), lambda _: told.append("lost"))
    pipe = Pipe()
    connection.connection_made(pipe)
    return connection, pipe, connection.send(b"", b"", limits.stall), told


def test_an_answer_that_ends_while_reading_is_paused_frees_the_connection() -> None:
    async def run() -> None:
        connection, pipe, response, told = asked(Limits(buffer=2))
        connection.data_received(HEAD + b"1234")
        assert pipe.done == ["write", "pause"]
        connection.data_received(b"5678")  # TLS had read it before
        assert pipe.done == ["write", "pause", "resume"]
        assert told == ["spare"]
        assert await response.read() == b"12345678"
        assert await response.read() == b""
        connection.connection_lost(None)
        assert told == ["spare", "lost"]

    asyncio.run(run())


def test_a_paused_answer_goes_on_when_it_is_read() -> None:
    async def run() -> None:
        connection, pipe, response, _ = asked(Limits(buffer=2))
        connection.data_received(HEAD + b"1234")
        connection.data_received(b"56")
        assert await response.read() == b"123456"
        assert pipe.done == ["write", "pause", "resume"]
        connection.connection_lost(None)

    asyncio.run(run())


def test_what_is_gone_can_be_cut_again() -> None:
    async def run() -> None:
        connection, pipe, response, told = asked(Limits())
        connection.connection_lost(ConnectionResetError())
        assert connection.stale
        connection.abort()
        connection.resume()
        response.close()
        connection.data_received(HEAD)
        assert not connection.usable
        assert (pipe.done, told) == (["write", "abort"], ["lost"])

    asyncio.run(run())


def test_bytes_behind_the_end_are_read_by_nobody() -> None:
    async def run() -> None:
        connection, pipe, response, told = asked(Limits())
        connection.data_received(HEAD + b"12345678" + HEAD + b"87654321")
        assert await response.read() == b"12345678"
        assert await response.read() == b""
        assert told == ["spare"]
        assert "abort" in pipe.done
        connection.connection_lost(None)

    asyncio.run(run())
