"""The vocabularies of OpenAI's tiktoken, and all that are written down the same way: bytes, their ranks and a pattern.

The file format is one token a line, base64 and its rank. It has neither the pattern that splits text nor the control
tokens, so who reads one must know them: `vocabularies` does for the published ones.
"""

from __future__ import annotations

import binascii
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..errors import InvalidTokenizer, UnknownToken
from .text import LONGEST_RUN, scalar, stretches

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["Form", "TiktokenTokenizer", "from_ranks", "read_ranks"]

Form: TypeAlias = Literal["NFC", "NFD", "NFKC", "NFKD"]
"""How Unicode is normalised before text is encoded."""


class TiktokenTokenizer:
    """A `tiktoken.Encoding` behind the protocol; its special tokens are the control tokens."""

    def __init__(self, encoding: Encoding, form: Form | None = None) -> None:
        """Text goes through the Unicode form first, if there is one."""
        self.encoding, self.form = encoding, form
        special = {spelling: encoding.encode_single_token(spelling) for spelling in encoding.special_tokens_set}
        self._control = MappingProxyType(dict(sorted(special.items(), key=lambda each: each[1])))

    @property
    def control(self) -> Mapping[str, int]:
        return self._control

    @property
    def size(self) -> int:
        return self.encoding.n_vocab

    def encode(self, text: str) -> list[int]:
        encode, text = self.encoding.encode_ordinary, self.normalize(text)
        if len(text) <= LONGEST_RUN:
            return encode(text)
        return [token for piece in stretches(text) for token in encode(piece)]

    def token_bytes(self, token: int) -> bytes:
        if not 0 <= token < self.size:
            raise UnknownToken(token, self.size)
        try:
            return self.encoding.decode_single_token_bytes(token)
        except KeyError:
            return b""

    def normalize(self, text: str) -> str:
        if text.isascii():
            return text
        text = scalar(text)
        return unicodedata.normalize(self.form, text) if self.form else text


def read_ranks(content: bytes, path: str = "ranks") -> dict[bytes, int]:
    """The tokens of a rank file in their order; raises `InvalidTokenizer`, which names the path."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(content.splitlines(), 1):
        if line:
            try:
                token, rank = line.split()
                ranks[binascii.a2b_base64(token)] = int(rank)
            except ValueError as error:
                raise InvalidTokenizer(
                    f"{path}, line {number}", "a token in base64 and its rank", repr(line)
                ) from error
    return ranks


def from_ranks(
    name: str, ranks: dict[bytes, int], pattern: str, control: Mapping[str, int], form: Form | None = None
) -> TiktokenTokenizer:
    """A tokenizer of ranks, the pattern that splits text before they are looked up, and control tokens.

    Raises `InvalidTokenizer` if tiktoken is not installed, or if it does not take them.
    """
    try:
        import tiktoken
    except ImportError as error:
        raise InvalidTokenizer(
            name, "tiktoken, which reads it: pip install 'dragoman[tokenizers]'", "no such package"
        ) from error
    try:
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens=dict(control))
    except ValueError as error:
        raise InvalidTokenizer(name, "ranks, a pattern and control tokens that belong together", str(error)) from error
    encoding._mergeable_ranks = {}  # a third of its memory, kept for pickling alone
    return TiktokenTokenizer(encoding, form)
