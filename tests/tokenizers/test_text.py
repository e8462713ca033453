"""Text is cut inside a run of white space that is too long, and nowhere else."""

from __future__ import annotations

import pytest

from dragoman.tokenizers.text import LONGEST_RUN, scalar, stretches
from tests.tokenizers.vocabularies import opened


@pytest.mark.parametrize("text", ["", "a" * 100_000, "a " * 50_000, " " * LONGEST_RUN])
def test_text_without_such_a_run_is_one_piece(text: str) -> None:
    assert [piece for piece in stretches(text) if piece] == [text] * bool(text)


def test_a_long_run_is_cut_and_nothing_is_lost() -> None:
    text = "a" + " " * (3 * LONGEST_RUN + 5) + "b"
    assert [len(piece) for piece in stretches(text)] == [LONGEST_RUN + 1, LONGEST_RUN, LONGEST_RUN, 6]
    assert "".join(stretches(text)) == text


def test_a_cut_leaves_the_ids_of_a_run_as_they_are() -> None:
    tokenizer = opened("o200k_harmony")
    run = tokenizer.encode(" " * LONGEST_RUN)
    assert tokenizer.encode(" " * (2 * LONGEST_RUN)) == run + run
    assert len(set(run)) == 1


def test_halves_of_a_character_are_joined_or_replaced() -> None:
    assert scalar("\ud83d\ude00 \ud83d") == "\U0001f600 \ufffd"
