"""A worker behind HTTP: its faults as failures of its own, and closing that ends its work."""

from __future__ import annotations

import asyncio
import gc
from contextlib import aclosing

import pytest

from dragoman.errors import Refused, WorkerFailed
from dragoman.gateway.transport import Client, Limits
from dragoman.gateway.workers.http_worker import HttpWorker
from dragoman.gateway.workers.order import Order, Output, Prompt
from dragoman.gateway.workers.sglang import Sglang
from dragoman.gateway.workers.vllm import Vllm
from dragoman.gateway.workers.vllm_generate import VllmGenerate
from dragoman.gateway.workers.worker import Capabilities, Wire, Worker
from tests.gateway.doubles.double import Double
from tests.gateway.doubles.raw import Asked, RawServer
from tests.gateway.doubles.reading import QUICK, answer_of
from tests.gateway.doubles.script import Fault, Script
from tests.gateway.doubles.sglang import SglangDouble
from tests.gateway.doubles.vllm import VllmDouble

ORDER = Order(id="a", model="model", prompt=Prompt(ids=(1, 2)))


def worker(url: str, client: Client, wire: Wire | None = None, key: str | None = None) -> HttpWorker:
    return HttpWorker(url, wire or Sglang(), client, Capabilities(kind="sglang"), key=key)


def doubles(script: Script) -> list[tuple[Double, Wire]]:
    return [
        (SglangDouble(script), Sglang()),
        (VllmDouble(script), Vllm()),
        (VllmDouble(script, scale_out=True), VllmGenerate()),
    ]


def test_it_is_a_worker() -> None:
    async def run() -> None:
        async with Client() as client:
            it: Worker = worker("http://127.0.0.1:1/", client)
            assert it.name == "http://127.0.0.1:1"
            assert it.capabilities.kind == "sglang"
            await it.close()

    asyncio.run(run())


@pytest.mark.parametrize("which", range(3))
@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (Fault.RESET, "the connection broke|it closed the connection"),
        (Fault.CUT, "it closed the connection within the body"),
        (Fault.SHORT, "its stream ended before the answer did"),
        (Fault.STALL, r"nothing came from it for 0\.2 seconds"),
        (Fault.GARBAGE, "what is not of its protocol"),
        (Fault.HALF, "its stream ended before the answer did"),
        (Fault.ERROR, r"the double refuses \(HTTP 500\)"),
        (Fault.ABORT, "the double refuses|it aborted the request"),
    ],
)
def test_what_goes_wrong_is_its_failure(which: int, fault: Fault, sentence: str) -> None:
    double, wire = doubles(Script(ids=tuple(range(20)), fault=fault, after=5))[which]
    with pytest.raises(WorkerFailed, match=sentence) as caught:
        asyncio.run(answer_of(double, wire, ORDER), debug=True)
    assert caught.value.worker.startswith("http://127.0.0.1:")
    gc.collect()


def test_what_came_before_a_fault_is_given() -> None:
    ids: list[int] = []

    async def run() -> None:
        script = Script(ids=tuple(range(20)), fault=Fault.RESET, after=5)
        async with SglangDouble(script) as double, Client() as client:
            async for pieces in worker(double.url, client).generate(ORDER):
                ids.extend(token for piece in pieces if isinstance(piece, Output) for token in piece.ids)

    with pytest.raises(WorkerFailed):
        asyncio.run(run())
    assert ids == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("status", "fault"), [(400, False), (429, False), (500, True), (503, False)])
def test_a_refusal_has_the_servers_words(status: int, fault: bool) -> None:
    with pytest.raises(WorkerFailed, match=rf"no room \(HTTP {status}\)") as caught:
        asyncio.run(answer_of(SglangDouble(Script(status=status, message="no room")), Sglang(), ORDER))
    assert caught.value.is_fault is fault


def test_an_order_that_the_wire_refuses_is_not_sent() -> None:
    order = Order(id="a", model="model", prompt=Prompt())
    with pytest.raises(Refused):
        asyncio.run(answer_of(SglangDouble(), Sglang(), order))


