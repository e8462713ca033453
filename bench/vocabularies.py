"""The vocabularies that rendering needs: ours, and the same ones as transformers has them, for peers that want those.

Qwen's ranks are those of the package dashscope, and its chat template is trl's: both in the folder ``oracles`` of the
environment, or where ``DRAGOMAN_ORACLES`` says (see ``tests/oracles.txt``).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from dragoman.tokenizers import Tokenizer, get_tokenizer
from dragoman.tokenizers.vocabularies import O200K, QWEN

__all__ = ["FAMILIES", "ORACLES", "chat_template", "fast", "tokenizer"]

ORACLES = Path(os.environ.get("DRAGOMAN_ORACLES") or Path(sys.prefix, "oracles"))

FAMILIES = ("qwen3", "gpt_oss")

TEMPLATES = {"qwen3": "qwen3", "gpt_oss": "gptoss"}


@cache
def tokenizer(family: str) -> Tokenizer:
    """The tokenizer of a family; raises `InvalidTokenizer` where its file is missing."""
    return get_tokenizer("o200k_harmony" if family == "gpt_oss" else ORACLES / "dashscope/resources/qwen.tiktoken")


def chat_template(family: str) -> str:
    """The template of a family; raises `OSError` where it is missing."""
    return (ORACLES / f"trl/chat_templates/{TEMPLATES[family]}.jinja").read_text(encoding="utf-8")


@cache
def fast(family: str) -> Any:
    """The vocabulary as a fast tokenizer of transformers, with the chat template."""
    from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers
    from tokenizers import Tokenizer as Fast
    from transformers import PreTrainedTokenizerFast

    ours = tokenizer(family)
    shown = _shown()
    ranks = {ours.token_bytes(token): token for token in range(min(ours.control.values()))}
    ranks.pop(b"", None)
    merges = [_halves(token, ranks) for token in ranks if len(token) > 1]
    spelled = {token: "".join(shown[byte] for byte in token) for token in ranks}
    made = Fast(
        models.BPE(
            {spelled[token]: rank for token, rank in ranks.items()}, [(spelled[a], spelled[b]) for a, b in merges]
        )
    )
    if family == "qwen3":
        made.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(O200K if family == "gpt_oss" else QWEN), "isolated")
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_only])
    made.decoder = decoders.ByteLevel()
    made.add_tokens([AddedToken(each, special=each.startswith("<|"), normalized=False) for each in ours.control])
    for spelling, token in ours.control.items():
        assert made.token_to_id(spelling) == token, f"{spelling} has another id"
    end = "<|return|>" if family == "gpt_oss" else "<|im_end|>"
    return PreTrainedTokenizerFast(tokenizer_object=made, chat_template=chat_template(family), eos_token=end)


def _halves(token: bytes, ranks: Mapping[bytes, int]) -> tuple[bytes, bytes]:
    """The two tokens that are merged to this one: what is left of it when only earlier merges are made."""
    parts = [bytes([byte]) for byte in token]
    while len(parts) > 2:
        joined = [ranks.get(a + b, len(ranks)) for a, b in pairwise(parts)]
        at = joined.index(min(joined))
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts[0], parts[1]


def _shown() -> dict[int, str]:
    """The characters that bytes are written as in a byte-level vocabulary: those of Latin-1 that show, then others."""
    seen = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = (byte for byte in range(256) if byte not in seen)
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + k) for k, byte in enumerate(others)}
