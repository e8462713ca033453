"""What a server of llama.cpp tells about itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import pytest

from dragoman.errors import WorkerFailed
from dragoman.gateway.transport import Client
from dragoman.gateway.workers.llama_cpp_props import ask
from dragoman.gateway.workers.register import discover
from dragoman.gateway.workers.worker import Capabilities, Speech
from tests.emit.llama_cpp import LlamaCpp
from tests.gateway.doubles.double import json_answer
from tests.gateway.doubles.raw import Asked, RawServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaCpp]:
    with closing(LlamaCpp(tmp_path_factory.mktemp("llama"), ("<think>", "<|im_end|>", "[TOOL_CALLS]"))) as server:
        yield server


async def asked(url: str, key: str | None = None) -> Capabilities | None:
    async with Client() as client:
        return await ask(url, client, key)


def test_the_real_server_tells_its_model_and_its_control_tokens(server: LlamaCpp) -> None:
    found = asyncio.run(asked(f"http://{server.address}/"))
    assert found is not None
    assert (found.kind, found.context) == ("llama.cpp", 8192)
    assert found.speech == (Speech.TOKENS, Speech.TEXT)
    assert found.path is not None
    assert found.models == (found.path,)
    assert found.template is not None
    assert "<|im_start|>" in found.template
    marks = {mark: server.ids[mark.encode()] for mark in ("<think>", "<|im_end|>", "[TOOL_CALLS]")}
    assert found.control == marks | {"<s>": 1, "</s>": 2}


def told(
    pages: Mapping[str, Any], key: str | None = None, status: int = 200
) -> tuple[Capabilities | None, list[Asked]]:
    async def run() -> tuple[Capabilities | None, list[Asked]]:
        async def answer(asked: Asked) -> None:
            known = asked.path in pages
            await asked.write(json_answer(status if known else 404, pages.get(asked.path)))

        async with RawServer(answer) as server:
            return await asked(server.url, key), server.asked

    return asyncio.run(run())


PROPS = {"default_generation_settings": {"n_ctx": 512}, "total_slots": 1}


def test_another_server_is_none() -> None:
    assert told({})[0] is None
    assert told({"/props": {"something": "else"}})[0] is None


def test_it_is_asked_with_the_key() -> None:
    pages = {
        "/props": PROPS,
        "/v1/models": {"data": [{"id": "m"}]},
        "/tokenize": {"tokens": [{"id": 1, "piece": [226]}]},
    }
    found, requests = told(pages, "secret")
    assert found is not None
    assert (found.models, found.control, found.template) == (("m",), {}, None)
    assert {request.headers["authorization"] for request in requests} == {"Bearer secret"}


def test_half_a_server_has_failed() -> None:
    with pytest.raises(WorkerFailed, match="not of its protocol"):
        told({"/props": PROPS, "/v1/models": {"data": []}, "/tokenize": {"tokens": 3}})


def test_one_that_is_loading_its_model_is_to_be_asked_again() -> None:
    with pytest.raises(WorkerFailed, match="it is loading its model") as failed:
        told({"/props": {"error": {"code": 503, "message": "Loading model"}}}, status=503)
    assert not failed.value.is_fault


def test_it_is_found_out_among_all_kinds(server: LlamaCpp) -> None:
    async def run() -> None:
        async with Client() as client:
            wire, found = await discover(f"http://{server.address}", client)
            assert wire.kind == "llama.cpp"
            assert found.kind == "llama.cpp"

    asyncio.run(run())
