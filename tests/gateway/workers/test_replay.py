"""The worker that needs no model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import WorkerFailed
from dragoman.gateway.workers.order import Order, Output, Prompt, Sampling, Usage
from dragoman.gateway.workers.replay import ReplayWorker, pieces_of
from dragoman.gateway.workers.worker import Speech, Worker
from dragoman.recordings import recordings
from dragoman.registry import dialects


def order(model: str = "harmony", **sampling: object) -> Order:
    chat = {"messages": [{"role": "user", "content": "Which orders wait?"}]}
    return Order(id="one", model=model, prompt=Prompt(), sampling=Sampling(**sampling), chat=chat)


def outputs(order: Order, worker: ReplayWorker | None = None) -> list[Output]:
    async def run() -> list[Output]:
        items: list[Sequence[object]] = [pieces async for pieces in (worker or ReplayWorker(None)).generate(order)]
        return [piece for pieces in items for piece in pieces if isinstance(piece, Output)]

    return asyncio.run(run())


def test_it_is_a_worker_that_serves_every_dialect() -> None:
    worker: Worker = ReplayWorker()
    assert worker.name == worker.capabilities.kind == "replay"
    assert worker.capabilities.speech == (Speech.TEXT,)
    assert worker.capabilities.models == tuple(dialect.name for dialect in dialects())
    assert asyncio.run(worker.is_well())
    asyncio.run(worker.close())


def test_it_says_a_recording_in_pieces_and_ends() -> None:
    (recording,) = recordings("harmony_answer")
    said = outputs(order())
    assert "".join(output.text for output in said) == recording.text
    assert len(said) > 500
    assert [output.finish for output in said[-2:]] == [None, "stop"]
    assert said[-1].usage == Usage(None, len(said) - 1, 0)


def test_it_says_no_more_than_it_may() -> None:
    said = outputs(order(max_tokens=7))
    assert len([output for output in said if output.text]) == 7
    assert said[-1] == Output(finish="length", usage=Usage(None, 7, 0))


def test_nothing_is_said_where_nothing_may_be() -> None:
    assert outputs(order(max_tokens=0)) == [Output(finish="length", usage=Usage(None, 0, 0))]


@pytest.mark.parametrize("prompt", [Prompt(ids=(1, 2, 3)), Prompt(text="one two three")])
def test_it_counts_the_prompt(prompt: Prompt) -> None:
    said = outputs(Order(id="one", model="generic", prompt=prompt))
    assert said[-1].usage is not None
    assert said[-1].usage.prompt == 3


def test_it_says_the_same_again() -> None:
    assert outputs(order("hermes")) == outputs(order("hermes"))
    assert outputs(order("hermes", seed=-3)) == outputs(order("hermes", seed=-3))


def test_it_waits_between_pieces() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    said = outputs(order(max_tokens=5), ReplayWorker(50, sleep))
    assert waited == [0.02] * 5
    assert len(said) == 6


def test_an_unknown_model_is_a_failure_but_no_fault() -> None:
    with pytest.raises(WorkerFailed, match="no dialect 'gpt'") as failed:
        outputs(order("gpt"))
    assert not failed.value.is_fault


def test_closing_it_ends_it() -> None:
    async def run() -> None:
        stream = ReplayWorker(None).generate(order())
        await anext(stream)
        await stream.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(stream)

    asyncio.run(run())


@given(st.text(alphabet="aé_1 \n\t<|>🙂"))
def test_the_pieces_are_the_text(text: str) -> None:
    assert "".join(pieces_of(text)) == text
