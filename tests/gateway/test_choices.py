"""Choices of an answer: how each is read to its end, and that a worker does no more for one than is wanted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest

from dragoman.errors import WorkerFailed
from dragoman.gateway.answers import Choice, pieces_of
from dragoman.gateway.pipeline import Opened
from dragoman.gateway.reading import ChatReading, PlainReading, Reading
from dragoman.gateway.served import load_model
from dragoman.gateway.workers.order import Chunk, Output, Piece
from dragoman.stream.chat_deltas import ChatDeltas

MODEL = load_model("gpt-oss-20b")


async def nothing() -> AsyncGenerator[Sequence[Piece]]:
    return
    yield


def choice(rest: AsyncGenerator[Sequence[Piece]], *stops: str, reading: Reading | None = None) -> Choice:
    opened = Opened((Output(text="begun "),), rest, "w")
    return Choice(opened, reading or PlainReading(None), ChatDeltas(lambda: "id", stops=stops))


def test_a_choice_that_has_met_its_stop_ends_its_work_while_another_goes_on() -> None:
    async def run() -> list[str]:
        closed = asyncio.Event()

        async def endless() -> AsyncGenerator[Sequence[Piece]]:
            try:
                while True:
                    yield (Output(text="STOP"),)
                    await asyncio.sleep(0)
            finally:
                closed.set()

        async def patient() -> AsyncGenerator[Sequence[Piece]]:
            await closed.wait()
            yield (Output(text="end", finish="stop"),)

        choices = [choice(endless(), "STOP"), choice(patient())]
        said = ["", ""]
        async with asyncio.timeout(5):
            async for index, pieces in pieces_of(choices):
                for delta in choices[index].take(pieces) if pieces is not None else choices[index].finish():
                    said[index] += getattr(delta, "text", "")
        return said

    assert asyncio.run(run()) == ["begun ", "begun end"]


def test_a_token_that_the_model_does_not_have_is_the_workers_failure() -> None:
    one = choice(nothing(), reading=PlainReading(MODEL.tokenizer))
    with pytest.raises(WorkerFailed, match="worker w: it sent what is no token of the model") as caught:
        one.take((Output(ids=(10**6,)),))
    assert caught.value.is_fault


@pytest.mark.parametrize(("told", "reason"), [(None, "stop"), ("function_call", "stop"), ("length", "length")])
def test_a_choice_that_has_ended_has_a_reason(told: str | None, reason: str) -> None:
    one = choice(nothing(), reading=ChatReading(load_model("qwen3").dialect, ()))
    one.take((Chunk({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": told}]}),))
    one.finish()
    assert one.finish_reason == reason
