"""Token ids to text, as they come: a character is given out once, when its last byte is there.

It is the text of the ids and nothing else: control tokens as they are spelled, no space added or dropped at either end,
and one U+FFFD for each maximal part of a character that is none (the WHATWG's way). Libraries differ there: those with
byte fallback write one U+FFFD for each byte of such a part, and SentencePiece's own decoding drops the space that its
own encoding has put in front, where ours puts none (see `sentencepiece`).
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Iterable
from weakref import WeakKeyDictionary, ref

from .protocol import Tokenizer

__all__ = ["TokenDecoder", "decode"]


class _Table(dict[int, bytes]):
    """The bytes of the tokens that were met so far; at most the vocabulary."""

    __slots__ = ("_tokenizer",)

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = ref(tokenizer)

    def __missing__(self, token: int) -> bytes:
        tokenizer = self._tokenizer()
        assert tokenizer is not None, "whoever has the table has the tokenizer"
        found = self[token] = tokenizer.token_bytes(token)
        return found


_tables: WeakKeyDictionary[Tokenizer, _Table] = WeakKeyDictionary()


class TokenDecoder:
    """Decodes ids that come in pieces; what comes out, joined, is what `decode` makes of all of them at once."""

    __slots__ = ("_rest", "_table", "_tokenizer")

    def __init__(self, tokenizer: Tokenizer) -> None:
        """A decoder at the beginning; the tokenizer must be hashable."""
        table = _tables.get(tokenizer)
        if table is None:
            table = _tables[tokenizer] = _Table(tokenizer)
        self._tokenizer, self._table, self._rest = tokenizer, table, b""

    def feed(self, ids: Iterable[int]) -> str:
        """The characters that are whole now; raises `UnknownToken`, and has then taken none of the ids."""
        table = self._table
        pending = self._rest + b"".join([table[token] for token in ids])
        text, used = utf_8_decode(pending, "replace", False)
        self._rest = pending[used:]
        return text

    def finish(self) -> str:
        """What is left: U+FFFD for a character that was not whole. The decoder is then at the beginning again."""
        rest, self._rest = self._rest, b""
        return rest.decode("utf-8", "replace")

    def copy(self) -> TokenDecoder:
        """Another decoder that goes on from here."""
        other = TokenDecoder(self._tokenizer)
        other._rest = self._rest
        return other


def decode(tokenizer: Tokenizer, ids: Iterable[int]) -> str:
    """The text of ids; raises `UnknownToken`."""
    decoder = TokenDecoder(tokenizer)
    return decoder.feed(ids) + decoder.finish()
