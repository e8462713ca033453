"""Real vocabularies and chat templates for tests, out of packages that are installed as data and never imported.

`make` installs what `tests/oracles.txt` pins into the folder `oracles` of the environment; `DRAGOMAN_ORACLES` names
another place. Where they are missing a test is skipped, but never on CI. None of them is part of this project:

- dashscope, Apache-2.0: Qwen's ranks, `qwen.tiktoken` (Apache-2.0)
- llama-models, Llama 3 Community License: Llama 3's ranks, `tokenizer.model`
- trl, Apache-2.0: chat templates as their models have them, some adapted, each under its model's licence
- xinference, Apache-2.0: `llm_family.json`, likewise with chat templates
- mistral-common, Apache-2.0, an ordinary development dependency: Tekken's and SentencePiece's vocabularies
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from functools import cache
from pathlib import Path

import pytest

from dragoman.tokenizers import Tokenizer, get_tokenizer

__all__ = ["chat_template", "chat_templates", "loaded", "vocabulary_path"]

ROOT = Path(os.environ.get("DRAGOMAN_ORACLES") or Path(sys.prefix, "oracles"))

VOCABULARIES = {
    "qwen": "dashscope/resources/qwen.tiktoken",
    "llama3": "llama_models/llama3/tokenizer.model",
}

MISTRAL = {
    "tekken": "tekken_240911.json",
    "mistral-v1": "tokenizer.model.v1",
    "mistral-v2": "mistral_instruct_tokenizer_240216.model.v2",
    "mistral-v3": "mistral_instruct_tokenizer_240323.model.v3",
    "mistral-v7": "mistral_instruct_tokenizer_241114.model.v7",
}

TRL = "trl/chat_templates"
FAMILIES = "xinference/model/llm/llm_family.json"


def vocabulary_path(name: str) -> Path:
    """The file of a vocabulary: qwen, llama3, tekken, mistral-v1, -v2, -v3 or -v7; skips if it is missing."""
    if name in MISTRAL:
        package = importlib.util.find_spec("mistral_common")
        folder = Path(package.origin).parent if package is not None and package.origin else ROOT
        return present(folder / "data" / MISTRAL[name])
    return present(ROOT / VOCABULARIES[name])


@cache
def loaded(name: str) -> Tokenizer:
    """The tokenizer of a vocabulary, loaded once for all tests; skips if it is missing."""
    return get_tokenizer(vocabulary_path(name))


def chat_template(name: str) -> str:
    """A template by source and name, such as ``trl:qwen3`` or ``xinference:Qwen3-Coder``; skips if they are missing."""
    source, _, model = name.partition(":")
    if source == "trl":
        present(ROOT / TRL)
        return (ROOT / TRL / f"{model}.jinja").read_text(encoding="utf-8")
    assert source == "xinference", f"no source of chat templates is called {source!r}"
    return families()[model]


def chat_templates() -> tuple[str, ...]:
    """The names of all templates, none where they are missing and this is not CI."""
    if not (ROOT / TRL).is_dir() and "CI" not in os.environ:
        return ()
    stems = sorted(path.stem for path in present(ROOT / TRL).glob("*.jinja"))
    return (*(f"trl:{stem}" for stem in stems), *(f"xinference:{model}" for model in sorted(families())))


@cache
def families() -> dict[str, str]:
    """The templates of xinference by model name."""
    entries = json.loads(present(ROOT / FAMILIES).read_text(encoding="utf-8"))
    return {each["model_name"]: each["chat_template"] for each in entries if each.get("chat_template")}


def present(path: Path) -> Path:
    """The path, if it is there."""
    if not path.exists():
        reason = f"{path.name} is not installed: `make test` does it, from tests/oracles.txt"
        if "CI" in os.environ:
            pytest.fail(reason)
        pytest.skip(reason)
    return path
