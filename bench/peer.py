"""OpenAI's own Harmony parser beside ours, if it can be had.

``openai_harmony`` (Rust) reads token ids and needs its vocabulary: set ``TIKTOKEN_ENCODINGS_BASE`` to a directory with
``o200k_base.tiktoken``. Without that it would ask the network, so it is left out. It gets the ids, ours the pieces
of text that these ids stand for; after each token its channel, recipient and new text are asked for, since that is
what our events say.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from msgspec import Struct

from dragoman import Parser

from .clock import Best, fresh, quiet, timed
from .workloads import workload

__all__ = ["Peer", "peer"]

BLOCK = 256


class Peer(Struct, frozen=True):
    """Microseconds per token of both, or why there is no such number."""

    name: str
    us_ours: float
    us_peer: float
    tokens: int
    note: str = ""


def peer(rounds: int, chunks: int = 8192) -> Peer:
    """Measure the peer, or say why not."""
    name = "openai_harmony"
    if "TIKTOKEN_ENCODINGS_BASE" not in os.environ:
        return Peer(name, 0, 0, 0, "not measured: TIKTOKEN_ENCODINGS_BASE names no directory with o200k_base.tiktoken")
    try:
        harmony: Any = import_module(name)
        encoding = harmony.load_harmony_encoding(harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
    except Exception as error:  # whatever a foreign extension raises
        return Peer(name, 0, 0, 0, f"not measured: {type(error).__name__}: {error}".splitlines()[0])
    ids = encoding.encode(workload("harmony").write(chunks).text, allowed_special="all")
    pieces = [encoding.decode([token]) for token in ids]
    ours, theirs = Best(), Best()
    for _ in range(rounds):
        parser, other = Parser("harmony").feed, _reader(harmony, encoding)
        texts = fresh(pieces)
        with quiet():
            ours.take([timed(parser, texts[at : at + BLOCK]) for at in range(0, len(texts), BLOCK)])
            theirs.take([timed(other, ids[at : at + BLOCK]) for at in range(0, len(ids), BLOCK)])
    return Peer(name, ours.total / 1000 / len(ids), theirs.total / 1000 / len(ids), len(ids))


def _reader(harmony: Any, encoding: Any) -> Callable[[Any], object]:
    parser = harmony.StreamableParser(encoding, role=harmony.Role.ASSISTANT)

    def feed(token: int) -> object:
        parser.process(token)
        return parser.current_channel, parser.current_recipient, parser.last_content_delta

    return feed
