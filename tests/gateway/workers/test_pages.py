"""What servers say of themselves, and what of it is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from dragoman.errors import WorkerFailed
from dragoman.gateway.transport import Client
from dragoman.gateway.workers.pages import Listed, base_of, decoded, has_call, key_header, models_of, page, text_of
from tests.gateway.doubles.double import Double, json_answer
from tests.gateway.doubles.raw import Asked, RawServer
from tests.gateway.doubles.vllm import VllmDouble

T = TypeVar("T")


def asked(server: RawServer, ask: Callable[[str, Client], Awaitable[T]]) -> T:
    async def run() -> T:
        async with server, Client() as client:
            return await ask(server.url, client)

    return asyncio.run(run())


def answers(status: int, value: object) -> RawServer:
    async def answer(request: Asked) -> None:
        await request.write(json_answer(status, value))

    return RawServer(answer)


def test_a_page_is_an_object() -> None:
    assert asked(Double(pages={"/x": {"a": 1}}), lambda url, client: page(url, "/x", client, None)) == {"a": 1}


@pytest.mark.parametrize("server", [answers(200, [1]), answers(500, {}), answers(404, {})])
def test_what_is_no_object_is_no_page(server: RawServer) -> None:
    assert asked(server, lambda url, client: page(url, "/x", client, None)) is None


def test_what_is_no_json_is_no_page() -> None:
    async def answer(request: Asked) -> None:
        await request.write(b"HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<html>")

    assert asked(RawServer(answer), lambda url, client: page(url, "/x", client, None)) is None


def test_models_are_listed() -> None:
    listed = asked(VllmDouble(), lambda url, client: models_of(url, client, None))
    assert listed == (Listed("model", "vllm", "some/model", 4096),)


@pytest.mark.parametrize("status", [401, 403, 500, 503])
def test_a_server_that_keeps_its_list_is_told(status: int) -> None:
    with pytest.raises(WorkerFailed, match=rf"not now \(HTTP {status}\)"):
        asked(answers(status, {"detail": "not now"}), lambda url, client: models_of(url, client, None))


@pytest.mark.parametrize(("status", "there"), [(200, True), (400, True), (422, True), (404, False), (403, False)])
def test_a_call_is_there_where_it_is_refused_for_its_content(status: int, there: bool) -> None:
    assert asked(answers(status, {}), lambda url, client: has_call(url, "/x", client, None)) is there


@pytest.mark.parametrize("url", ["http://host", "http://host/", "http://host/v1", "http://host/v1/"])
def test_a_url_may_have_what_paths_begin_with(url: str) -> None:
    assert base_of(url) == "http://host"


def test_the_first_text_is_taken() -> None:
    assert text_of({"a": "", "b": 1, "c": "x", "d": "y"}, "a", "b", "c", "d") == "x"
    assert text_of({}, "a") is None
    assert text_of(None, "a") is None


def test_a_key_is_a_bearers() -> None:
    assert key_header("k") == (("authorization", "Bearer k"),)
    assert key_header(None) == ()


@pytest.mark.parametrize("data", [b"", b"{", b"[1]", b'{"a": "\xff"}', b'{"a": ' + b"[" * 100_000])
def test_what_can_not_be_decoded_is_a_failure(data: bytes) -> None:
    with pytest.raises(WorkerFailed, match="worker page: it sent what is not of its protocol"):
        decoded("page", data, dict)
