"""The client against real sockets: answers of every framing, faults of every kind, and nothing left open."""

from __future__ import annotations

import asyncio
import gc
import shutil
import socket
import ssl
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.errors import Refused, WorkerFailed
from dragoman.gateway.transport import Client, Limits, Response
from tests.gateway.doubles.raw import Asked, RawServer
from tests.streams import cut, cuts

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"
TO_THE_END = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhello"


def says(data: bytes, *more: bytes, close: bool = False) -> Callable[[Asked], Awaitable[None]]:
    """An answer in these writes, with a moment between them."""

    async def answer(asked: Asked) -> None:
        await asked.write(data)
        for piece in more:
            await asyncio.sleep(0.001)
            await asked.write(piece)
        if close:
            asked.close()

    return answer


async def whole(response: Response) -> bytes:
    parts = []
    while data := await response.read():
        parts.append(data)
    return b"".join(parts)


def fetched(answer: Callable[[Asked], Awaitable[None]], limits: Limits | None = None) -> tuple[int, bytes]:
    """What one GET gives."""

    async def run() -> tuple[int, bytes]:
        async with RawServer(answer) as server, Client(limits) as client:
            got = await client.fetch("GET", server.url + "/x")
            return got.status, got.body

    return asyncio.run(run(), debug=True)


def fails(answer: Callable[[Asked], Awaitable[None]], limits: Limits | None = None) -> WorkerFailed:
    with pytest.raises(WorkerFailed) as caught:
        fetched(answer, limits)
    gc.collect()  # what is not closed warns, and warnings are errors
    return caught.value


@pytest.mark.parametrize("data", [OK, CHUNKED])
def test_an_answer_is_read_to_its_end(data: bytes) -> None:
    assert fetched(says(data)) == (200, b"hello")


def test_an_answer_without_a_length_ends_with_the_connection() -> None:
    assert fetched(says(TO_THE_END, close=True)) == (200, b"hello")


def test_an_answer_may_have_no_body() -> None:
    assert fetched(says(b"HTTP/1.1 204 No Content\r\n\r\n")) == (204, b"")


