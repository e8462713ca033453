"""Tokenizers for engines that make masks of a whole vocabulary: what xgrammar and llguidance ask of one.

Both take the bytes of all tokens, from whatever library they come, and the tokens at which a model stops. A vocabulary
is prepared once and used for many grammars: for 200,000 tokens it takes a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..errors import InvalidTokenizer
from .protocol import Tokenizer

if TYPE_CHECKING:
    from llguidance import LLTokenizer
    from xgrammar import TokenizerInfo

__all__ = ["llguidance_tokenizer", "xgrammar_tokenizer"]


def xgrammar_tokenizer(
    tokenizer: Tokenizer, stops: Sequence[int], *, markers: Iterable[str] | None = None
) -> TokenizerInfo:
    """The tokenizer for xgrammar, to which a control token is the text that spells it.

    With `markers`, a control token that is none of them never comes; else each may where a text may be spelled like it.
    Raises `InvalidTokenizer` if xgrammar is not installed.
    """
    try:
        from xgrammar import TokenizerInfo, VocabType
    except ImportError as error:
        raise _missing("xgrammar") from error
    tokens = _spellings(tokenizer)
    if markers is not None:
        kept = frozenset(markers)
        for spelling, token in tokenizer.control.items():
            if spelling not in kept:
                tokens[token] = b""
    return TokenizerInfo(tokens, VocabType.RAW, stop_token_ids=list(stops))


def llguidance_tokenizer(tokenizer: Tokenizer, stops: Sequence[int]) -> LLTokenizer:
    """The tokenizer for llguidance, whose grammars name control tokens by their ids, or can't.

    Raises `InvalidTokenizer` if llguidance is not installed.
    """
    try:
        from llguidance import LLTokenizer, TokenizerWrapper
    except ImportError as error:
        raise _missing("llguidance") from error
    return LLTokenizer(TokenizerWrapper(_Wrapped(tokenizer, stops)), eos_token=list(stops))


class _Wrapped:
    """A tokenizer as llguidance wants it."""

    bos_token_id = None

    def __init__(self, tokenizer: Tokenizer, stops: Sequence[int]) -> None:
        self.encode = tokenizer.encode
        self.tokens = _spellings(tokenizer)
        self.eos_token_id = stops[0]
        self.special_token_ids = sorted(tokenizer.control.values())

    def __call__(self, text: str | bytes) -> list[int]:
        return self.encode(text if isinstance(text, str) else text.decode("utf-8", "replace"))


def _spellings(tokenizer: Tokenizer) -> list[bytes]:
    return [tokenizer.token_bytes(token) for token in range(tokenizer.size)]


def _missing(package: str) -> InvalidTokenizer:
    expected = f"the package {package}: pip install 'dragoman[{package}]'"
    return InvalidTokenizer(package, expected, "no such package")
