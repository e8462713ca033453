"""Ids are decoded as they come, and no character is cut."""

from __future__ import annotations

import gc
from weakref import ref

import pytest

from dragoman.errors import UnknownToken
from dragoman.tokenizers import TokenDecoder, decode
from dragoman.tokenizers.tiktoken import from_ranks

BYTES = from_ranks("bytes", {bytes([byte]): byte for byte in range(256)}, r"\S+|\s+", {"<end>": 256})


def test_a_character_comes_with_its_last_byte() -> None:
    decoder = TokenDecoder(BYTES)
    assert [decoder.feed([byte]) for byte in "a\u00e9\u4f60".encode()] == ["a", "", "\u00e9", "", "", "\u4f60"]
    assert decoder.finish() == ""


def test_what_never_becomes_a_character_is_one_sign_for_each_maximal_part() -> None:
    assert decode(BYTES, [0xE4, 0xBD, ord("a"), 0xFF, 0xFF, 0xE4, 0xBD]) == "\ufffda\ufffd\ufffd\ufffd"


def test_a_control_token_ends_a_character_that_is_not_whole() -> None:
    decoder = TokenDecoder(BYTES)
    assert decoder.feed([0xE4, 0xBD]) + decoder.feed([256]) == "\ufffd<end>"


def test_after_finish_a_decoder_is_at_the_beginning() -> None:
    decoder = TokenDecoder(BYTES)
    assert decoder.feed([0xE4]) + decoder.finish() == "\ufffd"
    assert decoder.feed([0xBD]) == "\ufffd"


def test_a_copy_goes_its_own_way() -> None:
    decoder = TokenDecoder(BYTES)
    decoder.feed([0xC3])
    other = decoder.copy()
    assert (decoder.feed([0xA9]), other.feed([0xA8]), other.finish()) == ("\u00e9", "\u00e8", "")


def test_an_id_that_is_not_there_leaves_the_decoder_as_it_was() -> None:
    decoder = TokenDecoder(BYTES)
    decoder.feed([0xC3])
    with pytest.raises(UnknownToken, match="no token has the id 257"):
        decoder.feed([0xA9, 257])
    assert decoder.feed([0xA9]) == "\u00e9"


def test_a_decoders_table_does_not_keep_its_tokenizer() -> None:
    tokenizer = from_ranks("bytes", {bytes([byte]): byte for byte in range(256)}, r"\S+|\s+", {})
    decode(tokenizer, [97])
    gone = ref(tokenizer)
    del tokenizer
    gc.collect()
    assert gone() is None
