"""The child process that serves a model."""

from __future__ import annotations

import io
import sys
import urllib.request
from pathlib import Path

import msgspec
import pytest

from dragoman.gateway.workers.llama_child import Settings, main, serve
from tests.emit.tiny_model import write_model

pytest.importorskip("xllamacpp")
pytest.importorskip("gguf")


class Until(io.BytesIO):
    """A stdin that ends when a question has been asked; the answer is kept."""

    def __init__(self, out: io.StringIO) -> None:
        super().__init__()
        self.out, self.answer = out, b""

    def read(self, size: int | None = -1) -> bytes:
        with urllib.request.urlopen(f"{self.out.getvalue().strip()}/props") as answer:
            self.answer = answer.read()
        return b""


def test_it_serves_until_its_stdin_ends(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    write_model(path, ("<think>",))
    out = io.StringIO()
    until = Until(out)
    serve(Settings(str(path), "tiny", context=512, slots=2, threads=1), until, out)
    told = msgspec.json.decode(until.answer)
    assert (told["model_alias"], told["total_slots"]) == ("tiny", 2)
    assert told["default_generation_settings"]["n_ctx"] == 512


def told(path: Path) -> str:
    return msgspec.json.encode(Settings(str(path), path.stem)).decode()


def test_its_address_is_the_only_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tiny.gguf"
    write_model(path, ())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    assert main([told(path)]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("http://127.0.0.1:")


def test_a_model_that_is_none_is_told_in_the_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.gguf"
    path.write_bytes(b"GGUF and nothing more")
    assert main([told(path)]) == 1
    assert "Failed" in capsys.readouterr().err
