"""A llama.cpp of our own, from a GGUF file."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from dragoman.errors import InvalidConfig, WorkerFailed
from dragoman.gateway.transport import Client
from dragoman.gateway.workers import local_llama
from dragoman.gateway.workers.local_llama import LocalLlama
from dragoman.gateway.workers.order import Order, Output, Prompt, Sampling
from dragoman.gateway.workers.worker import Speech, Worker
from tests.emit.tiny_model import START, write_model

pytest.importorskip("xllamacpp")
pytest.importorskip("gguf")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "tiny-model.gguf"
    write_model(path, ("<think>", "</think>"))
    return path


def order() -> Order:
    sampling = Sampling(max_tokens=20, temperature=5.0, seed=1)
    return Order(id="a", model="tiny-model", prompt=Prompt(ids=(START, 230)), sampling=sampling)


async def outputs(worker: Worker, order: Order) -> list[Output]:
    return [piece async for pieces in worker.generate(order) for piece in pieces if isinstance(piece, Output)]


@pytest.mark.slow
def test_it_answers_and_ends(model: Path) -> None:
    async def run() -> None:
        async with Client() as client:
            worker: Worker = await LocalLlama.start(model, client, context=512, slots=2, threads=1)
            try:
                known = worker.capabilities
                assert (known.kind, known.models, known.context) == ("llama.cpp", ("tiny-model",), 512)
                assert known.speech == (Speech.TOKENS, Speech.TEXT)
                assert set(known.control) == {"<s>", "</s>", "<think>", "</think>"}
                assert worker.name.startswith("http://127.0.0.1:")
                assert await worker.is_well()
                said, again = await outputs(worker, order()), await outputs(worker, order())
                assert said[-1].finish == "length"
                assert said[-1].usage is not None
                assert said[-1].usage.completion == 20
                assert [output.text for output in said if output.text]
                assert "".join(output.text for output in said) == "".join(output.text for output in again)
                both = await asyncio.gather(outputs(worker, order()), outputs(worker, order()))
                assert [one[-1].finish for one in both] == ["length", "length"]
            finally:
                await worker.close()
            assert not await worker.is_well()
            with pytest.raises(WorkerFailed):
                await outputs(worker, order())

    asyncio.run(run())


@pytest.mark.slow
def test_the_event_loop_goes_on_while_a_model_is_loaded(model: Path) -> None:
    async def run() -> float:
        longest, last = 0.0, time.perf_counter()

        async def tick() -> None:
            nonlocal longest, last
            while True:
                await asyncio.sleep(0.005)
                longest, last = max(longest, time.perf_counter() - last), time.perf_counter()

        async with Client() as client:
            ticking = asyncio.create_task(tick())
            worker = await LocalLlama.start(model, client, threads=1)
            ticking.cancel()
            await worker.close()
        return longest

    assert asyncio.run(run()) < 0.5


def refusal(path: Path) -> str:
    async def run() -> None:
        async with Client() as client:
            await LocalLlama.start(path, client)

    with pytest.raises((InvalidConfig, WorkerFailed)) as refused:
        asyncio.run(run())
    return str(refused.value)


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "none.gguf"
    assert refusal(path) == f"model should be a GGUF file, found {path}: No such file or directory"


def test_a_file_of_another_kind_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "other.gguf"
    path.write_text("hello")
    assert refusal(path).endswith("which is another kind of file")


def test_a_missing_package_is_told_with_the_next_step(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_llama, "find_spec", lambda name: None)
    assert refusal(model) == ("llama.cpp should be there: pip install 'dragoman[llamacpp]', found no package xllamacpp")


def test_a_model_that_llama_cpp_refuses_is_a_mistake(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF and nothing more")
    assert "one that llama.cpp can load" in refusal(path)


def test_a_child_that_never_listens_is_ended(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_llama, "LOADING", 0.001)
    monkeypatch.setattr(local_llama, "ENDING", 0.001)
    assert "has not loaded it within" in refusal(model)


@pytest.mark.parametrize("lines", [3, 1000])
def test_a_child_that_says_something_else_is_ended(model: Path, monkeypatch: pytest.MonkeyPatch, lines: int) -> None:
    monkeypatch.setattr(local_llama, "CHILD", "import this")
    monkeypatch.setattr(local_llama, "LINES", lines)
    assert "one that llama.cpp can load" in refusal(model)


def test_a_child_that_is_another_server_is_ended(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def nothing(url: str, client: Client) -> None:
        return None

    monkeypatch.setattr(local_llama, "CHILD", "print('http://127.0.0.1:1', flush=True); import sys; sys.stdin.read()")
    monkeypatch.setattr(local_llama, "ask", nothing)
    assert refusal(model).endswith("it does not say what it can do")
