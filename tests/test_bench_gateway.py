"""The gateway's benchmark measures what it says: answers are compared to the script, and what is lost is counted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.gateway.http import HTTPWorker
from bench.gateway.load import Load, run
from bench.gateway.pace import Pace
from bench.gateway.processes import spawn
from bench.gateway.protobuf import request_id, response, token_messages
from bench.gateway.report import GatewayResults, gateway_grids, gateway_json, gateway_notes
from bench.gateway.rounds import Measured, Soak
from bench.gateway.script import SCRIPTS, Script, script
from bench.gateway.vocabulary import write_vocabularies
from dragoman import Parser
from dragoman.parse.assemble import assemble
from dragoman.tokenizers import get_tokenizer
from dragoman.types import TextPart, ThinkingPart

each = pytest.mark.parametrize("name", SCRIPTS)


def asked(said: Script, *, period: float = 0, change: Callable[[HTTPWorker], None] | None = None) -> Load:
    """What clients see of a worker with this script."""

    async def ask() -> Load:
        loop = asyncio.get_running_loop()
        worker = HTTPWorker(said, Pace(loop, period) if period else None, "")
        if change is not None:
            change(worker)
        server = await loop.create_server(worker, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await run(f"http://127.0.0.1:{port}", said, 3, 2, paced=False)

    return asyncio.run(ask())


def cut_short(pieces: list[bytes]) -> Callable[[HTTPWorker], None]:
    """A change of a worker that makes it say these pieces."""

    def change(worker: HTTPWorker) -> None:
        worker.wholes["/v1/chat/completions"] = b"".join(pieces)

    return change


def test_a_script_of_harmony_is_read_as_the_texts_that_it_says() -> None:
    said = script("harmony", 200)
    parser = Parser("harmony", tokenizer=get_tokenizer("o200k_harmony"))
    message = assemble([*parser.feed_tokens(said.ids), *parser.finish()])
    assert message.parts == (ThinkingPart(said.reasoning), TextPart(said.content))


@each
def test_the_text_of_the_tokens_has_both_texts(name: str) -> None:
    said = script(name, 200)
    shown = "".join(said.shown)
    assert said.reasoning in shown
    assert shown.endswith(said.content)


@pytest.mark.slow
def test_the_vocabulary_for_others_encodes_as_ours_does(tmp_path: Path) -> None:
    write_vocabularies(tmp_path)
    tokenizer, said = get_tokenizer(tmp_path / SCRIPTS["qwen"]), script("qwen", 600)
    assert tuple(tokenizer.encode(said.content)) == tuple(get_tokenizer("o200k_base").encode(said.content))
    assert {token for token in tokenizer.control.values() if token in said.ids} >= {said.stop}


@each
def test_clients_of_the_worker_itself_lose_nothing(name: str) -> None:
    said = script(name, 60)
    load = asked(said)
    assert (load.streams, load.lost, load.wrong, load.why) == (6, 0, 0, [])
    assert load.tokens == 6 * len(said.ids)
    assert len(load.first) == 6
    assert all(each > 0 for each in load.first)


def test_a_paced_worker_says_the_same_token_by_token() -> None:
    load = asked(script("harmony", 30), period=0.001)
    assert (load.streams, load.lost, load.wrong) == (6, 0, 0)


def test_an_answer_without_one_of_its_tokens_is_wrong() -> None:
    said = script("harmony", 60)

    def change(worker: HTTPWorker) -> None:
        pieces = worker.streams["/v1/chat/completions"]
        cut_short([*pieces[:40], *pieces[41:]])(worker)

    load = asked(said, change=change)
    assert (load.streams, load.wrong, load.lost) == (0, 6, 0)
    assert "content differs" in load.why[0]


def test_tokens_out_of_order_are_wrong() -> None:
    def change(worker: HTTPWorker) -> None:
        pieces = worker.streams["/v1/chat/completions"]
        cut_short([*pieces[:42], pieces[43], pieces[42], *pieces[44:]])(worker)

    assert asked(script("harmony", 60), change=change).wrong == 6


def test_an_answer_that_says_no_reason_for_its_end_is_wrong() -> None:
    def change(worker: HTTPWorker) -> None:
        pieces = worker.streams["/v1/chat/completions"]
        cut_short([*pieces[:-2], pieces[-1]])(worker)

    assert asked(script("harmony", 60), change=change).wrong == 6


def test_a_refusal_is_no_answer() -> None:
    def change(worker: HTTPWorker) -> None:
        del worker.streams["/v1/chat/completions"]

    load = asked(script("harmony", 60), change=change)
    assert (load.streams, load.wrong) == (0, 6)
    assert "404" in load.why[0]


def test_messages_of_grpc_carry_the_ids_and_the_request() -> None:
    said = script("qwen", 40)
    messages = token_messages(said)
    assert len(messages) == len(said.ids) + 1
    assert request_id(response(b"chatcmpl-1", messages[0])) == b"chatcmpl-1"


def test_frames_of_grpc_are_those_of_their_stream() -> None:
    pytest.importorskip("hpack")
    from bench.gateway.http2 import GRPCWorker

    said = script("qwen", 40)
    frames = GRPCWorker(said, None, "").frames(7, b"chatcmpl-1")
    assert len(frames) == len(said.ids) + 1
    for frame in frames:
        assert int.from_bytes(frame[:3], "big") == len(frame) - 9
        assert frame[5:9] == bytes((0, 0, 0, 7))
        assert frame[14:26] == b"\n\nchatcmpl-1"


def test_a_process_is_seen_with_what_it_costs(tmp_path: Path) -> None:
    code = "x = list(range(10 ** 6)); print('ready', flush=True); input()"
    tree = spawn(
        ["python3", "-c", f"import time; {code.replace('input()', 'time.sleep(60)')}"], tmp_path / "log", piped=True
    )
    assert tree.process.stdout is not None
    assert tree.process.stdout.readline() == "ready\n"
    cost = tree.cost()
    tree.end()
    tree.process.stdout.close()
    assert cost.seconds > 0
    assert cost.resident > 8_000_000


def test_a_ratio_above_the_limit_is_shown_as_missed_and_losses_as_well() -> None:
    load = Load(streams=2, tokens=200, events=180, seconds=1, first=[0.01, 0.02], gaps=[0.1, 0.1])
    ours, other = Measured("ours", "qwen", "burst"), Measured("smg", "qwen", "burst")
    ours.take(load, 0.02)
    other.take(Load(streams=2, tokens=200, events=180, seconds=1, lost=1, first=[0.01], gaps=[0.1]), 0.01)
    results = GatewayResults([ours, other], [Soak("ours", "qwen", [10, 20], [100, 120])])
    table, memory = gateway_grids(results)
    drawn = dict(zip(table.headings, table.rows[0], strict=True))
    assert drawn["us/token"] == "100.0"
    assert drawn["/ smg"] == "missed: 2.00"
    assert dict(zip(table.headings, table.rows[1], strict=True))["lost"] == "missed: 1"
    assert memory.rows[0][4] == "missed: 1.200"
    assert "us_per_token" in gateway_json(results)
    assert gateway_notes(results)
