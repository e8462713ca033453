"""A vocabulary of bytes: each is a token, whose id is its value; control tokens come behind.

For models that read bytes (ByT5, BLT's local models), and for tests: with it every text has exactly one encoding, and
every cut of a character can happen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ..errors import UnknownToken

__all__ = ["ByteTokenizer"]

BYTES = 256


class ByteTokenizer:
    """Bytes as tokens, and these control tokens."""

    def __init__(self, control: Iterable[str] = ()) -> None:
        spellings = dict.fromkeys(control)
        self._control = MappingProxyType({spelling: BYTES + k for k, spelling in enumerate(spellings)})
        self._spelled = [spelling.encode() for spelling in spellings]

    @property
    def control(self) -> Mapping[str, int]:
        return self._control

    @property
    def size(self) -> int:
        return BYTES + len(self._spelled)

    def encode(self, text: str) -> list[int]:
        return list(text.encode("utf-8", "replace"))

    def token_bytes(self, token: int) -> bytes:
        if not 0 <= token < self.size:
            raise UnknownToken(token, self.size)
        return bytes([token]) if token < BYTES else self._spelled[token - BYTES]

    def normalize(self, text: str) -> str:
        return text.encode("utf-8", "replace").decode()