def test_an_answer_that_only_says_to_wait_is_passed_over() -> None:
    assert fetched(says(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n", OK)) == (
        200,
        b"hello",
    )


def test_an_error_is_an_answer() -> None:
    assert fetched(says(b"HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nbusy")) == (503, b"busy")


@pytest.mark.parametrize("data", [OK, CHUNKED])
@settings(max_examples=15, deadline=None)
@given(places=cuts())
def test_cuts_between_packets_change_nothing(data: bytes, places: list[int]) -> None:
    assert fetched(says(*cut(data, places))) == (200, b"hello")


def test_a_request_says_what_it_is() -> None:
    async def run() -> None:
        async with RawServer(says(OK)) as server, Client() as client:
            await client.fetch("POST", server.url + "/a?b=c", [("x-one", "two")], b"body")
            (asked,) = server.asked
            assert (asked.method, asked.path) == ("POST", "/a?b=c")
            assert asked.body == b"body"
            assert asked.headers == {
                "host": server.url.removeprefix("http://"),
                "accept-encoding": "identity",
                "content-length": "4",
                "x-one": "two",
            }

    asyncio.run(run())


def test_a_read_gives_all_that_has_arrived() -> None:
    async def run() -> None:
        async with RawServer(says(CHUNKED)) as server, Client() as client:
            response = await client.open("GET", server.url)
            while not response.ended:
                await asyncio.sleep(0.001)
            assert await response.read() == b"hello"
            assert await response.read() == b""
            assert await response.read() == b""

    asyncio.run(run())


def test_a_connection_is_used_again() -> None:
    async def run() -> None:
        async with RawServer(says(CHUNKED)) as server, Client() as client:
            for _ in range(5):
                await client.fetch("POST", server.url, body=b"x")
            assert server.connections == 1

    asyncio.run(run())


@pytest.mark.parametrize(
    "data",
    [b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello", OK.replace(b"1.1", b"1.0")],
)
def test_a_connection_that_is_to_be_closed_is_not_used_again(data: bytes) -> None:
    async def run() -> None:
        async with RawServer(says(data)) as server, Client() as client:
            await client.fetch("GET", server.url)
            await client.fetch("GET", server.url)
            assert server.connections == 2

    asyncio.run(run())


def test_only_so_many_spare_connections_are_kept() -> None:
    async def run() -> None:
        async with RawServer(says(OK)) as server, Client(Limits(spare=2)) as client:
            await asyncio.gather(*(client.fetch("GET", server.url) for _ in range(5)))
            async with asyncio.timeout(5):
                while server.open != 2:
                    await asyncio.sleep(0.002)

    asyncio.run(run())


def test_a_spare_connection_does_not_stay_for_long() -> None:
    async def run() -> None:
        async with RawServer(says(OK)) as server, Client(Limits(idle=0.01)) as client:
            await client.fetch("GET", server.url)
            await server.closed()

    asyncio.run(run())


def test_a_spare_connection_that_says_something_is_cut() -> None:
    async def run() -> None:
        async with RawServer(says(OK, OK)) as server, Client() as client:
            await client.fetch("GET", server.url)
            await server.closed()

    asyncio.run(run())


def test_a_kept_connection_that_the_worker_closed_is_replaced() -> None:
    async def answer(asked: Asked) -> None:
        if len(server.asked) == 2:  # the second request of the first connection
            asked.close()
        else:
            await asked.write(OK)

    async def run() -> None:
        nonlocal server
        async with RawServer(answer) as server, Client() as client:
            await client.fetch("GET", server.url)
            assert (await client.fetch("POST", server.url, body=b"x")).body == b"hello"
            assert server.connections == 2

    server: RawServer
    asyncio.run(run())


def test_a_new_connection_that_is_closed_at_once_is_not_tried_again() -> None:
    async def run() -> None:
        async with RawServer(says(b"", close=True)) as server, Client() as client:
            with pytest.raises(WorkerFailed, match="it closed the connection without an answer"):
                await client.fetch("GET", server.url)
            assert len(server.asked) == 1

    asyncio.run(run())


def test_half_an_answer_is_not_asked_for_again() -> None:
    async def answer(asked: Asked) -> None:
        if len(server.asked) == 1:
            await asked.write(OK)
        else:
            await asked.write(b"HTTP/1.1 200")
            asked.close()

    async def run() -> None:
        nonlocal server
        async with RawServer(answer) as server, Client() as client:
            await client.fetch("GET", server.url)
            with pytest.raises(WorkerFailed, match="within the headers"):
                await client.fetch("POST", server.url, body=b"x")
            assert len(server.asked) == 2

    server: RawServer
    asyncio.run(run())


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello",
            "it closed the connection within the body of its answer",
        ),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
            "it closed the connection within the body",
        ),
        (b"HTTP/1.1 200 OK\r\ncontent-le", "it closed the connection within the headers of its answer"),
        (b"SSH-2.0-OpenSSH_9.6\r\n", "what it answered is not HTTP"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "what it answered is not HTTP"),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "another protocol"),
        (
            b"HTTP/1.1 307 Moved\r\nlocation: http://elsewhere/\r\ncontent-length: 0\r\n\r\n",
            "redirects to 'http://elsew",
        ),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70000, "headers of more than 65536 bytes"),
    ],
)
def test_a_bad_answer_is_the_workers_failure(data: bytes, sentence: str) -> None:
    error = fails(says(data, close=True))
    assert sentence in str(error)
    assert error.worker.startswith("http://127.0.0.1:")


def test_a_connection_that_breaks_is_the_workers_failure() -> None:
    async def answer(asked: Asked) -> None:
        await asked.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello")
        await asyncio.sleep(0.01)
        asked.reset()

    assert "the connection broke" in str(fails(answer))


def test_what_came_before_the_break_is_read_first() -> None:
    async def run() -> None:
        data = b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"
        async with RawServer(says(data, close=True)) as server, Client() as client:
            response = await client.open("GET", server.url)
            assert await response.read() == b"hello"
            with pytest.raises(WorkerFailed):
                await response.read()

    asyncio.run(run())


