"""What the rest of the package asks of a tokenizer; the adapters beside this file give it.

The text that `encode` takes is ordinary text: whatever it spells, no control token comes of it. Control tokens are
put in by their ids, which `control` tells.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

__all__ = ["Tokenizer"]


@runtime_checkable
class Tokenizer(Protocol):
    """A vocabulary, in which every id below `size` stands for some bytes or for nothing at all."""

    @property
    def control(self) -> Mapping[str, int]:
        """The ids of all added tokens by spelling: those that mark structure, called special or not."""
        ...

    @property
    def size(self) -> int:
        """One more than the largest id."""
        ...

    def encode(self, text: str) -> list[int]:
        """The ids of ordinary text, none of which is a control token; linear in it."""
        ...

    def token_bytes(self, token: int) -> bytes:
        """The bytes that an id stands for, a control token's being its spelling; raises `UnknownToken`."""
        ...

    def normalize(self, text: str) -> str:
        """The text as the vocabulary has it: what decoding its ids gives back."""
        ...
