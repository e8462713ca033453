"""The child process that serves a model: what it asks llama.cpp for; `test_local_llama` has it run for real.

Not in this process: the real one was seen to hang now and then when it was taken down.
"""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace

import msgspec
import pytest

from dragoman.gateway.workers.llama_child import Settings, main

ADDRESS = "http://127.0.0.1:7"


class Llama:
    """The part of xllamacpp that is used; `asked` is what a server was made with."""

    def __init__(self, problem: str = "") -> None:
        self.problem = problem
        self.asked = SimpleNamespace()

    def CommonParams(self) -> SimpleNamespace:  # noqa: N802
        empty = SimpleNamespace
        return SimpleNamespace(model=empty(), cpuparams=empty(), cpuparams_batch=empty())

    def Server(self, params: SimpleNamespace) -> SimpleNamespace:  # noqa: N802
        if self.problem:
            raise RuntimeError(self.problem)
        self.asked = params
        return SimpleNamespace(listening_address=ADDRESS)


def run(llama: Llama, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> tuple[int, list[int]]:
    """The exit code, and those with which the process was left before."""
    monkeypatch.setitem(sys.modules, "xllamacpp", llama)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"until here")))
    left: list[int] = []
    return main([msgspec.json.encode(settings).decode()], left.append), left


def test_its_address_is_the_only_line_and_the_end_of_stdin_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Llama(), Settings("a.gguf", "a"), monkeypatch) == (0, [0])
    assert capsys.readouterr().out == f"{ADDRESS}\n"


def test_it_serves_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    llama = Llama()
    run(llama, Settings("a.gguf", "a", context=512, slots=2, threads=3), monkeypatch)
    asked = llama.asked
    assert (asked.model.path, asked.model_alias, asked.n_ctx, asked.n_parallel) == ("a.gguf", {"a"}, 1024, 2)
    assert asked.cpuparams.n_threads == asked.cpuparams_batch.n_threads == 3


def test_a_model_that_can_not_be_loaded_is_told_in_the_exit_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(Llama("Failed to init server"), Settings("a.gguf", "a"), monkeypatch) == (1, [])
    assert capsys.readouterr().err == "Failed to init server\n"