@pytest.mark.parametrize("data", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello"])
def test_a_worker_that_is_silent_has_failed(data: bytes) -> None:
    async def answer(asked: Asked) -> None:
        await asked.write(data)
        await asyncio.sleep(60)

    assert "nothing came from it for 0.05 seconds" in str(fails(answer, Limits(stall=0.05)))


def test_a_worker_that_drips_is_not_silent() -> None:
    async def answer(asked: Asked) -> None:
        await asked.write(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n")
        for _ in range(20):
            await asyncio.sleep(0.01)
            await asked.write(b"x")

    assert fetched(answer, Limits(stall=0.15)) == (200, b"x" * 20)


def test_a_fetch_has_an_end() -> None:
    async def answer(asked: Asked) -> None:
        await asked.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n")
        while True:
            await asyncio.sleep(0.01)
            await asked.write(b"x")

    async def run() -> None:
        async with RawServer(answer) as server, Client() as client:
            with pytest.raises(WorkerFailed, match=r"no whole answer within 0\.05 seconds"):
                await client.fetch("GET", server.url, seconds=0.05)
            await server.closed()

    asyncio.run(run())


def test_a_fetch_takes_only_so_much() -> None:
    assert "more than 4 bytes" in str(fails(says(OK), Limits(body=4)))


def test_a_slow_reader_holds_the_worker_back_and_is_no_silence() -> None:
    sent = 0

    async def answer(asked: Asked) -> None:
        nonlocal sent
        await asked.write(b"HTTP/1.1 200 OK\r\ncontent-length: 20000000\r\n\r\n")
        for _ in range(200):
            await asked.write(b"x" * 100_000)
            sent += 1

    async def run() -> None:
        async with RawServer(answer) as server, Client(Limits(stall=0.1)) as client:
            response = await client.open("GET", server.url)
            await asyncio.sleep(0.3)
            assert response.unread <= 1 << 20
            assert sent < 150
            assert len(await whole(response)) == 20_000_000

    asyncio.run(run())


def test_closing_an_answer_cuts_the_connection() -> None:
    async def answer(asked: Asked) -> None:
        await asked.write(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello")
        await asyncio.sleep(60)

    async def run() -> None:
        async with RawServer(answer) as server, Client() as client:
            response = await client.open("GET", server.url)
            response.close()
            await server.closed()

    asyncio.run(run())


def test_cancelling_a_request_cuts_the_connection() -> None:
    async def run() -> None:
        async with RawServer(lambda asked: asyncio.sleep(60)) as server, Client() as client:
            task = asyncio.create_task(client.open("GET", server.url))
            async with asyncio.timeout(5):
                while not server.asked:
                    await asyncio.sleep(0.002)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.closed()

    asyncio.run(run())


def test_an_early_answer_to_a_long_request_is_read() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig")
        await writer.drain()
        try:
            while await reader.read(1 << 20):
                pass
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()

    async def run() -> None:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        async with server, Client() as client:
            got = await client.fetch("POST", f"http://127.0.0.1:{port}/", body=b"x" * 20_000_000)
            assert (got.status, got.body) == (413, b"big")

    asyncio.run(run())


def test_where_nobody_listens_the_worker_has_failed() -> None:
    async def run() -> None:
        async with RawServer(says(OK)) as server:
            url = server.url
        async with Client() as client:
            with pytest.raises(WorkerFailed, match="no connection"):
                await client.open("GET", url)

    asyncio.run(run())


def test_a_name_that_nobody_has_is_the_workers_failure() -> None:
    async def run() -> None:
        async with Client() as client:
            with pytest.raises(WorkerFailed, match="no connection"):
                await client.open("GET", f"http://{'a' * 70}.invalid/")

    asyncio.run(run())


def test_a_header_that_breaks_out_of_its_line_is_never_sent() -> None:
    async def run() -> None:
        async with RawServer(says(OK)) as server, Client() as client:
            with pytest.raises(Refused):
                await client.open("GET", server.url, [("x", "a\r\nb: c")])
            assert server.connections == 0

    asyncio.run(run())


def test_more_than_was_asked_for_ends_the_connection() -> None:
    async def run() -> None:
        async with RawServer(says(OK + OK)) as server, Client() as client:
            assert (await client.fetch("GET", server.url)).body == b"hello"
            assert (await client.fetch("GET", server.url)).body == b"hello"
            assert server.connections == 2

    asyncio.run(run())


def test_a_worker_that_takes_no_connection_has_failed() -> None:
    async def run() -> None:
        sock = socket.socket()
        sock.bind(("127.0.0.1", 0))
        sock.listen(0)
        port = sock.getsockname()[1]
        full = [socket.socket() for _ in range(4)]
        for each in full:  # the queue of those that wait is full, and nobody takes one from it
            each.setblocking(False)
            each.connect_ex(("127.0.0.1", port))
        async with Client(Limits(connect=0.1)) as client:
            with pytest.raises(WorkerFailed, match=r"no connection within 0\.1 seconds"):
                await client.open("GET", f"http://127.0.0.1:{port}/")
        for each in (sock, *full):
            each.close()

    asyncio.run(run())


def test_a_client_that_is_closed_while_it_connects_lets_go() -> None:
    async def run() -> None:
        async with RawServer(says(OK)) as server:
            client = Client()
            task = asyncio.create_task(client.open("GET", server.url))
            await asyncio.sleep(0)
            await client.close()
            with pytest.raises(WorkerFailed, match="the client is closed"):
                await task
            await server.closed()

    asyncio.run(run(), debug=True)
    gc.collect()


def test_a_client_that_is_closed_has_nothing_open() -> None:
    async def run() -> None:
        async with RawServer(lambda asked: asyncio.sleep(60)) as server:
            client = Client()
            task = asyncio.create_task(client.open("GET", server.url))
            while not server.asked:
                await asyncio.sleep(0.002)
            await client.close()
            with pytest.raises(WorkerFailed):
                await task
            with pytest.raises(WorkerFailed, match="the client is closed"):
                await client.open("GET", server.url)
            await server.closed()

    asyncio.run(run(), debug=True)
    gc.collect()


def test_it_runs_on_uvloop() -> None:
    async def run() -> None:
        async with RawServer(says(CHUNKED)) as server, Client() as client:
            for _ in range(3):
                assert (await client.fetch("GET", server.url)).body == b"hello"
            assert server.connections == 1
            with pytest.raises(WorkerFailed):
                await client.fetch("GET", "http://127.0.0.1:1/")

    uvloop.run(run())


def test_a_unix_socket_is_a_place(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        await writer.drain()
        writer.close()

    async def run() -> None:
        path = str(tmp_path / "Sock")
        server = await asyncio.start_unix_server(serve, path)
        async with server, Client() as client:
            got = await client.fetch("GET", "http+unix://" + path.replace("/", "%2F") + "/health")
            assert got.body == b"hello"

    asyncio.run(run())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of 127.0.0.1 and its key, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("needs the openssl command")
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    said = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1"
    named = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(path), "-out", f"{path}.c"]
    subprocess.run(["openssl", *said.split(), *named], check=True, capture_output=True)
    path.write_text(path.read_text() + Path(f"{path}.c").read_text())
    return path


async def over_tls(certificate: Path, client: Client) -> bytes:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(OK)
            await writer.drain()
            await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    async with server, client:
        return (await client.fetch("GET", f"https://127.0.0.1:{port}/")).body


def test_a_worker_may_speak_tls(certificate: Path) -> None:
    trust = ssl.create_default_context(cafile=str(certificate))
    assert asyncio.run(over_tls(certificate, Client(tls=trust))) == b"hello"
    gc.collect()


def test_a_worker_that_nobody_vouches_for_has_failed(certificate: Path) -> None:
    with pytest.raises(WorkerFailed, match="no TLS with it: CERTIFICATE_VERIFY_FAILED"):
        asyncio.run(over_tls(certificate, Client()))
    gc.collect()


def test_a_worker_without_tls_has_failed() -> None:
    async def answer(asked: Asked) -> None:
        raise AssertionError

    async def run() -> None:
        async with RawServer(answer) as server, Client(Limits(connect=0.3)) as client:
            with pytest.raises(WorkerFailed, match=r"no (TLS|connection)"):
                await client.open("GET", server.url.replace("http", "https"))

    asyncio.run(run())
    gc.collect()


@settings(max_examples=30, deadline=None)
@given(data=st.binary(max_size=200), head=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", OK[:-5], CHUNKED[:50]]))
def test_any_bytes_are_an_answer_or_the_workers_failure(data: bytes, head: bytes) -> None:
    with suppress(WorkerFailed):
        fetched(says(head + data, close=True))
