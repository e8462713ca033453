"""The published rank files that are known by their SHA-256, with what the files don't say.

One is shipped, as `data/o200k_base.zlib`: that of OpenAI's open models, gpt-oss. The others are read from where a model
has them. Sources of the patterns and control tokens: tiktoken's `openai_public.py` and openai-harmony for o200k,
`tokenizer_config.json` of Qwen3, `tokenizer.py` of llama-models for Llama 3, `tokenization_kimi.py` for Kimi K2.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib import resources
from itertools import accumulate, pairwise
from types import MappingProxyType

from msgspec import Struct

from ..errors import InvalidTokenizer
from .tiktoken import Form, TiktokenTokenizer, from_ranks, read_ranks

__all__ = ["NAMED", "VOCABULARIES", "Vocabulary", "o200k_ranks", "read_rank_file", "shipped"]


class Vocabulary(Struct, frozen=True):
    """What a rank file leaves out: the pattern, the control tokens, and the Unicode form."""

    name: str
    sha256: str
    pattern: str
    control: Mapping[str, int]
    form: Form | None = None

    def tokenizer(self, ranks: dict[bytes, int]) -> TiktokenTokenizer:
        return from_ranks(self.name, ranks, self.pattern, self.control, self.form)


def _numbered(first: int, spellings: tuple[str, ...]) -> Mapping[str, int]:
    return MappingProxyType({spelling: first + at for at, spelling in enumerate(spellings)})


CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
)
UNCASED = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)", r"[^\r\n\p{L}\p{N}]?\p{L}+")
SPACE = (r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+")

O200K = "|".join((*CASED, r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n/]*", *SPACE))
QWEN = "|".join((*UNCASED, r"\p{N}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", *SPACE))
LLAMA = "|".join((*UNCASED, r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", *SPACE))

O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
O200K_BASE = Vocabulary(
    "o200k_base", O200K_SHA256, O200K, MappingProxyType({"<|endoftext|>": 199999, "<|endofprompt|>": 200018})
)

HARMONY_NAMES = {
    199998: "<|startoftext|>",
    199999: "<|endoftext|>",
    200002: "<|return|>",
    200003: "<|constrain|>",
    200005: "<|channel|>",
    200006: "<|start|>",
    200007: "<|end|>",
    200008: "<|message|>",
    200012: "<|call|>",
}
O200K_HARMONY = Vocabulary(
    "o200k_harmony",
    O200K_SHA256,
    O200K,
    _numbered(199998, tuple(HARMONY_NAMES.get(token, f"<|reserved_{token}|>") for token in range(199998, 201089))),
)

QWEN3 = Vocabulary(
    "qwen",
    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
    QWEN,
    _numbered(
        151643,
        (
            *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>"),
            *("<|box_start|>", "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>"),
            *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>", "<tool_call>", "</tool_call>", "<|fim_prefix|>"),
            *("<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"),
            *("<tool_response>", "</tool_response>", "<think>", "</think>"),
        ),
    ),
    "NFC",
)

LLAMA3_NAMES = (
    *("<|begin_of_text|>", "<|end_of_text|>", "<|reserved_special_token_0|>", "<|reserved_special_token_1|>"),
    *("<|finetune_right_pad_id|>", "<|step_id|>", "<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>"),
    *("<|eot_id|>", "<|python_tag|>", "<|image|>"),
)
LLAMA3 = Vocabulary(
    "llama3",
    "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55",
    LLAMA,
    _numbered(128000, (*LLAMA3_NAMES, *(f"<|reserved_special_token_{at}|>" for at in range(2, 246)))),
)

VOCABULARIES = (O200K_BASE, QWEN3, LLAMA3)
"""Those that a file's SHA-256 tells; of the two with o200k's ranks, the one that has their name."""

NAMED = MappingProxyType({each.name: each for each in (O200K_BASE, O200K_HARMONY)})
"""Those that come with the package."""


@cache
def shipped(name: str) -> TiktokenTokenizer:
    """The tokenizer of that name from the package's own data; one and the same whenever it is asked for."""
    return NAMED[name].tokenizer(o200k_ranks())


def o200k_ranks() -> dict[bytes, int]:
    """The ranks of o200k, from the package's data: how many, the length of each as a byte, and all their bytes."""
    packed = resources.files(__package__).joinpath("data", "o200k_base.zlib").read_bytes()
    content = zlib.decompress(packed)
    count = int.from_bytes(content[:4], "big")
    ends = accumulate(content[4 : 4 + count], initial=4 + count)
    return {content[start:end]: rank for rank, (start, end) in enumerate(pairwise(ends))}


def read_rank_file(content: bytes, path: str) -> TiktokenTokenizer:
    """The tokenizer of a published rank file; raises `InvalidTokenizer` for one that is not known."""
    digest = sha256(content).hexdigest()
    for known in VOCABULARIES:
        if known.sha256 == digest:
            return known.tokenizer(read_ranks(content, path))
    names = ", ".join(known.name for known in VOCABULARIES)
    expected = f"the published rank file of {names} (for others, give pattern and control tokens to from_ranks)"
    raise InvalidTokenizer(path, expected, f"SHA-256 {digest}")
