"""A key that is never shown: not by ``repr``, not in a log, not by ``--print-config``.

It is given in words, or said where it stands: ``env:NAME`` is a variable of the environment, ``file:PATH`` a file.
"""

from __future__ import annotations

from collections.abc import Mapping
from hmac import compare_digest
from pathlib import Path

__all__ = ["HIDDEN", "Secret"]

HIDDEN = "(hidden)"
"""What is shown of a key that was given in words."""


class Secret:
    """A text that only `reveal` tells; ``said`` is how it was given, or `HIDDEN`."""

    __slots__ = ("_text", "said")

    def __init__(self, text: str, said: str = HIDDEN) -> None:
        self._text, self.said = text, said

    @classmethod
    def of(cls, word: str, environment: Mapping[str, str]) -> Secret:
        """The key that a word is or names; raises `ValueError` that says what was expected."""
        kind, colon, rest = word.partition(":")
        match kind if colon else "":
            case "env":
                text, said, wanted = environment.get(rest, ""), word, f"a variable {rest} in the environment"
            case "file":
                text, said, wanted = _first_line(Path(rest)), word, f"a file {rest} with the key as its only line"
            case _:
                text, said, wanted = word, HIDDEN, "a key"
        if not all("!" <= character <= "~" for character in text):  # it goes into a header
            text, wanted = "", "a key of visible ASCII characters"
        if not text:
            raise ValueError(wanted)
        return cls(text, said)

    def reveal(self) -> str:
        """The key itself, for whoever compares or sends it."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret({self.said!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and compare_digest(self._text, other._text)

    def __hash__(self) -> int:
        return hash(self._text)


def _first_line(path: Path) -> str:
    """What a file holds without the line feed that editors add; nothing if it can't be read or holds more."""
    try:
        text = path.read_text(encoding="utf-8").removesuffix("\n").removesuffix("\r")
    except (OSError, UnicodeDecodeError, ValueError):
        return ""
    return "" if "\n" in text else text
