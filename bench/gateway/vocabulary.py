"""The scripts' vocabularies in the files that gateways read: ``tokenizer.json`` with a chat template, and a rank file.

They are made from the ranks that are shipped, so that nothing is downloaded. The merges are all the pairs of tokens
that make a third; in the order of what they make, they give tiktoken's own ids.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import msgspec

from dragoman.tokenizers.vocabularies import O200K, o200k_ranks

from .script import SCRIPTS, control_of

__all__ = ["write_vocabularies"]

TEMPLATE = (
    "{%- for message in messages %}"
    "{{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}"
)


def write_vocabularies(folder: Path) -> None:
    """Write ``o200k_base.tiktoken`` and a folder for each model, unless they are there already."""
    done = folder / "done"
    if done.exists():
        return
    ranks = o200k_ranks()
    folder.mkdir(parents=True, exist_ok=True)
    lines = (base64.b64encode(token) + b" %d\n" % rank for token, rank in ranks.items())
    (folder / "o200k_base.tiktoken").write_bytes(b"".join(lines))
    spelled = _spelled(ranks)
    merges = _merges(ranks, spelled)
    for name, model in SCRIPTS.items():
        _write_model(folder / model, name, spelled, merges)
    done.touch()


def _write_model(folder: Path, name: str, spelled: dict[bytes, str], merges: list[str]) -> None:
    folder.mkdir(exist_ok=True)
    control = control_of(name)
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": token, "content": spelling, "special": "think" not in spelling and "tool" not in spelling, **flags}
        for spelling, token in control.items()
    ]
    split: dict[str, Any] = {"type": "Split", "pattern": {"Regex": O200K}, "behavior": "Isolated", "invert": False}
    bytewise: dict[str, Any] = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    model = {
        "type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
        "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
        "vocab": {spelled[token]: rank for rank, token in enumerate(spelled)}, "merges": merges,
    }  # fmt: skip
    tokenizer = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, bytewise]},
        "post_processor": None, "decoder": bytewise, "model": model,
    }  # fmt: skip
    ends = "<|return|>" if name == "harmony" else "<|im_end|>"
    settings = {"eos_token": ends, "chat_template": TEMPLATE, "tokenizer_class": "PreTrainedTokenizerFast"}
    architecture = "GptOssForCausalLM" if name == "harmony" else "Qwen3ForCausalLM"
    kind = "gpt_oss" if name == "harmony" else "qwen3"
    config = {"architectures": [architecture], "model_type": kind, "eos_token_id": control[ends]}
    for file, value in (("tokenizer", tokenizer), ("tokenizer_config", settings), ("config", config)):
        (folder / f"{file}.json").write_bytes(msgspec.json.encode(value))


def _merges(ranks: dict[bytes, int], spelled: dict[bytes, str]) -> list[str]:
    found = []
    for token in ranks:
        pairs = ((token[:at], token[at:]) for at in range(1, len(token)))
        known = [(ranks[left], ranks[right], left, right) for left, right in pairs if left in ranks and right in ranks]
        found += [f"{spelled[left]} {spelled[right]}" for *_, left, right in sorted(known)]
    return found


def _spelled(ranks: dict[bytes, int]) -> dict[bytes, str]:
    """Each token in the characters that GPT-2 gave to the bytes."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    letters = {byte: chr(byte) for byte in plain} | {byte: chr(256 + at) for at, byte in enumerate(others)}
    table = str.maketrans({chr(byte): letter for byte, letter in letters.items()})
    return {token: token.decode("latin-1").translate(table) for token in ranks}
