"""One way in for all that can tell a dialect."""

from __future__ import annotations

from pathlib import Path

import pytest

from dragoman.errors import InvalidTokenizer, UnknownDialect, Unrecognised
from dragoman.recognise import Certainty, recognise


def test_a_name_goes_before_a_folder_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hermes").mkdir()
    (tmp_path / "hermes" / "chat_template.jinja").write_text("[TOOL_CALLS]", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert recognise("hermes").dialect.name == "hermes"
    assert recognise("./hermes").dialect.name == "mistral_pre_v11"


def test_the_weights_of_a_model_are_known_by_their_name(tmp_path: Path) -> None:
    file = tmp_path / "Qwen3-Coder-Next-Q4_K_M.gguf"
    file.write_bytes(b"GGUF")
    assert recognise(str(file)).dialect.name == "qwen3_coder"


def test_a_text_that_looks_like_a_template_is_one() -> None:
    assert recognise("[TOOL_CALLS]\n").certainty is Certainty.STRONG
    assert recognise("x" * 5000 + "[TOOL_CALLS]").dialect.name == "mistral_pre_v11"


@pytest.mark.parametrize("what", ["", "\0", "y" * 300, "a/" * 200, "acme/hermse"])
def test_what_tells_nothing_is_refused(what: str) -> None:
    with pytest.raises(Unrecognised) as caught:
        recognise(what)
    assert caught.value.tried == ("name", "file", "model id")


def test_a_name_that_is_nearly_one_is_an_unknown_name() -> None:
    with pytest.raises(UnknownDialect, match="unknown dialect 'hermse'; did you mean 'hermes'"):
        recognise("hermse")


def test_a_path_is_a_file_even_if_it_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidTokenizer):
        recognise(tmp_path / "hermes")
