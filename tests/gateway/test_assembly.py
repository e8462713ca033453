"""The parts of a gateway: what is refused before anything runs, and workers that come when it runs."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from dragoman.errors import InvalidConfig
from dragoman.gateway.app import create_app
from dragoman.gateway.assembly import served_by
from dragoman.gateway.config import ModelEntry, Server, Settings, WorkerEntry
from dragoman.gateway.served import load_model
from dragoman.gateway.workers.worker import Capabilities

from .doubles.chat_double import ChatDouble
from .doubles.sglang import SglangDouble
from .doubles.vllm import VllmDouble
from .quiet import ask, says
from .running import gateway, in_front_of

CHAT = "/v1/chat/completions"


def test_a_kind_that_there_is_not_is_refused_by_name_before_anything_runs() -> None:
    workers = (WorkerEntry(url="http://127.0.0.1:1"), WorkerEntry(url="http://127.0.0.1:2", kind="frobnicator"))
    with pytest.raises(InvalidConfig) as caught:
        create_app(Settings(workers=workers))
    assert str(caught.value) == (
        "workers[1].kind should be one of sglang, vllm, vllm-generate, llama.cpp, openai, replay, found 'frobnicator'"
    )


@pytest.mark.parametrize(
    ("own", "wanted", "found"),
    [
        (("qwen3",), (), {"qwen3": "qwen3"}),
        (("Qwen/Qwen3-8B",), (), {"qwen3": "Qwen/Qwen3-8B"}),
        ((), ("qwen3",), {"qwen3": "qwen3"}),
        (("a", "small"), (), {"qwen3": "small"}),
    ],
)
def test_a_worker_serves_what_it_knows_or_the_only_model_that_it_has(
    own: tuple[str, ...], wanted: tuple[str, ...], found: dict[str, str]
) -> None:
    entry = WorkerEntry(url="http://127.0.0.1:1", models=wanted)
    models = [load_model("qwen3", aliases=("small",))]
    assert served_by(entry, Capabilities(kind="vllm", models=own), models) == found


def test_a_workers_model_that_is_called_like_a_dialect_is_not_every_model_of_it() -> None:
    entry = WorkerEntry(url="http://127.0.0.1:1")
    models = [load_model("qwen3"), load_model("mine", dialect="hermes", family="qwen3")]
    with pytest.raises(InvalidConfig):
        served_by(entry, Capabilities(kind="vllm", models=("hermes", "other")), models)
    found = served_by(entry, Capabilities(kind="replay", models=("hermes",), lays_out=True), models)
    assert found == {"qwen3": "hermes", "mine": "hermes"}


def test_a_worker_of_other_models_is_refused() -> None:
    entry = WorkerEntry(url="http://127.0.0.1:1")
    with pytest.raises(InvalidConfig, match="one of a, b"):
        served_by(entry, Capabilities(kind="vllm", models=("a", "b")), [load_model("qwen3")])


def mixed(*workers: WorkerEntry) -> Settings:
    return Settings(server=Server(port=0), models=(ModelEntry(name="qwen3"),), workers=workers)


def test_a_worker_that_cannot_be_given_a_prompt_leaves_it_to_one_that_can() -> None:
    async def run() -> list[int]:
        script = says("It", " is", " mild.", "<|im_end|>")
        async with VllmDouble(script, scale_out=True) as ids_only, VllmDouble(script) as texts:
            settings = mixed(WorkerEntry(url=ids_only.url, kind="vllm-generate"), WorkerEntry(url=texts.url))
            async with gateway(settings) as door:
                return [(await door.post(CHAT, ask(str(Random(turn).random()))))[0] for turn in range(6)]

    assert asyncio.run(run()) == [200] * 6


def test_where_no_worker_can_be_given_a_prompt_it_is_said_why() -> None:
    async def run() -> tuple[int, str]:
        async with (
            VllmDouble(says("x"), scale_out=True) as ids_only,
            gateway(mixed(WorkerEntry(url=ids_only.url, kind="vllm-generate"))) as door,
        ):
            status, value, _ = await door.post(CHAT, ask())
            return status, value["error"]["code"]

    assert asyncio.run(run()) == (501, "prompt_not_expressible")


@pytest.mark.parametrize("kind", ["openai", "vllm"])
def test_an_image_goes_to_a_worker_that_reads_chats_itself_and_to_no_other(kind: str) -> None:
    async def run() -> tuple[int, str | None]:
        double = ChatDouble(says("A cat.")) if kind == "openai" else VllmDouble(says("A cat."))
        image = {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}
        chat = {**ask(), "messages": [{"role": "user", "content": [{"type": "text", "text": "What is it?"}, image]}]}
        async with double as worker, gateway(mixed(WorkerEntry(url=worker.url, kind=kind))) as door:
            status, value, _ = await door.post(CHAT, chat)
            return status, value["choices"][0]["message"]["content"] if status == 200 else value["error"]["param"]

    assert asyncio.run(run()) == ((200, "A cat.") if kind == "openai" else (400, "messages[0]"))


def test_a_model_whose_worker_has_not_come_yet_is_asked_for_later() -> None:
    async def run() -> tuple[int, str, str]:
        async with gateway(in_front_of("http://127.0.0.1:9", model="qwen3")) as door:
            status, value, headers = await door.post(CHAT, ask())
            return status, value["error"]["code"], headers["retry-after"]

    assert asyncio.run(run()) == (503, "no_worker_available", "5")


def test_a_chat_server_is_well_that_has_no_page_of_its_health() -> None:
    async def run() -> None:
        async with ChatDouble() as server:
            server.pages["/health"] = None
            async with gateway(in_front_of(server.url)) as door:
                (seat,) = door.parts.fleet.seats()
                assert await seat.worker.is_well()
                server.pages["/v1/models"] = None
                assert not await seat.worker.is_well()

    asyncio.run(run())


def test_any_other_server_is_asked_for_its_health() -> None:
    async def run() -> None:
        async with SglangDouble() as server, gateway(in_front_of(server.url)) as door:
            (seat,) = door.parts.fleet.seats()
            assert await seat.worker.is_well()
            server.pages["/health"] = None
            assert not await seat.worker.is_well()

    asyncio.run(run())
