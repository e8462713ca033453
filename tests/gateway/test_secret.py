"""Keys are told to whoever asks for them by `reveal`, and to nobody else."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from dragoman.gateway.secret import HIDDEN, Secret


def test_a_key_in_words_is_never_shown() -> None:
    secret = Secret.of("hunter2", {})
    assert secret.reveal() == "hunter2"
    assert "hunter2" not in f"{secret!r} {secret} {[secret]}"
    assert secret.said == HIDDEN


def test_a_variable_is_named_in_its_place() -> None:
    secret = Secret.of("env:KEY", {"KEY": "hunter2"})
    assert (secret.reveal(), secret.said) == ("hunter2", "env:KEY")
    assert "hunter2" not in repr(secret)


@pytest.mark.parametrize("content", ["hunter2", "hunter2\n", "hunter2\r\n"])
def test_a_file_is_read_without_its_last_line_feed(tmp_path: Path, content: str) -> None:
    file = tmp_path / "key"
    file.write_bytes(content.encode())
    assert Secret.of(f"file:{file}", {}).reveal() == "hunter2"


def test_a_file_must_hold_one_key(tmp_path: Path) -> None:
    file = tmp_path / "keys"
    file.write_text("a\nb\n")
    for path in (file, tmp_path / "none", tmp_path):
        with pytest.raises(ValueError, match="as its only line"):
            Secret.of(f"file:{path}", {})


def test_a_variable_that_is_empty_is_no_key() -> None:
    for environment in ({}, {"KEY": ""}):
        with pytest.raises(ValueError, match="a variable KEY in the environment"):
            Secret.of("env:KEY", environment)


@pytest.mark.parametrize("word", ["two words", "ключ", "line\nfeed", "\x7f"])
def test_what_no_header_can_carry_is_no_key(word: str) -> None:
    with pytest.raises(ValueError, match="visible ASCII"):
        Secret.of(word, {})


def test_a_colon_may_be_part_of_a_key() -> None:
    assert Secret.of("sk:123", {}).reveal() == "sk:123"


def test_keys_are_equal_by_what_they_are() -> None:
    one, other = Secret.of("a", {}), Secret.of("env:A", {"A": "a"})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Secret.of("b", {})
    assert one != "a"


def test_a_key_goes_to_a_child_whole() -> None:
    secret = pickle.loads(pickle.dumps(Secret.of("env:A", {"A": "a"})))
    assert (secret.reveal(), secret.said) == ("a", "env:A")
