"""Bytes to text without cutting a character, and without losing a byte that is no character."""

from __future__ import annotations

import codecs
import re

__all__ = ["Utf8"]

_bad = re.compile("([\udc80-\udcff])")


class Utf8:
    """An incremental UTF-8 decoder: `feed` gives text and, behind each U+FFFD it had to put in, the byte at fault."""

    __slots__ = ("_decoder",)

    def __init__(self) -> None:
        # "surrogateescape" marks each undecodable byte by a code point that no valid UTF-8 has.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")

    def feed(self, chunk: bytes) -> list[str | bytes]:
        """The pieces that are complete; a character that is cut waits for the rest. Linear."""
        return self._pieces(self._decoder.decode(chunk))

    def finish(self) -> list[str | bytes]:
        """What is left of a character that never became one."""
        return self._pieces(self._decoder.decode(b"", final=True))

    @property
    def holds(self) -> bool:
        """Whether a part of a character waits for the rest."""
        return bool(self._decoder.getstate()[0])

    def copy(self) -> Utf8:
        """An independent decoder in the same state."""
        other = Utf8()
        other._decoder.setstate(self._decoder.getstate())
        return other

    @staticmethod
    def _pieces(text: str) -> list[str | bytes]:
        if text.isascii() or _bad.search(text) is None:
            return [text] if text else []
        pieces: list[str | bytes] = []
        for part in _bad.split(text):
            if _bad.fullmatch(part):
                pieces += ["\ufffd", bytes([ord(part) - 0xDC00])]
            elif part:
                pieces.append(part)
        return pieces