def test_headers_and_key_are_sent() -> None:
    async def run() -> None:
        order = Order(id="a", model="model", prompt=Prompt(ids=(1,)), headers=(("x-request-id", "abc"),))
        async with SglangDouble(key="secret") as double, Client() as client:
            async for _ in worker(double.url, client, key="secret").generate(order):
                pass
            (asked,) = double.asked
            assert asked.headers["x-request-id"] == "abc"
            assert asked.headers["content-type"] == "application/json"
            with pytest.raises(WorkerFailed, match=r"its key may be wrong \(HTTP 401\)"):
                async for _ in worker(double.url, client).generate(order):
                    pass

    asyncio.run(run())


@pytest.mark.parametrize("status", [400, 401, 403, 500])
def test_no_answer_of_a_server_tells_the_key_that_it_was_sent(status: int) -> None:
    async def run() -> str:
        script = Script(status=status, message="no: Bearer sk-very-secret, which ends in secret")
        async with SglangDouble(script) as server, Client(QUICK) as client:
            with pytest.raises(WorkerFailed) as caught:
                async for _ in worker(server.url, client, key="sk-very-secret").generate(ORDER):
                    pass
            return str(caught.value)

    assert "sk-very" not in asyncio.run(run())


@pytest.mark.parametrize("which", range(3))
def test_closing_ends_the_work_at_once(which: int) -> None:
    async def run() -> None:
        double, wire = doubles(Script(ids=tuple(range(2000)), pace=0.005))[which]
        async with double, Client() as client:
            async with aclosing(worker(double.url, client, wire).generate(ORDER)) as answer:
                async for _ in answer:
                    break
            await double.closed()
            assert double.cancelled == 1

    asyncio.run(run(), debug=True)
    gc.collect()


def test_cancelling_ends_the_work_at_once() -> None:
    async def run() -> None:
        async with SglangDouble(Script(fault=Fault.STALL)) as double, Client() as client:

            async def take() -> None:
                async for _ in worker(double.url, client).generate(ORDER):
                    pass

            task = asyncio.create_task(take())
            async with asyncio.timeout(5):
                while not double.requests:
                    await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await double.closed()

    asyncio.run(run(), debug=True)
    gc.collect()


def test_a_connection_is_kept_for_the_next_order() -> None:
    async def run() -> None:
        async with VllmDouble() as double, Client() as client:
            for _ in range(4):
                async for _ in worker(double.url, client, Vllm()).generate(ORDER):
                    pass
            assert double.connections == 1

    asyncio.run(run())


def test_many_orders_at_once_are_kept_apart() -> None:
    async def run() -> None:
        def script(request: dict[str, object]) -> Script:
            (first,) = request["input_ids"]
            return Script(ids=tuple(range(first, first + 50)), cut=17)

        async def take(it: HttpWorker, first: int) -> list[int]:
            order = Order(id="a", model="model", prompt=Prompt(ids=(first,)))
            found = [piece async for pieces in it.generate(order) for piece in pieces]
            return [token for piece in found if isinstance(piece, Output) for token in piece.ids]

        async with SglangDouble(script) as double, Client() as client:
            it = worker(double.url, client)
            answers = await asyncio.gather(*(take(it, first) for first in range(20)))
        assert answers == [list(range(first, first + 50)) for first in range(20)]

    asyncio.run(run())


def test_it_is_well_where_it_answers() -> None:
    async def run() -> None:
        async with SglangDouble() as double, Client() as client:
            assert await worker(double.url, client).is_well()
            double.pages["/health"] = None
            assert not await worker(double.url, client).is_well()
        async with Client(Limits(connect=0.5)) as client:
            assert not await worker("http://127.0.0.1:1", client).is_well()

    asyncio.run(run())


def test_an_answer_that_ends_without_a_count_is_whole() -> None:
    async def answer(asked: Asked) -> None:
        body = b'data: {"choices": [{"token_ids": [5], "finish_reason": "stop"}]}\n\n'
        await asked.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))

    async def run() -> list[object]:
        async with RawServer(answer) as server, Client() as client:
            return [piece async for pieces in worker(server.url, client, Vllm()).generate(ORDER) for piece in pieces]

    assert asyncio.run(run()) == [Output([5]), Output(finish="stop")]


def test_a_slow_head_is_waited_for() -> None:
    assert asyncio.run(answer_of(SglangDouble(Script(delay=0.05)), Sglang(), ORDER)).finish == "stop"
    assert QUICK.stall > 0.05
