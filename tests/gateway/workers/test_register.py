"""What a server is found to be, by asking it; and what is believed where its kind is named."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from dragoman.errors import InvalidConfig, WorkerFailed
from dragoman.gateway.transport import Client
from dragoman.gateway.workers.register import KINDS, discover
from dragoman.gateway.workers.worker import Capabilities, Speech
from tests.gateway.doubles.double import Double
from tests.gateway.doubles.script import Script
from tests.gateway.doubles.sglang import SglangDouble
from tests.gateway.doubles.vllm import VllmDouble

BOTH = (Speech.TOKENS, Speech.TEXT)


def found(
    double: Double,
    kind: str | None = None,
    key: str | None = None,
    pages: Mapping[str, Any] | None = None,
    tail: str = "",
) -> tuple[str, Capabilities]:
    """The name of the wire's class, and what the server can do; `pages` differ from the double's own."""

    async def run() -> tuple[str, Capabilities]:
        double.pages.update(pages or {})
        async with double, Client() as client:
            wire, capabilities = await discover(double.url + tail, client, kind=kind, key=key)
            return type(wire).__name__, capabilities

    return asyncio.run(run())


def models(**fields: object) -> dict[str, Any]:
    return {"/v1/models": {"object": "list", "data": [{"id": "model", **fields}]}}


@pytest.mark.parametrize("incremental", [False, True])
def test_sglang_is_known(incremental: bool) -> None:
    expected = Capabilities(
        kind="sglang",
        version="0.5.23",
        speech=BOTH,
        models=("model",),
        incremental=incremental,
        context=4096,
        path="some/tokenizer",
    )
    assert found(SglangDouble(Script(incremental=incremental))) == ("Sglang", expected)


def test_an_old_sglang_is_known_by_its_old_pages() -> None:
    pages = {
        **models(owned_by="sglang"),
        "/server_info": None,
        "/model_info": None,
        "/get_server_info": {
            "version": "0.4",
            "stream_output": True,
            "skip_tokenizer_init": True,
            "context_length": 99,
        },
        "/get_model_info": {"model_path": "some/model"},
    }
    expected = Capabilities(
        kind="sglang", version="0.4", speech=(Speech.TOKENS,), models=("model",), context=99, path="some/model"
    )
    assert found(SglangDouble(), pages=pages) == ("Sglang", expected)


def test_an_sglang_that_says_nothing_of_itself_is_known() -> None:
    pages = {**models(owned_by="sglang"), "/server_info": None, "/model_info": None}
    expected = Capabilities(kind="sglang", speech=BOTH, models=("model",), incremental=False)
    assert found(SglangDouble(), pages=pages) == ("Sglang", expected)


@pytest.mark.parametrize(("said", "template"), [("{{ messages }}", "{{ messages }}"), ("chatml", None)])
def test_a_template_is_told_apart_from_the_name_of_one(said: str, template: str | None) -> None:
    assert found(SglangDouble(), pages={"/server_info": {"chat_template": said}})[1].template == template


def test_vllm_is_known() -> None:
    expected = Capabilities(
        kind="vllm", version="0.33.0", speech=BOTH, models=("model",), context=4096, path="some/model"
    )
    assert found(VllmDouble()) == found(VllmDouble(scale_out=True)) == ("Vllm", expected)


def test_a_vllm_for_tokens_only_is_known() -> None:
    double = VllmDouble(scale_out=True)
    del double.calls["/v1/completions"]
    name, capabilities = found(double)
    assert (name, capabilities.kind, capabilities.speech) == ("VllmGenerate", "vllm-generate", (Speech.TOKENS,))


@pytest.mark.parametrize(
    ("version", "speech"),
    [("0.10.1", (Speech.TEXT,)), ("0.9", (Speech.TEXT,)), ("0.10.2", BOTH), ("0.1.dev1+g12", BOTH), ("", BOTH)],
)
def test_an_old_vllm_tells_no_ids(version: str, speech: tuple[Speech, ...]) -> None:
    assert found(VllmDouble(), pages={"/version": {"version": version}})[1].speech == speech


def test_any_other_server_speaks_chat() -> None:
    name, capabilities = found(Double(pages=models(owned_by="library")))
    assert (name, capabilities.speech, capabilities.models) == ("OpenAIChat", (Speech.CHAT,), ("model",))


def test_a_kind_that_is_named_is_believed() -> None:
    double = Double(pages=models(max_model_len=7))
    assert found(double, "vllm") == ("Vllm", Capabilities(kind="vllm", speech=BOTH, models=("model",), context=7))


def test_a_kind_that_is_named_is_asked_all_the_same() -> None:
    assert found(VllmDouble(scale_out=True), "vllm-generate")[1].version == "0.33.0"


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_that_is_named_is_believed_where_nothing_is_said(kind: str) -> None:
    assert found(Double(), kind)[1].models == ()


def test_a_url_may_end_as_openais_clients_want_it() -> None:
    assert found(VllmDouble(), tail="/v1/")[0] == "Vllm"


def test_a_key_is_shown() -> None:
    assert found(VllmDouble(key="secret"), key="secret")[0] == "Vllm"


def test_a_wrong_key_is_told() -> None:
    with pytest.raises(WorkerFailed, match=r"Unauthorized \(HTTP 401\)"):
        found(VllmDouble(key="secret"), key="other")


def test_a_server_that_is_nothing_known_is_told() -> None:
    with pytest.raises(WorkerFailed, match="no server that is known"):
        found(Double())


@pytest.mark.parametrize("page", [{"data": "x"}, {"object": "list"}])
def test_a_list_of_models_that_is_none_is_none(page: dict[str, object]) -> None:
    with pytest.raises(WorkerFailed, match="no server that is known"):
        found(Double(pages={"/v1/models": page}))


def test_a_kind_that_there_is_not_is_told() -> None:
    with pytest.raises(InvalidConfig, match="one of sglang, vllm, vllm-generate"):
        found(Double(), "tgi")


def test_where_nobody_answers_the_worker_has_failed() -> None:
    async def run() -> None:
        async with Client() as client:
            await discover("http://127.0.0.1:1", client)

    with pytest.raises(WorkerFailed, match="no connection"):
        asyncio.run(run())
