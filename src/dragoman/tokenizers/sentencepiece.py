"""The vocabularies of SentencePiece: a ``tokenizer.model``, or Mistral's ``tokenizer.model.v3`` and the like.

SentencePiece puts a space in front of what it encodes and drops it where it decodes, so that the beginning of a text
and the middle of one look the same to the model. In a conversation that is a space in front of every piece that is
encoded on its own. Here no space comes or goes: text is encoded as it is, and the layout of the conversation has the
spaces, as the chat templates of these models do. What the library makes of a text is what is made here of a space and
the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from ..errors import InvalidTokenizer, UnknownToken
from .control import broken
from .pieces import SPACE
from .text import scalar

if TYPE_CHECKING:
    from sentencepiece import SentencePieceProcessor

__all__ = ["SentencePieceTokenizer", "read_sentencepiece"]

NO_SPACE_IN_FRONT = b"\x1a\x02\x18\x00"
"""Of the message ModelProto: ``normalizer_spec { add_dummy_prefix: false }``. What comes last in a message prevails."""

USER_DEFINED = 4
"""The type of a piece that text is searched for first of all."""


class SentencePieceTokenizer:
    """A SentencePiece model behind the protocol.

    Control tokens are its control pieces, and the user-defined ones that are neither white space nor one character.
    """

    def __init__(self, model: bytes) -> None:
        """The bytes of a model; raises `RuntimeError` if they are none."""
        from sentencepiece import SentencePieceProcessor

        self.processor: SentencePieceProcessor = SentencePieceProcessor(model_proto=model + NO_SPACE_IN_FRONT)
        ids = range(self.processor.vocab_size())
        pieces = [self.processor.id_to_piece(token) for token in ids]
        marks = (token for token, kind in enumerate(_types(model)) if kind == USER_DEFINED and _is_mark(pieces[token]))
        control = sorted({*marks, *filter(self.processor.is_control, ids)})
        self._control = MappingProxyType({pieces[token]: token for token in control})
        self._spelled = {token: pieces[token] for token in control}
        self._bytes = [self._read(token, piece) for token, piece in enumerate(pieces)]

    @property
    def control(self) -> Mapping[str, int]:
        return self._control

    @property
    def size(self) -> int:
        return len(self._bytes)

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.processor.encode(scalar(text))
        return ids if self._spelled.keys().isdisjoint(ids) else broken(ids, self._spelled, self.encode)

    def token_bytes(self, token: int) -> bytes:
        if not 0 <= token < self.size:
            raise UnknownToken(token, self.size)
        return self._bytes[token]

    def normalize(self, text: str) -> str:
        normal: str = self.processor.normalize(scalar(text))
        return normal.replace(SPACE, " ")

    def _read(self, token: int, piece: str) -> bytes:
        if token in self._spelled:
            return piece.encode()
        return bytes.fromhex(piece[3:5]) if self.processor.is_byte(token) else piece.replace(SPACE, " ").encode()


def read_sentencepiece(content: bytes, path: str) -> SentencePieceTokenizer:
    """The tokenizer of a model's file; raises `InvalidTokenizer` if it is none, or if the library is not installed."""
    try:
        return SentencePieceTokenizer(content)
    except ImportError as error:
        expected = "the package sentencepiece, which reads it: pip install 'dragoman[sentencepiece]'"
        raise InvalidTokenizer(path, expected, "no such package") from error
    except (RuntimeError, ValueError, IndexError) as error:
        raise InvalidTokenizer(path, "a SentencePiece model", str(error)) from error


def _is_mark(piece: str) -> bool:
    return len(piece) > 1 and bool(piece.replace(SPACE, " ").strip())


def _types(model: bytes) -> Iterator[int]:
    """The types of the pieces in their order: field 3, normal if there is none, of each field 1 of the message."""
    for number, value in _fields(model):
        if number == 1 and isinstance(value, bytes):
            kinds = [kind for inner, kind in _fields(value) if inner == 3 and isinstance(kind, int)]
            yield kinds[-1] if kinds else 1


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message: numbers of the wire types 0, bytes of all others."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield number, value
            continue
        if kind == 2:
            length, at = _varint(message, at)
        else:
            length = {1: 8, 5: 4}[kind]
        yield number, message[at : at + length]
        at += length


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and where it ends."""
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at
