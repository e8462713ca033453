"""Servers with OpenAI's chats."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given

from dragoman.errors import Refused, WorkerFailed
from dragoman.gateway.transport import Client
from dragoman.gateway.workers.http_worker import HttpWorker
from dragoman.gateway.workers.openai_chat import OpenAIChat, ask
from dragoman.gateway.workers.order import Chunk, Order, Piece, Prompt, Sampling
from dragoman.gateway.workers.worker import Capabilities, Speech, Wire
from tests.gateway.doubles.chat_double import Chat, ChatDouble, Counted
from tests.gateway.doubles.script import Fault, Script
from tests.streams import cut, cuts

HERE = Capabilities(kind="openai", speech=(Speech.CHAT,))
CHAT = {"model": "public", "messages": [{"role": "user", "content": "Hello?"}], "n": 2, "top_a": 0.2}
ORDER = Order(id="one", model="chatty", prompt=Prompt(), chat=CHAT)


def asked(**fields: Any) -> dict[str, Any]:
    given: dict[str, Any] = {"id": "one", "model": "chatty", "prompt": Prompt(), "chat": CHAT}
    wire: Wire = OpenAIChat()
    dispatch = wire.build(Order(**(given | fields)), HERE)
    assert (dispatch.method, dispatch.path) == ("POST", "/v1/chat/completions")
    return json.loads(dispatch.body)


def test_the_callers_request_is_streamed_and_counted() -> None:
    assert asked() == {
        "model": "chatty",
        "messages": [{"role": "user", "content": "Hello?"}],
        "top_a": 0.2,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_what_else_the_caller_says_is_kept() -> None:
    options = {"include_usage": False, "chunk_size": 3}
    said = asked(chat={**CHAT, "stream_options": options}, sampling=Sampling(extra={"mirostat": 2, "top_a": 0.9}))
    assert said["stream_options"] == {"include_usage": True, "chunk_size": 3}
    assert (said["mirostat"], said["top_a"]) == (2, 0.2)


def test_a_client_sends_no_worker_to_another_host() -> None:
    fields = {"kv_transfer_params": {"remote_host": "10.0.0.1"}, "bootstrap_host": "10.0.0.1", "bootstrap_port": 1}
    assert asked(chat={**CHAT, **fields}) == asked()


def test_a_completion_is_refused() -> None:
    with pytest.raises(Refused, match="takes chats only"):
        asked(chat=None)


def read(body: bytes, places: Sequence[int] = ()) -> list[Piece]:
    reader = OpenAIChat().reader(ORDER, HERE)
    pieces = [piece for chunk in cut(body, places) for piece in reader.feed(chunk)]
    return pieces + reader.finish()


def body(*events: object) -> bytes:
    return b"".join(b"data: %b\n\n" % (one if isinstance(one, bytes) else msgspec.json.encode(one)) for one in events)


def chunk(content: str = "", finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": finish}]}


@given(cuts())
def test_how_it_is_cut_makes_no_difference(places: list[int]) -> None:
    values = [chunk("é"), chunk("<think>"), chunk("", "stop"), {"choices": [], "usage": {"total_tokens": 3}}]
    assert read(body(*values, b"[DONE]"), places) == [Chunk(value) for value in values]


@pytest.mark.parametrize(
    "stream",
    [
        body(chunk("a"), b"[DONE]"),
        body(chunk("a"), chunk("", "stop")),
        body(chunk("a"), chunk("", "stop")).rstrip(),
        body(chunk("a"), b" [DONE] ") + b"data: nonsense\n\n",
    ],
)
def test_an_end_is_told_by_a_reason_or_by_the_server(stream: bytes) -> None:
    assert read(stream)[0] == Chunk(chunk("a"))


@pytest.mark.parametrize(
    ("stream", "problem", "status"),
    [
        (b"", "ended before the answer did", None),
        (body({"error": {"message": "no memory", "code": 500}}), "no memory", 500),
        (body({"error": {"message": "too many", "code": "rate_limit"}}), "too many", None),
        (body({"error": "overloaded"}), "overloaded", None),
        (body({"object": "error", "message": "bad", "code": 400}), "bad", 400),
        (b'event: error\ndata: {"message": "gone"}\n\n', "gone", None),
        (body({"error": {"code": 77}}), "an error without a message", None),
        (body([1]), "not of its protocol", None),
        (body(b"nonsense"), "not of its protocol", None),
        (body(b'"\xff"'), "not of its protocol", None),
        (body(chunk("a")) + b'data: {"choi', "ended before|not of its protocol", None),
    ],
)
def test_what_is_broken_is_the_workers_failure(stream: bytes, problem: str, status: int | None) -> None:
    with pytest.raises(WorkerFailed, match=problem) as failed:
        read(stream)
    assert failed.value.status == status


@pytest.mark.parametrize("value", [{}, {"choices": None}, {"choices": ["a"]}, {"choices": [{}]}])
def test_a_chunk_of_any_shape_is_passed_on(value: dict[str, Any]) -> None:
    assert read(body(value, b"[DONE]")) == [Chunk(value)]


# Over HTTP


def streamed(double: ChatDouble, key: str | None = None) -> tuple[list[Any], Capabilities | None]:
    async def run() -> tuple[list[Any], Capabilities | None]:
        async with double as server, Client() as client:
            found = await ask(server.url, client, key)
            worker = HttpWorker(server.url, OpenAIChat(), client, found or HERE, key=key, health="/v1/models")
            assert await worker.is_well()
            chunks = [
                piece.value async for pieces in worker.generate(ORDER) for piece in pieces if isinstance(piece, Chunk)
            ]
            return chunks, found

    return asyncio.run(run())


def test_a_server_tells_its_models() -> None:
    found = streamed(ChatDouble(models=("a", "b"), key="secret"), "secret")[1]
    assert found == Capabilities(kind="openai", speech=(Speech.CHAT,), models=("a", "b"))


@pytest.mark.parametrize("usage", Counted)
@pytest.mark.parametrize("done", [True, False])
def test_a_chat_comes_as_it_is_with_its_markup(usage: Counted, done: bool) -> None:
    double = ChatDouble(Script(texts=("<think>", "Hm", "</th", "ink>So."), cut=7), usage=usage, done=done)
    chunks, _ = streamed(double)
    deltas = [choice["delta"].get("content", "") for chunk in chunks for choice in chunk["choices"]]
    assert "".join(deltas) == "<think>Hm</think>So."
    assert [bool(chunk.get("usage")) for chunk in chunks].count(True) == (usage is not Counted.NEVER)
    assert "n" not in double.requests[0]


def test_thoughts_and_calls_come_too() -> None:
    chunks, _ = streamed(ChatDouble(thoughts=["Hm."], calls=[("ping", ["{", "}"])]))
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    assert {"reasoning_content": "Hm."} in deltas
    assert [delta["tool_calls"][0]["function"] for delta in deltas if "tool_calls" in delta] == [
        {"name": "ping", "arguments": ""},
        {"arguments": "{"},
        {"arguments": "}"},
    ]


@pytest.mark.parametrize("fault", [Fault.RESET, Fault.CUT, Fault.SHORT, Fault.GARBAGE, Fault.HALF, Fault.ERROR])
def test_a_server_that_fails_is_known_to_have(fault: Fault) -> None:
    with pytest.raises(WorkerFailed):
        streamed(ChatDouble(Script(fault=fault, after=2)))


@pytest.mark.parametrize("listed", [{"object": "list"}, None])
def test_a_server_without_models_is_none(listed: dict[str, Any] | None) -> None:
    double = ChatDouble()
    double.pages["/v1/models"] = listed

    async def run() -> Capabilities | None:
        async with double as server, Client() as client:
            return await ask(server.url, client)

    assert asyncio.run(run()) is None


def test_the_double_refuses_what_a_server_would() -> None:
    double = ChatDouble()
    assert msgspec.json.decode(msgspec.json.encode(CHAT), type=Chat).messages[0].role == "user"
    with pytest.raises(msgspec.ValidationError):
        double.body("/v1/chat/completions", b'{"model": "a"}', Script())
