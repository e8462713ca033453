"""A tokenizer by its name, its file or its folder; nothing is fetched."""

from __future__ import annotations

from pathlib import Path

from ..errors import InvalidTokenizer
from .protocol import Tokenizer

__all__ = ["SHIPPED", "get_tokenizer"]

SHIPPED = ("o200k_base", "o200k_harmony")
"""The names of the vocabularies that come with the package: gpt-oss's, without and with Harmony's control tokens."""

FILES = ("tokenizer.json", "tekken.json", "qwen.tiktoken", "tiktoken.model", "tokenizer.model")
"""What a folder is searched for, in this order; then whatever is called ``tokenizer.model.v3`` or so."""


def get_tokenizer(name_or_path: str | Path) -> Tokenizer:
    """The tokenizer of a shipped vocabulary, a file or a folder.

    Files may be a ``tokenizer.json``, a ``tekken.json``, a SentencePiece model, or one of the published rank files
    (Qwen's ``qwen.tiktoken``, Llama 3's ``tokenizer.model``), whatever they are called. Raises `InvalidTokenizer`.
    """
    if name_or_path in SHIPPED:
        from .vocabularies import shipped

        return shipped(str(name_or_path))
    path = Path(name_or_path)
    if path.is_dir():
        path = _of_folder(path)
    try:
        content = path.read_bytes()
    except OSError as error:
        expected = f"{', '.join(SHIPPED)}, or the path of a tokenizer's file or folder"
        raise InvalidTokenizer(str(name_or_path), expected, error.strerror or "nothing") from error
    return _by_content(content, path)


def _of_folder(folder: Path) -> Path:
    for name in FILES:
        if (folder / name).is_file():
            return folder / name
    models = sorted(folder.glob("tokenizer.model.v*")) or sorted(folder.glob("*.model.v*"))
    if models:
        return models[-1]
    raise InvalidTokenizer(str(folder), f"one of {', '.join(FILES)}", "none of them")


def _by_content(content: bytes, path: Path) -> Tokenizer:
    """By what a file begins with: an object, the first piece of a SentencePiece model, or a line of ranks."""
    if content[:1] == b"{":
        if b'"token_bytes"' in content[:4096]:
            from .mistral import read_tekken

            return read_tekken(content, str(path))
        from .hf import from_huggingface

        return from_huggingface(path)
    if content[:1] == b"\x0a":
        from .sentencepiece import read_sentencepiece

        return read_sentencepiece(content, str(path))
    from .vocabularies import read_rank_file

    return read_rank_file(content, str(path))
