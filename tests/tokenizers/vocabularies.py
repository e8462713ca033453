"""The tokenizers that tests look at: real ones, and small ones trained here on a few lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from dragoman.tokenizers import Tokenizer as Adapter
from dragoman.tokenizers import get_tokenizer
from dragoman.tokenizers.hf import from_huggingface
from dragoman.tokenizers.pieces import BYTES
from dragoman.tokenizers.vocabularies import QWEN3
from tests.oracles import loaded

__all__ = ["ALL", "BYTE_COMPLETE", "byte_level", "llama_like", "opened", "qwen_merges", "unigram", "word_piece"]

LINES = [
    Path(__file__).read_text(encoding="utf-8"),
    "Grüße aus Köln, 你好 世界! <think>so</think> <s>[INST] x [/INST]</s>\n\n",
] * 4

SPECIAL = ["<s>", "</s>", "<|end|>", "[INST]", "[/INST]"]


@cache
def byte_level() -> Tokenizer:
    """BPE of bytes, as most models have it: tokens called special, others that are only added, and runs of spaces."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        LINES, trainers.BpeTrainer(vocab_size=600, initial_alphabet=alphabet, show_progress=False)
    )
    tokenizer.add_special_tokens(SPECIAL)
    tokenizer.add_tokens(
        ["<think>", "</think>", AddedToken("  ", normalized=True), AddedToken("    ", normalized=True)]
    )
    return tokenizer


@cache
def unigram() -> Tokenizer:
    """Unigram with U+2581 for a space, in front of every text too, and control tokens within the model."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=["<unk>", *SPECIAL], unk_token="<unk>", show_progress=False
    )
    tokenizer.train_from_iterator(LINES, trainer)
    return tokenizer


@cache
def llama_like(scheme: str = "first") -> Tokenizer:
    """BPE of characters with bytes for those it lacks, which splits nothing; some merges give a control token."""
    alphabet = ["\u2581", *"abcdefghijklmnopqrstuvwxyz<>/[]|INST.,!"]
    merges = [("<", "s"), ("<s", ">"), ("[", "I"), ("[I", "N"), ("\u2581", "a"), ("\u2581", "\u2581")]
    tokens = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *alphabet, *("".join(merge) for merge in merges)]
    tokens += [mark for mark in SPECIAL if mark not in tokens]
    model = models.BPE(
        {token: at for at, token in enumerate(tokens)}, merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True
    )
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    tokenizer.add_special_tokens(["<unk>", *SPECIAL])
    tokenizer.add_tokens(["<think>"])
    return tokenizer


@cache
def word_piece() -> Tokenizer:
    """WordPiece, which knows few words."""
    words = ["[UNK]", "[CLS]", "hello", "world", "##s", "##ly", ","]
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(["[UNK]", "[CLS]"])
    return tokenizer


BYTE_COMPLETE: dict[str, Callable[[], Adapter]] = {
    "o200k_harmony": lambda: get_tokenizer("o200k_harmony"),
    "qwen": partial(loaded, "qwen"),
    "llama3": partial(loaded, "llama3"),
    "tekken": partial(loaded, "tekken"),
    "mistral-v1": partial(loaded, "mistral-v1"),
    "mistral-v3": partial(loaded, "mistral-v3"),
    "byte-level": lambda: from_huggingface(byte_level()),
    "llama-like": lambda: from_huggingface(llama_like()),
    "llama-like, legacy": lambda: from_huggingface(llama_like("always")),
}
"""Those that have every byte, so that any text can be had back."""

ALL: dict[str, Callable[[], Adapter]] = {
    **BYTE_COMPLETE,
    "unigram": lambda: from_huggingface(unigram()),
    "word-piece": lambda: from_huggingface(word_piece()),
}


@cache
def opened(name: str) -> Adapter:
    """A tokenizer by its name; skips if its vocabulary is missing."""
    return ALL[name]()


@cache
def qwen_merges() -> Tokenizer:
    """Qwen's ranks as a byte-level BPE of Hugging Face: the merge that makes a token is that of its last two parts."""
    ranked = loaded("qwen")
    written = {byte: character for character, byte in BYTES.items()}
    ranks = {ranked.token_bytes(token): token for token in range(min(ranked.control.values()))}
    merges = [tuple(spelled(part, written) for part in halves(token, ranks)) for token in ranks if len(token) > 1]
    vocabulary = {spelled(token, written): rank for token, rank in ranks.items()}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.normalizer = normalizers.NFC()
    split = pre_tokenizers.Split(Regex(QWEN3.pattern), "isolated")
    bytes_only = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_only])
    tokenizer.decoder = decoders.ByteLevel()
    for spelling in ranked.control:
        if spelling.startswith("<|"):
            tokenizer.add_special_tokens([spelling])
        else:
            tokenizer.add_tokens([spelling])
    return tokenizer


def halves(token: bytes, ranks: Mapping[bytes, int]) -> list[bytes]:
    """The two tokens that a token is merged from: what merging by rank leaves before its own merge."""
    parts = [token[at : at + 1] for at in range(len(token))]
    while len(parts) > 2:
        pairs = [first + second for first, second in pairwise(parts)]
        at = min(range(len(pairs)), key=lambda at: ranks.get(pairs[at], len(ranks)))
        parts[at : at + 2] = [pairs[at]]
    return parts


def spelled(token: bytes, written: Mapping[int, str]) -> str:
    return "".join(written[byte] for byte in token)
