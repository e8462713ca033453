"""The spellings of control tokens are found in text, the longest first, and each tokenizer's pattern is made once."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from dragoman.tokenizers import control_pattern
from dragoman.tokenizers.control import one_of
from tests.tokenizers.vocabularies import opened


def test_the_longest_spelling_is_found() -> None:
    assert one_of(["<a", "<a>", "<ab>", "b"]).findall("<a><ab><ac<b") == ["<a>", "<ab>", "<a", "b"]


@given(spellings=st.lists(st.text("<|ab>.*", min_size=1, max_size=5)), text=st.text("<|ab>.*", max_size=30))
def test_it_finds_what_a_plain_list_would(spellings: list[str], text: str) -> None:
    plain = "|".join(map(re.escape, sorted(spellings, key=len, reverse=True))) or "(?!)"
    assert one_of(spellings).findall(text) == re.findall(plain, text)


def test_no_spellings_find_nothing() -> None:
    assert one_of([]).search("<s>") is one_of([""]).search("") is None


def test_a_tokenizers_pattern_is_made_once() -> None:
    tokenizer = opened("o200k_harmony")
    assert control_pattern(tokenizer) is control_pattern(tokenizer)
    assert control_pattern(tokenizer).findall("<|start|>x<|reserved_200010|><|reserved_9|>") == [
        "<|start|>",
        "<|reserved_200010|>",
    ]
