"""One output, whoever it comes from: the answer is the same from every kind of worker, streamed and whole."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from dragoman.gateway import assembly
from dragoman.gateway.config import ModelEntry, Settings, WorkerEntry
from dragoman.gateway.workers.replay import ReplayWorker, pieces_of
from dragoman.gateway.workers.replay_scripts import scene_of, script_for

from .answers import assembled, said, same, whole
from .doubles.chat_double import ChatDouble
from .doubles.double import Double
from .doubles.script import Script
from .doubles.sglang import SglangDouble
from .doubles.vllm import VllmDouble
from .harmony import ANALYSIS, CALL, FINAL, MODEL, PREAMBLE, TOOL, ask, ids_of
from .quiet import quiet
from .running import Gateway, in_front_of

CHAT = "/v1/chat/completions"
OUTPUTS = {"answer": ANALYSIS + FINAL, "call": ANALYSIS + PREAMBLE + CALL}
EXPECTED: dict[str, dict[str, Any]] = {
    "answer": {
        "content": "It is mild in Paris.",
        "reasoning": "The weather, then.",
        "calls": [],
        "finish": "stop",
        "tokens": [],
    },
    "call": {
        "content": "I look at the sky.",
        "reasoning": "The weather, then.",
        "calls": [{"id": "", "name": "get_weather", "arguments": '{"city":"Paris","unit":"c"}'}],
        "finish": "tool_calls",
        "tokens": [],
    },
}


def by_ids(raw: str, chunk: int, **fields: Any) -> Script:
    return Script(ids=ids_of(raw), chunk=chunk, **fields)


def by_text(raw: str, chunk: int) -> Script:
    """Like tokens, `chunk` at a time."""
    pieces = pieces_of(raw)
    texts = tuple("".join(pieces[at : at + chunk]) for at in range(0, len(pieces), chunk))
    return Script(ids=tuple(range(len(texts))), texts=texts)


KINDS: dict[str, Any] = {
    "sglang, cumulative": (SglangDouble, None, by_ids),
    "sglang, incremental": (SglangDouble, None, partial(by_ids, incremental=True)),
    "vllm completions": (VllmDouble, None, by_ids),
    "vllm generate": (partial(VllmDouble, scale_out=True), "vllm-generate", by_ids),
    "a chat that leaks": (partial(ChatDouble, models=(MODEL,)), "openai", by_text),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_worker_gives_the_same_answer(kind: str) -> None:
    double, named, script = KINDS[kind]

    async def run() -> None:
        worker: Double = double(script("", 1))
        async with worker, quiet(in_front_of(worker.url, model=MODEL, kind=named)) as door:
            for output, raw in OUTPUTS.items():
                for chunk in (1, 4, 99):
                    worker.script = script(raw, chunk)
                    assert await answer(door, ask(tools=[TOOL])) == EXPECTED[output]

    asyncio.run(run())


async def answer(door: Gateway, body: dict[str, Any]) -> dict[str, Any]:
    """What is answered, the same streamed and whole."""
    status, value, _ = await door.post(CHAT, body)
    assert status == 200, value
    got = same(assembled(await door.stream(CHAT, body)))
    assert got == same(whole(value))
    return said(got)


@pytest.mark.parametrize("tools", [[], [TOOL]], ids=["answer", "call"])
def test_what_is_replayed_is_answered_as_if_a_model_had_written_it(
    tools: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assembly, "ReplayWorker", partial(ReplayWorker, rate=None))
    body = {"model": "qwen3", "messages": [{"role": "user", "content": "Paris?"}], "tools": tools, "seed": 7}

    async def run() -> None:
        models = (ModelEntry(name="qwen3"),)
        worker = WorkerEntry(kind="replay")
        settings = Settings(server=in_front_of().server, models=models, workers=(worker,))
        async with quiet(settings) as door:
            replayed = await answer(door, body)
        raw = script_for(scene_of("hermes", "", body, 7))
        double: Double = SglangDouble(by_text(raw, 1))
        async with double, quiet(in_front_of(double.url, models=models)) as door:
            assert await answer(door, body) == replayed
        assert bool(replayed["calls"]) is bool(tools)

    asyncio.run(run())
