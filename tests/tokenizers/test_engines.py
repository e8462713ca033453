"""Tokenizers as engines want them: the bytes of every token, and which of them end an output."""

from __future__ import annotations

import sys

import pytest

from dragoman.errors import InvalidTokenizer
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.tokenizers.engines import llguidance_tokenizer, xgrammar_tokenizer

MARKED = ByteTokenizer(("<|end|>", "<call>", "<|other|>"))


@pytest.mark.slow  # to import xgrammar takes seconds, in a process that has nothing else to do with it
def test_xgrammar_is_told_the_bytes_of_tokens_and_the_spellings_of_markers() -> None:
    pytest.importorskip("xgrammar")
    told = xgrammar_tokenizer(MARKED, [256], markers=["<call>"])
    assert told.decoded_vocab[97] == b"a"
    assert told.decoded_vocab[257:] == [b"<call>", b""]
    assert list(told.stop_token_ids) == [256]
    assert xgrammar_tokenizer(MARKED, [256]).decoded_vocab[258] == b"<|other|>"


def test_llguidance_is_told_that_control_tokens_are_no_text() -> None:
    pytest.importorskip("llguidance")
    told = llguidance_tokenizer(MARKED, [256, 258])
    assert told.vocab_size == MARKED.size
    assert list(told.eos_tokens) == [256, 258]
    assert told.is_special_token(257)
    assert told.tokenize_str("é<call>") == MARKED.encode("é<call>")


def test_an_engine_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with pytest.raises(InvalidTokenizer, match=r"dragoman\[xgrammar\]"):
        xgrammar_tokenizer(MARKED, [256])
    with pytest.raises(InvalidTokenizer, match=r"dragoman\[llguidance\]"):
        llguidance_tokenizer(MARKED, [256])
