"""What a token of a vocabulary stands for, by the decoders that a ``tokenizer.json`` declares for it.

Three ways are common: byte-level, where each character of a token's text is a byte (GPT-2's table); spelled, where
U+2581 is a space and ``<0x0A>`` may be a byte; and WordPiece, where a token begins a word unless it says otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from ..errors import InvalidTokenizer

__all__ = ["BYTE_LEVEL", "SPACE", "Declared", "Pieces", "parts", "pieces_of"]

Declared: TypeAlias = Mapping[str, object]
"""An object of a ``tokenizer.json``."""

Pieces: TypeAlias = Callable[[str], bytes]
"""The bytes of a token's text."""

BYTE_LEVEL = "ByteLevel"

SPACE = "\u2581"
"""How vocabularies of characters write a space."""

BYTE = re.compile(r"<0x([0-9A-Fa-f]{2})>")

TOGETHER = frozenset({"CTC"})
"""Decoders to which a token means something else beside another one."""


def parts(declared: object) -> Iterator[Declared]:
    """A normalizer, pre-tokenizer or decoder, or those in a sequence of them."""
    if not isinstance(declared, Mapping):
        return
    if declared.get("type") != "Sequence":
        yield declared
        return
    for key in ("normalizers", "pretokenizers", "decoders"):
        inside = declared.get(key)
        for part in inside if isinstance(inside, list) else ():
            yield from parts(part)


def pieces_of(steps: Sequence[Declared]) -> Pieces:
    """How tokens are read that are decoded in these steps; raises `InvalidTokenizer` if it takes more than the one."""
    if any(step["type"] == BYTE_LEVEL for step in steps):
        return byte_level
    spellings: list[tuple[str, str]] = []
    byte_fallback = False
    for step in steps:
        match step:
            case {"type": "Metaspace", "replacement": str(written)}:
                spellings.append((written, " "))
            case {"type": "Replace", "pattern": {"String": str(written)}, "content": str(content)}:
                spellings.append((written, content))
            case {"type": "BPEDecoder", "suffix": str(suffix)}:
                spellings.append((suffix, " "))
            case {"type": "ByteFallback"}:
                byte_fallback = True
            case {"type": "WordPiece", "prefix": str(prefix)}:
                return lambda text: (text.removeprefix(prefix) if text.startswith(prefix) else " " + text).encode()
            case {"type": str(kind)} if kind in TOGETHER:
                raise InvalidTokenizer("tokenizer.json", "a decoder that reads token by token", kind)
            case _:
                pass
    return _spelled(spellings, byte_fallback)


def _spelled(spellings: Sequence[tuple[str, str]], byte_fallback: bool) -> Pieces:
    """Tokens that are written as text but for some spellings, and for bytes in hexadecimal if there are any."""

    def read(text: str) -> bytes:
        byte = BYTE.fullmatch(text) if byte_fallback else None
        if byte:
            return bytes.fromhex(byte[1])
        for written, meant in spellings:
            text = text.replace(written, meant)
        return text.encode()

    return read


def byte_level(text: str) -> bytes:
    """A token whose characters are bytes; one with any other character is an added token, which stands for itself."""
    try:
        return bytes([BYTES[character] for character in text])
    except KeyError:
        return text.encode()


def _bytes() -> dict[str, int]:
    """GPT-2's table: printable bytes of Latin-1 are their own characters, the others come behind U+0100 in order."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(0x100) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(0x100 + at): byte for at, byte in enumerate(others)}


BYTES = _bytes()
