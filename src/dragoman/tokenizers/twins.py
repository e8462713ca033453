"""A ``tokenizer.json`` as declared, and its twin: the same vocabulary, which knows no control token.

The twin does not normalise and puts nothing in front of a text; its owner has done both. Where a declaration puts a
space in front of the beginning of a prompt only (``first``), no text gets one, for a rendered prompt has a control token
there. Source: the JSON that the library itself writes, `Tokenizer.to_str`.
"""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from .pieces import BYTE_LEVEL, SPACE, Declared, parts

__all__ = ["Added", "Declaration"]

Json: TypeAlias = dict[str, object]


class Added(Struct, frozen=True):
    """An added token."""

    id: int
    content: str
    special: bool
    single_word: bool
    lstrip: bool
    rstrip: bool
    normalized: bool

    @property
    def blank(self) -> bool:
        """Whether it is white space, as it is or as vocabularies write it."""
        return not self.content.replace(SPACE, " ").strip()


class Declaration(Struct, frozen=True):
    """The parts of a ``tokenizer.json`` that matter to what text and tokens are."""

    added_tokens: list[Added]
    pre_tokenizer: Json | None
    decoder: Json | None
    model: Json
    version: str = "1.0"

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
    def unknown(self) -> str | None:
        """What a character becomes that the vocabulary does not have; none if it has all bytes."""
        if self.byte_level or self.model.get("byte_fallback"):
            return None
        vocabulary, at = self.model.get("vocab"), self.model.get("unk_id")
        if isinstance(vocabulary, list) and isinstance(at, int):
            return str(vocabulary[at][0])
        unknown = self.model.get("unk_token")
        return unknown if isinstance(unknown, str) else None

    @property
    def control(self) -> list[Added]:
        """The added tokens that mark structure, by their ids."""
        marks = [
            each
            for each in self.added_tokens
            if not each.blank and (each.special or len(each.content) > 1) and each.content != self.unknown
        ]
        return sorted(marks, key=lambda each: each.id)

    def twin(self) -> Json:
        """The twin's JSON. Added tokens of white space stay; the model has them too, so that they keep their ids."""
        model = dict(self.model)
        vocabulary = model.get("vocab")
        kept = [each for each in self.added_tokens if each.content.isspace()] if isinstance(vocabulary, dict) else []
        if kept and isinstance(vocabulary, dict):
            model["vocab"] = {**vocabulary, **{each.content: each.id for each in kept}}
        if "dropout" in model:
            model["dropout"] = None
        return {
            "version": self.version,
            "truncation": None,
            "padding": None,
            "added_tokens": kept,
            "normalizer": None,
            "pre_tokenizer": self.pre_tokenizer and _unprefixed(self.pre_tokenizer),
            "post_processor": None,
            "decoder": None,
            "model": model,
        }


def _unprefixed(declared: Json, first: bool = True) -> Json:
    """A pre-tokenizer that puts no space in front of a text; what does so to every word is left alone."""
    match declared:
        case {"type": "Sequence", "pretokenizers": list(inside)}:
            return {**declared, "pretokenizers": [_unprefixed(each, at == 0) for at, each in enumerate(inside)]}
        case {"type": "Metaspace"} if first:
            return {**declared, "prepend_scheme": "never"}
        case {"type": "ByteLevel"} if first:
            return {**declared, "add_prefix_space": False}
    return declared
