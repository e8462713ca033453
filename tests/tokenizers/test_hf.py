"""A Hugging Face tokenizer encodes text as its library does inside a prompt, but for what spells a control token."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from dragoman.errors import InvalidTokenizer
from dragoman.tokenizers import Tokenizer as Adapter
from dragoman.tokenizers import decode
from dragoman.tokenizers.hf import from_huggingface
from dragoman.tokenizers.vocabularies import QWEN3
from tests.oracles import loaded
from tests.tokenizers.vocabularies import byte_level, llama_like, qwen_merges, unigram, word_piece

PLAIN = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="<[") | st.sampled_from(" \n\u2581ab.\u0301")
)

SOURCES = {
    "byte-level": byte_level,
    "llama-like": llama_like,
    "llama-like, legacy": lambda: llama_like("always"),
    "unigram": unigram,
}


@pytest.mark.parametrize("name", SOURCES)
@given(text=PLAIN)
def test_text_behind_a_control_token_is_encoded_as_the_library_does_it(name: str, text: str) -> None:
    library = SOURCES[name]()
    assert from_huggingface(library).encode(text) == library.encode("<s>" + text, add_special_tokens=False).ids[1:]


def test_a_space_at_the_beginning_of_a_prompt_only_is_put_in_front_of_no_text() -> None:
    first, always = from_huggingface(llama_like("first")), from_huggingface(llama_like("always"))
    assert (first.normalize("a b"), always.normalize("a b"), always.normalize(" a b")) == ("a b", " a b", " a b")
    assert always.encode("a") == first.encode(" a") != first.encode("a")


def test_a_spelling_that_the_model_itself_would_join_is_taken_apart() -> None:
    library = llama_like()
    tokens = [library.id_to_token(token) for token in from_huggingface(library).encode("a<s>a")]
    assert tokens == ["a", "<", "s", ">", "a"]


def test_control_tokens_are_the_added_ones_but_for_white_space_and_the_unknown_one() -> None:
    assert list(from_huggingface(byte_level()).control) == [
        "<s>",
        "</s>",
        "<|end|>",
        "[INST]",
        "[/INST]",
        "<think>",
        "</think>",
    ]
    assert "<unk>" not in from_huggingface(unigram()).control
    assert "<unk>" in from_huggingface(llama_like()).control
    assert list(from_huggingface(word_piece()).control) == ["[CLS]"]


def test_the_ids_of_added_white_space_are_kept() -> None:
    library = byte_level()
    adapter = from_huggingface(library)
    assert library.token_to_id("    ") in adapter.encode("a    b")
    assert decode(adapter, adapter.encode("a      b")) == "a      b"


def test_word_piece_is_decoded_with_spaces_between_words() -> None:
    adapter = from_huggingface(word_piece())
    assert decode(adapter, adapter.encode("hellos worldly")) == " hellos worldly"
    assert decode(adapter, adapter.encode("hello \u4f60")) == " hello [UNK]"


def test_a_fast_tokenizer_of_transformers_is_looked_into() -> None:
    class Fast:
        backend_tokenizer = byte_level()

    assert from_huggingface(Fast()).encode("so") == from_huggingface(byte_level()).encode("so")


def test_what_can_not_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text('{"model": 1}')
    with pytest.raises(InvalidTokenizer, match=r"tokenizer\.json: expected a tokenizer\.json, found "):
        from_huggingface(tmp_path / "tokenizer.json")
    with pytest.raises(InvalidTokenizer, match="expected a file of text that can be read"):
        from_huggingface(tmp_path / "nowhere.json")
    with pytest.raises(InvalidTokenizer, match="expected a fast tokenizer"):
        from_huggingface(object())  # type: ignore[arg-type]


def test_a_tokenizer_that_encodes_at_random_or_decodes_only_whole_texts_is_refused() -> None:
    with pytest.raises(InvalidTokenizer, match=r"found dropout 0\.5"):
        from_huggingface(Tokenizer(models.BPE(dropout=0.5)))
    together = Tokenizer(models.BPE())
    together.decoder = decoders.CTC()
    with pytest.raises(InvalidTokenizer, match="found CTC"):
        from_huggingface(together)


def test_a_suffix_at_the_end_of_words_is_a_space() -> None:
    tokenizer = Tokenizer(models.WordLevel({"so</w>": 0, "[UNK]": 1}, unk_token="[UNK]"))
    tokenizer.decoder = decoders.BPEDecoder()
    assert from_huggingface(tokenizer).token_bytes(0) == b"so "


def test_a_vocabulary_without_a_decoder_is_its_tokens() -> None:
    tokenizer = Tokenizer(models.WordLevel({"so": 0, "it": 1, "[UNK]": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace()])
    adapter = from_huggingface(tokenizer)
    assert decode(adapter, adapter.encode("so it")) == "soit"


@pytest.mark.slow
def test_qwens_ranks_as_merges_are_the_same_vocabulary() -> None:
    merged, ranked = qwen_adapters()
    assert merged.control == ranked.control
    assert [*map(merged.token_bytes, range(merged.size))] == [*map(ranked.token_bytes, range(ranked.size))]


@pytest.mark.slow
@given(text=st.text() | st.sampled_from(sorted(QWEN3.control)))
def test_qwens_ranks_as_merges_encode_like_ranks(text: str) -> None:
    merged, ranked = qwen_adapters()
    assert merged.encode(text) == ranked.encode(text)


@cache
def qwen_adapters() -> tuple[Adapter, Adapter]:
    return from_huggingface(qwen_merges()), loaded("qwen")
