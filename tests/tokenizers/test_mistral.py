"""Mistral's vocabularies give the ids that mistral-common gives."""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.sentencepiece import SentencePieceTokenizer
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from dragoman.errors import InvalidTokenizer
from dragoman.tokenizers import decode
from dragoman.tokenizers.mistral import from_mistral, read_tekken
from tests.oracles import vocabulary_path
from tests.tokenizers.vocabularies import opened


@cache
def tekkenizer() -> Tekkenizer:
    return Tekkenizer.from_file(vocabulary_path("tekken"))


@cache
def sentencepiece(name: str) -> SentencePieceTokenizer:
    return SentencePieceTokenizer(vocabulary_path(name))


@given(text=st.text())
def test_tekken_encodes_as_mistral_common_does(text: str) -> None:
    assert opened("tekken").encode(text) == tekkenizer().encode(text, bos=False, eos=False)


def test_tekken_has_the_control_tokens_of_mistral_common() -> None:
    adapter, library = opened("tekken"), tekkenizer()
    assert adapter.size == library.n_words
    assert set(adapter.control.values()) == library.special_ids
    assert list(adapter.control) == [library.id_to_piece(token) for token in sorted(library.special_ids)]


@given(ids=st.lists(st.integers(0, 131071), max_size=20))
def test_tekken_stands_for_the_bytes_of_mistral_common(ids: list[int]) -> None:
    keep = SpecialTokenPolicy.KEEP
    expected = b"".join(tekkenizer().id_to_byte_piece(token, keep) for token in ids)
    assert decode(opened("tekken"), ids) == expected.decode("utf-8", "replace")


@pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3"])
@given(text=st.text(min_size=1))
def test_a_space_and_a_text_are_what_sentencepiece_makes_of_the_text(name: str, text: str) -> None:
    assert opened(name).encode(" " + text) == sentencepiece(name).encode(text, bos=False, eos=False)


@pytest.mark.parametrize("name", ["mistral-v1", "mistral-v3"])
@given(text=st.text(min_size=1))
def test_sentencepieces_own_decoding_is_ours_without_the_first_space(name: str, text: str) -> None:
    ids = opened(name).encode(" " + text)
    assert decode(opened(name), ids) == " " + sentencepiece(name).decode(ids)


def test_a_tokenizer_of_mistral_common_is_read_from_its_file() -> None:
    library = MistralTokenizer.from_file(str(vocabulary_path("mistral-v7")))
    adapter = from_mistral(library)
    assert adapter.control["[SYSTEM_PROMPT]"] == library.instruct_tokenizer.tokenizer.get_special_token(
        "[SYSTEM_PROMPT]"
    )
    assert from_mistral(tekkenizer()).control == opened("tekken").control
    with pytest.raises(InvalidTokenizer, match="expected a tokenizer whose file is there"):
        from_mistral(object())  # type: ignore[arg-type]


def test_a_tekken_file_may_name_its_control_tokens() -> None:
    vocab = [{"rank": byte, "token_bytes": base64.b64encode(bytes([byte])).decode()} for byte in range(256)]
    config = {"pattern": ".", "default_vocab_size": 258, "default_num_special_tokens": 3}
    special = [{"rank": 0, "token_str": "<unk>"}, {"rank": 1, "token_str": "[THINK]"}]
    content = json.dumps({"config": config, "vocab": vocab, "special_tokens": special}).encode()
    adapter = read_tekken(content, "tekken.json")
    assert adapter.control == {"<unk>": 0, "[THINK]": 1, "<SPECIAL_2>": 2}
    assert adapter.encode("a") == [3 + ord("a")]
    assert adapter.size == 258


def test_a_file_that_is_no_tekken_is_refused() -> None:
    with pytest.raises(InvalidTokenizer, match=r"^x/tekken\.json: expected a tekken\.json, found .*config"):
        read_tekken(b'{"vocab": []}', str(Path("x/tekken.json")))
