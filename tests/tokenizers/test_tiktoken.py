"""Ranks, a pattern and control tokens make a tokenizer."""

from __future__ import annotations

import pytest

from dragoman.errors import InvalidTokenizer
from dragoman.tokenizers import decode
from dragoman.tokenizers.tiktoken import from_ranks, read_ranks

BYTES = {bytes([byte]): byte for byte in range(256)}


def test_a_hole_among_the_ids_stands_for_nothing() -> None:
    tokenizer = from_ranks("small", BYTES, r"\S+|\s+", {"<end>": 300})
    assert (tokenizer.size, tokenizer.token_bytes(299), tokenizer.token_bytes(300)) == (301, b"", b"<end>")


def test_text_goes_through_the_unicode_form() -> None:
    tokenizer = from_ranks("small", BYTES, r"\S+|\s+", {}, "NFC")
    assert decode(tokenizer, tokenizer.encode("a\u0301")) == tokenizer.normalize("a\u0301") == "\u00e1"


def test_a_rank_file_has_a_token_and_its_rank_a_line() -> None:
    assert read_ranks(b"IQ== 0\n\nIg== 1\n") == {b"!": 0, b'"': 1}
    with pytest.raises(InvalidTokenizer, match=r"^x, line 2: expected a token in base64 and its rank, found b'Ig=='$"):
        read_ranks(b"IQ== 0\nIg==\n", "x")


def test_ranks_that_do_not_belong_together_are_refused() -> None:
    with pytest.raises(InvalidTokenizer, match=r"^small: expected ranks, a pattern and control tokens that belong"):
        from_ranks("small", BYTES, r"(", {})
