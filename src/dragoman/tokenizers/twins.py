"""A ``tokenizer.json`` as declared, and its twin: the same vocabulary, which knows no control token.

The twin does not normalise and puts nothing in front of a text; its owner has done both. Where a declaration puts a
space in front of the beginning of a prompt only (``first``), no text gets one: in a rendered prompt, a control token
stands there. Source: the JSON that the library itself writes, `Tokenizer.to_str`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import Raw, Struct

from ..errors import InvalidTokenizer
from .pieces import BYTE_LEVEL, SPACE, Declared, parts

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Fast

__all__ = ["Added", "Declaration", "Model", "declaration", "twin"]

Json: TypeAlias = dict[str, object]


class Added(Struct, frozen=True):
    """An added token."""

    id: int
    content: str
    special: bool

    @property
    def blank(self) -> bool:
        """Whether it is white space, as it is or as vocabularies write it."""
        return not self.content.replace(SPACE, " ").strip()


class Model(Struct, frozen=True):
    """The vocabulary itself, of which little needs to be read."""

    vocab: Raw
    unk_token: str | None = None
    unk_id: int | None = None
    byte_fallback: bool = False
    dropout: float | None = None

    @property
    def unknown(self) -> str | None:
        """What a character becomes that is nowhere in the vocabulary; none if it has all bytes."""
        if self.byte_fallback:
            return None
        if self.unk_id is not None:
            return msgspec.json.decode(self.vocab, type=list[tuple[str, float]])[self.unk_id][0]
        return self.unk_token


class Declaration(Struct, frozen=True):
    """The parts of a ``tokenizer.json`` that matter to what text and tokens are."""

    added_tokens: list[Added]
    pre_tokenizer: Json | None
    decoder: Json | None
    model: Model

    @property
    def decoders(self) -> list[Declared]:
        """What turns tokens into text; byte-level vocabularies may leave it to their pre-tokenizer to say so."""
        return list(parts(self.decoder or self.pre_tokenizer))

    @property
    def byte_level(self) -> bool:
        """Whether the characters of a token are bytes."""
        return any(step["type"] == BYTE_LEVEL for step in self.decoders)

    @property
    def prefixed(self) -> bool:
        """Whether every text that does not begin with a space gets one, by the first thing that is done to it."""
        match next(parts(self.pre_tokenizer), None):
            case {"type": "Metaspace", "prepend_scheme": "always"} | {"type": "ByteLevel", "add_prefix_space": True}:
                return True
        return False

    @property
    def control(self) -> list[Added]:
        """The added tokens that mark structure, by their ids."""
        unknown = None if self.byte_level else self.model.unknown
        marks = [
            each
            for each in self.added_tokens
            if not each.blank and (each.special or len(each.content) > 1) and each.content != unknown
        ]
        return sorted(marks, key=lambda each: each.id)


def declaration(fast: Fast) -> Declaration:
    """What a tokenizer declares; raises `InvalidTokenizer` if it encodes at random."""
    declared = msgspec.json.decode(fast.to_str(), type=Declaration)
    if declared.model.dropout:
        raise InvalidTokenizer("tokenizer.json", "a model without dropout", f"dropout {declared.model.dropout}")
    return declared


def twin(fast: Fast, declared: Declaration) -> Fast:
    """A tokenizer with the same model and the same way to split text.

    Added tokens of white space stay, for text is made of them; their ids may be others.
    """
    from tokenizers import Tokenizer as Fast

    blank = {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
    other = Fast.from_str(msgspec.json.encode({**blank, "pre_tokenizer": _unprefixed(declared.pre_tokenizer)}).decode())
    other.model = fast.model
    other.add_tokens([each for _, each in sorted(fast.get_added_tokens_decoder().items()) if each.content.isspace()])
    return other


def _unprefixed(declared: Json | None) -> Json | None:
    """A pre-tokenizer that puts no space in front of a text; what does so to every word is left alone."""
    if declared is None:
        return None
    match declared["type"], declared.get("pretokenizers"):
        case "Sequence", [dict(first), *others]:
            return {**declared, "pretokenizers": [_unprefixed(first), *others]}
        case "Metaspace", _:
            return {**declared, "prepend_scheme": "never"}
        case "ByteLevel", _:
            return {**declared, "add_prefix_space": False}
    return declared
