"""A tokenizer is had by its name, its file or its folder; what is missing is said in a sentence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dragoman.errors import InvalidTokenizer
from dragoman.tokenizers import SHIPPED, get_tokenizer
from tests.oracles import vocabulary_path
from tests.tokenizers.vocabularies import byte_level


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_vocabulary_is_had_by_its_name_and_read_once(name: str) -> None:
    assert get_tokenizer(name) is get_tokenizer(name)


@pytest.mark.parametrize(
    ("name", "mark"), [("qwen", "<|im_end|>"), ("llama3", "<|eot_id|>"), ("tekken", "[INST]"), ("mistral-v3", "[INST]")]
)
def test_a_file_may_have_any_name(name: str, mark: str, tmp_path: Path) -> None:
    shutil.copy(vocabulary_path(name), tmp_path / "vocabulary")
    assert mark in get_tokenizer(tmp_path / "vocabulary").control


@pytest.mark.parametrize(
    ("name", "file"), [("qwen", "qwen.tiktoken"), ("llama3", "tokenizer.model"), ("mistral-v3", "instruct.model.v3")]
)
def test_a_folder_is_searched(name: str, file: str, tmp_path: Path) -> None:
    shutil.copy(vocabulary_path(name), tmp_path / file)
    (tmp_path / "README.md").write_text("a model")
    assert get_tokenizer(str(tmp_path)).encode("so")


def test_a_tokenizer_json_comes_first(tmp_path: Path) -> None:
    byte_level().save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer.model").write_bytes(b"\n")
    assert "<think>" in get_tokenizer(tmp_path).control


def test_an_unknown_name_is_answered_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidTokenizer, match=r"^gpt-7: expected o200k_base, o200k_harmony, or the path of a tokenizer's"
    ):
        get_tokenizer("gpt-7")
    with pytest.raises(InvalidTokenizer, match=r"expected one of tokenizer\.json, .* found none of them"):
        get_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [
        ("tiktoken", "qwen", "tokenizers"),
        ("tokenizers", "byte-level", "tokenizers"),
        ("sentencepiece", "mistral-v3", "sentencepiece"),
    ],
)
def test_a_missing_package_is_named_with_what_installs_it(
    package: str, name: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tokenizer.json"
    if name == "byte-level":
        byte_level().save(str(path))
    else:
        path = vocabulary_path(name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidTokenizer, match=rf"pip install 'dragoman\[{extra}\]'"):
        get_tokenizer(path)


def test_importing_the_adapters_loads_no_library() -> None:
    modules = "load, decode, control, hf, mistral, sentencepiece, tiktoken, vocabularies"
    code = f"from dragoman.tokenizers import {modules}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"tiktoken", "tokenizers", "sentencepiece", "mistral_common", "numpy"}.isdisjoint(done.stdout.split())
