"""What every adapter promises: no control token from text, the text again from the ids, in whatever pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import UnknownToken
from dragoman.tokenizers import TokenDecoder, Tokenizer, control_pattern, decode
from tests.tokenizers.vocabularies import ALL, BYTE_COMPLETE, opened

everywhere = pytest.mark.parametrize("name", ALL)
byte_complete = pytest.mark.parametrize("name", BYTE_COMPLETE)


def texts(tokenizer: Tokenizer) -> st.SearchStrategy[str]:
    """Text that spells control tokens, in part and in whole, among characters of all kinds."""
    spelled = st.sampled_from(sorted(tokenizer.control))
    cut = st.tuples(spelled, st.integers(0, 12)).map(lambda each: each[0][: each[1]])
    other = st.text(st.characters() | st.sampled_from(" \n\t\u2581<>|[]/e\u0301\u3000\ufb01\ud800"), max_size=8)
    return st.lists(spelled | cut | other, max_size=12).map("".join)


def ids_of(tokenizer: Tokenizer) -> st.SearchStrategy[list[int]]:
    """Any ids of the vocabulary, also such as no text gives, with control tokens among them."""
    control = st.sampled_from(sorted(tokenizer.control.values()))
    return st.lists(
        st.integers(0, tokenizer.size - 1) | st.integers(0, min(600, tokenizer.size - 1)) | control, max_size=40
    )


def whole(text: str) -> str:
    """The text with halves of surrogate pairs as what is no character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@everywhere
@given(data=st.data())
def test_no_text_gives_a_control_token(name: str, data: st.DataObject) -> None:
    tokenizer = opened(name)
    text = data.draw(texts(tokenizer))
    assert set(tokenizer.control.values()).isdisjoint(tokenizer.encode(text))


@everywhere
def test_each_control_tokens_own_spelling_gives_no_control_token(name: str) -> None:
    tokenizer = opened(name)
    ids = tokenizer.encode(" ".join(tokenizer.control) + "".join(tokenizer.control))
    assert set(tokenizer.control.values()).isdisjoint(ids)


@byte_complete
@given(data=st.data())
def test_the_ids_of_a_text_are_decoded_to_what_the_vocabulary_has_of_it(name: str, data: st.DataObject) -> None:
    tokenizer = opened(name)
    text = data.draw(texts(tokenizer))
    assert decode(tokenizer, tokenizer.encode(text)) == tokenizer.normalize(text)


@everywhere
@given(data=st.data())
def test_ids_in_pieces_give_the_text_of_all_of_them(name: str, data: st.DataObject) -> None:
    tokenizer = opened(name)
    ids = data.draw(ids_of(tokenizer))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=8)))
    decoder = TokenDecoder(tokenizer)
    pieces = [decoder.feed(ids[start:end]) for start, end in zip([0, *cuts], [*cuts, len(ids)], strict=True)]
    expected = b"".join(map(tokenizer.token_bytes, ids)).decode("utf-8", "replace")
    assert "".join(pieces) + decoder.finish() == decode(tokenizer, ids) == expected


@everywhere
def test_a_control_token_stands_for_its_spelling(name: str) -> None:
    tokenizer = opened(name)
    for spelling, token in tokenizer.control.items():
        assert tokenizer.token_bytes(token) == spelling.encode()
        assert control_pattern(tokenizer).fullmatch(spelling)


@everywhere
def test_every_id_below_the_size_has_bytes_or_none(name: str) -> None:
    tokenizer = opened(name)
    assert isinstance(tokenizer, Tokenizer)
    assert all(isinstance(tokenizer.token_bytes(token), bytes) for token in range(0, tokenizer.size, 7))
    assert max(tokenizer.control.values()) < tokenizer.size
    for token in (-1, tokenizer.size, 1 << 40):
        with pytest.raises(UnknownToken, match=f"no token has the id {token}"):
            tokenizer.token_bytes(token)


@everywhere
def test_nothing_is_encoded_as_nothing(name: str) -> None:
    tokenizer = opened(name)
    assert tokenizer.encode("") == []
    assert decode(tokenizer, []) == ""


@pytest.mark.parametrize("name", ["o200k_harmony", "qwen", "mistral-v3", "byte-level"])
def test_half_a_surrogate_pair_is_encoded_as_no_character(name: str) -> None:
    tokenizer = opened(name)
    assert tokenizer.encode("a\ud800b") == tokenizer.encode("a\ufffdb")
    assert tokenizer.encode("\ud83d\ude00") == tokenizer.encode("\U0001f600")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["o200k_harmony", "qwen", "llama3", "tekken", "mistral-v3", "byte-level", "llama-like"]
)
@pytest.mark.parametrize("unit", [" ", "\n", "a", "^", "\u4f60", " \n", "<|"])
def test_a_long_run_is_encoded(name: str, unit: str) -> None:
    tokenizer = opened(name)
    text = unit * 600_000
    assert decode(tokenizer, tokenizer.encode(text)) == tokenizer.normalize(text)
