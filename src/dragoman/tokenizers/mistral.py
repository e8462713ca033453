"""Mistral's vocabularies: Tekken, a ``tekken.json``, and what a tokenizer of mistral-common was read from.

A ``tekken.json`` has the pattern and the tokens with their bytes. Its control tokens come first, so a token's id is its
rank and their number. Files up to version 7 may leave the control tokens out, and then they are those that
mistral-common knows (`Tekkenizer.DEPRECATED_SPECIAL_TOKENS`); unnamed ones are called ``<SPECIAL_n>``.
"""

from __future__ import annotations

import binascii
from pathlib import Path
from typing import Protocol, cast

import msgspec
from msgspec import Struct

from ..errors import InvalidTokenizer
from .protocol import Tokenizer
from .sentencepiece import read_sentencepiece
from .tiktoken import TiktokenTokenizer, from_ranks

__all__ = ["Common", "Instruct", "Named", "from_mistral", "read_tekken"]

UNNAMED = (
    *("<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"),
    *("[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"),
    *("[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"),
)
"""The control tokens of a file that names none, in the order of their ids."""


class Config(Struct, frozen=True):
    """How a ``tekken.json`` splits text, and how much of its vocabulary counts."""

    pattern: str
    default_vocab_size: int
    default_num_special_tokens: int


class Token(Struct, frozen=True):
    """An ordinary token of a ``tekken.json``."""

    rank: int
    token_bytes: str


class Special(Struct, frozen=True):
    """A control token of a ``tekken.json``."""

    rank: int
    token_str: str


class Tekken(Struct, frozen=True):
    """What is read of a ``tekken.json``."""

    config: Config
    vocab: list[Token]
    special_tokens: list[Special] | None = None


class Named(Protocol):
    """A `Tekkenizer` or `SentencePieceTokenizer` of mistral-common."""

    @property
    def file_path(self) -> Path:
        """What it was read from; raises `ValueError` if from nothing."""
        ...


class Instruct(Protocol):
    """What has the tokenizer of a `MistralTokenizer`."""

    @property
    def tokenizer(self) -> Named:
        """The tokenizer."""
        ...


class Common(Protocol):
    """A `MistralTokenizer`."""

    @property
    def instruct_tokenizer(self) -> Instruct:
        """What has the tokenizer."""
        ...


def from_mistral(source: Common | Named) -> Tokenizer:
    """The adapter for a tokenizer of mistral-common, read anew from its file; raises `InvalidTokenizer`."""
    instruct: Instruct | None = getattr(source, "instruct_tokenizer", None)
    try:
        path = cast("Named", source).file_path if instruct is None else instruct.tokenizer.file_path
        content = path.read_bytes()
    except (AttributeError, ValueError, OSError) as error:
        raise InvalidTokenizer(type(source).__name__, "a tokenizer whose file is there", str(error)) from error
    return read_tekken(content, str(path)) if path.suffix == ".json" else read_sentencepiece(content, str(path))


def read_tekken(content: bytes, path: str) -> TiktokenTokenizer:
    """The tokenizer of a ``tekken.json``; raises `InvalidTokenizer`."""
    try:
        tekken = msgspec.json.decode(content, type=Tekken)
        first = tekken.config.default_num_special_tokens
        count = tekken.config.default_vocab_size - first
        ranks = {binascii.a2b_base64(each.token_bytes): first + each.rank for each in tekken.vocab[:count]}
    except (msgspec.DecodeError, binascii.Error) as error:
        raise InvalidTokenizer(path, "a tekken.json", str(error)) from error
    named = dict(enumerate(UNNAMED))
    if tekken.special_tokens is not None:
        named = {each.rank: each.token_str for each in tekken.special_tokens}
    control = {named.get(token, f"<SPECIAL_{token}>"): token for token in range(first)}
    return from_ranks("tekken", ranks, tekken.config.pattern, control)
