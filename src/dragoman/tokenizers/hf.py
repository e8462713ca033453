"""The vocabularies of Hugging Face's tokenizers: a ``tokenizer.json``, its `Tokenizer`, or a fast one of transformers.

The library looks for added tokens in every text that it encodes, and no setting keeps it from those that are not called
special. So text goes to a twin (see `twins`) that does not know them, after the normaliser, and with the space in front
that some declarations want.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from ..errors import InvalidTokenizer, UnknownToken
from .control import broken
from .pieces import SPACE, pieces_of
from .text import scalar, stretches
from .twins import declaration, twin

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Fast

__all__ = ["HuggingFaceTokenizer", "Wrapped", "from_huggingface"]


class Wrapped(Protocol):
    """A fast tokenizer of transformers."""

    @property
    def backend_tokenizer(self) -> Fast:
        """What it wraps."""
        ...


class HuggingFaceTokenizer:
    """A `tokenizers.Tokenizer` behind the protocol.

    Control tokens are its added tokens, called special or not. None are those that are white space, or an ordinary
    single character, or what an unknown character becomes: they mark no structure, and text is made of them.
    """

    def __init__(self, fast: Fast) -> None:
        """Raises `InvalidTokenizer` if it decodes in a way that is not known token by token."""
        declared = declaration(fast)
        self.fast = fast
        self._twin = twin(fast, declared)
        self._prefixed = declared.prefixed
        self._spaced = not declared.byte_level
        self._pieces = pieces_of(declared.decoders)
        self._control = MappingProxyType({each.content: each.id for each in declared.control})
        self._spelled = {token: spelling for spelling, token in self._control.items()}
        ids = fast.get_vocab(with_added_tokens=True)
        self._texts = {token: text for text, token in ids.items()}
        kept = self._twin.get_added_tokens_decoder()
        self._moved = {token: ids[each.content] for token, each in kept.items()}
        self._size = max(self._texts, default=-1) + 1

    @property
    def control(self) -> Mapping[str, int]:
        return self._control

    @property
    def size(self) -> int:
        return self._size

    def encode(self, text: str) -> list[int]:
        pieces = stretches(self._written(text))
        return [token for piece in pieces for token in self._ordinary(piece)]

    def token_bytes(self, token: int) -> bytes:
        if not 0 <= token < self._size:
            raise UnknownToken(token, self._size)
        spelling = self._spelled.get(token)
        return spelling.encode() if spelling is not None else self._pieces(self._texts.get(token, ""))

    def normalize(self, text: str) -> str:
        text = self._written(text)
        return text.replace(SPACE, " ") if self._spaced else text

    def _written(self, text: str) -> str:
        """The text as the twin gets it."""
        text = scalar(text)
        if self.fast.normalizer is not None:
            text = self.fast.normalizer.normalize_str(text)
        return " " + text if self._prefixed and text and not text.startswith((" ", SPACE)) else text

    def _ordinary(self, text: str) -> list[int]:
        ids = self._twin.encode(text, add_special_tokens=False).ids
        if self._moved:
            ids = [self._moved.get(token, token) for token in ids]
        return ids if self._spelled.keys().isdisjoint(ids) else broken(ids, self._spelled, self._ordinary)


def from_huggingface(source: Fast | Wrapped | str | Path) -> HuggingFaceTokenizer:
    """The adapter for a tokenizer of the library, one of transformers that wraps it, or a ``tokenizer.json``.

    Raises `InvalidTokenizer` for what is none of these, or if the library is not installed.
    """
    try:
        from tokenizers import Tokenizer as Fast
    except ImportError as error:
        expected = "the package tokenizers, which reads it: pip install 'dragoman[tokenizers]'"
        raise InvalidTokenizer(str(source), expected, "no such package") from error
    if isinstance(source, str | Path):
        return HuggingFaceTokenizer(_read(Path(source)))
    fast = source if isinstance(source, Fast) else getattr(source, "backend_tokenizer", None)
    if not isinstance(fast, Fast):
        expected = "a fast tokenizer, or the path of a tokenizer.json"
        raise InvalidTokenizer(type(source).__name__, expected, "neither")
    return HuggingFaceTokenizer(fast)


def _read(path: Path) -> Fast:
    from tokenizers import Tokenizer as Fast

    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidTokenizer(str(path), "a file of text that can be read", str(error)) from error
    try:
        return Fast.from_str(content)
    except Exception as error:  # the library has no narrower class
        raise InvalidTokenizer(str(path), "a tokenizer.json", str(error)) from error
