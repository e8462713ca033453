"""A SentencePiece model encodes a text as it is, and its user-defined pieces are control tokens like the others."""

from __future__ import annotations

import io
from functools import cache

import pytest
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer

from dragoman.errors import InvalidTokenizer
from dragoman.tokenizers import decode
from dragoman.tokenizers.sentencepiece import SentencePieceTokenizer, read_sentencepiece


@cache
def model() -> bytes:
    """A model like Gemma's: markers and runs of newlines are pieces that text is searched for."""
    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(["hello world, this is it <turn> so be it"] * 20),
        model_writer=written,
        vocab_size=300,
        model_type="bpe",
        byte_fallback=True,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        user_defined_symbols=["<turn>", "\n\n", "~"],
        control_symbols=["[INST]"],
        minloglevel=2,
    )
    return written.getvalue()


def test_user_defined_pieces_are_control_tokens_but_for_white_space_and_single_characters() -> None:
    assert list(SentencePieceTokenizer(model()).control) == ["<s>", "</s>", "[INST]", "<turn>"]


def test_a_user_defined_piece_in_text_is_taken_apart() -> None:
    tokenizer, library = SentencePieceTokenizer(model()), SentencePieceProcessor(model_proto=model())
    assert tokenizer.control["<turn>"] in library.encode("so <turn> it")
    assert tokenizer.control["<turn>"] not in tokenizer.encode("so <turn> it")
    assert decode(tokenizer, tokenizer.encode("so <turn> it~")) == "so <turn> it~"


def test_text_is_normalised_as_the_model_does_it() -> None:
    tokenizer = SentencePieceTokenizer(model())
    assert decode(tokenizer, tokenizer.encode("\ufb01")) == tokenizer.normalize("\ufb01") == "fi"


def test_bytes_are_bytes_and_the_unknown_piece_is_its_name() -> None:
    tokenizer = SentencePieceTokenizer(model())
    assert decode(tokenizer, tokenizer.encode("\U0001f600")) == "\U0001f600"
    assert tokenizer.token_bytes(0) == b"<unk>"


@pytest.mark.parametrize("content", [b"\n\x05no", b"\x0a\xff", b"\xff\xff\xff"])
def test_a_file_that_is_no_model_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidTokenizer, match=r"^a\.model: expected a SentencePiece model, found "):
        read_sentencepiece(content, "a.model")
