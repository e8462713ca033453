"""A real server of llama.cpp in a process of its own, with the tiny model of `emit`, and what a gateway needs of it.

What the model says is chance, so that whatever comes out right is the doing of what stands before and behind it. Its
control tokens are those of the dialects here, all in one vocabulary; each dialect is a model of its own in the gateway,
once by text and, where the name ends so, once by ids.
"""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from dragoman import get_dialect
from dragoman.gateway.config import ModelEntry
from dragoman.gateway.workers.llama_child import Settings
from dragoman.gateway.workers.local_llama import CHILD
from tests.emit.tiny_model import Kind, Token, vocabulary, write_model

__all__ = ["DIALECTS", "IDS", "NAME", "TinyLlama", "entries", "likely", "tokens", "write_files"]

NAME = "hermes-3-tiny"
"""What the server calls its model: a name that tells the dialect, for gateways that are told nothing else."""

DIALECTS = (
    "hermes",
    "qwen3_coder",
    "lfm2",
    "llama_pythonic",
    "kimi_k2",
    "glm45",
    "mistral",
    "deepseek_v31",
    "functiongemma",
    "harmony",
)
IDS = "-ids"
"""What the names end with of models whose tokenizer the gateway has."""

TEMPLATE = (
    "<s>{% for message in messages %}[{{ message.role }}]{{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)
"""A layout for all of them: what a model is asked is not what is tested here."""


def markers() -> tuple[str, ...]:
    """The control tokens of all dialects here."""
    known = (get_dialect(name) for name in DIALECTS)
    spelled = (text for one in known for text in (*one.tokens, *one.stops, *one.marks, *one.others))
    plain = {"<function=", "</function>", "</parameter>"}  # text in the real vocabularies as well
    return tuple(
        text for text in dict.fromkeys((*spelled, "<|end|>", "<|im_start|>")) if text not in plain and text != "</s>"
    )


def tokens() -> dict[str, int]:
    """The ids of the control tokens."""
    spelled = enumerate(vocabulary(markers()))
    return {token.spelling: number for number, token in spelled if token.kind is Kind.CONTROL}


def likely(factors: Mapping[str, float]) -> dict[str, float]:
    """A ``logit_bias`` for control tokens, beside one against all bytes beyond ASCII.

    By chance those would make no characters, and a grammar counts them otherwise than they are shown.
    """
    spelled = enumerate(vocabulary(markers()))
    far = {number: -100.0 for number, token in spelled if token.kind is Kind.BYTE and token.content >= b"\x80"}
    known = tokens()
    liked = {known[text]: factor for text, factor in factors.items() if text in known}
    return {str(number): factor for number, factor in (far | liked).items()}


def write_files(folder: Path) -> Path:
    """Write the model, its tokenizer and its chat template; gives the model's path."""
    model = folder / f"{NAME}.gguf"
    words = write_model(model, markers())
    (folder / "tokenizer.json").write_text(json.dumps(declared(words)))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return model


def declared(words: list[Token]) -> dict[str, Any]:
    """The vocabulary as a ``tokenizer.json``."""
    special = [
        {"id": number, "content": token.spelling, "special": True}
        | dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
        for number, token in enumerate(words)
        if token.kind in (Kind.CONTROL, Kind.UNKNOWN)
    ]
    space = {"String": " "}
    return {
        "version": "1.0",
        "added_tokens": special,
        "normalizer": {"type": "Replace", "pattern": space, "content": "▁"},
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "byte_fallback": True,
            "fuse_unk": True,
            "vocab": {token.spelling: number for number, token in enumerate(words)},
            "merges": [],
        },
    }


def entries(folder: Path) -> tuple[ModelEntry, ...]:
    """A model for each dialect by text, and one by ids."""
    template = str(folder / "chat_template.jinja")
    vocabulary = str(folder / "tokenizer.json")
    by_text = (ModelEntry(name=name, dialect=name, chat_template=template) for name in DIALECTS if name != "harmony")
    by_ids = (
        ModelEntry(name=name + IDS, dialect=name, chat_template=template, tokenizer=vocabulary) for name in DIALECTS
    )
    return (*by_text, *by_ids)


class TinyLlama:
    """``async with TinyLlama(folder) as llama``: the server, at `llama.url` until the block ends."""

    url: str

    def __init__(self, folder: Path, *, context: int = 8192, slots: int = 2) -> None:
        self._settings = Settings(str(write_files(folder)), NAME, context, slots, 1)

    async def __aenter__(self) -> TinyLlama:
        command = (sys.executable, "-c", CHILD, msgspec.json.encode(self._settings))
        self._process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
        assert self._process.stdout is not None
        async with asyncio.timeout(60):
            self.url = (await self._process.stdout.readline()).decode().strip()
        assert self.url.startswith("http://127.0.0.1:"), "llama.cpp has not started"
        return self

    async def __aexit__(self, *error: object) -> None:
        async with asyncio.timeout(30):
            await self._process.communicate(b"")  # the end of stdin is its end
