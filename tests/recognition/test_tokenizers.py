"""Tokenizers tell the dialect: by their chat template, else by their tokens, with the folder's name to choose."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dragoman.errors import AmbiguousDialect, InvalidTokenizer, Unrecognised
from dragoman.recognise import Certainty, by_tokenizer, by_tokens, recognise, tokenizers

CODER = "<tool_call></tool_call>{{ arguments }}<function=f><parameter=x>"
QWEN = ["<tool_call>", "</tool_call>", "<think>", "</think>", "<|im_end|>"]
KIMI = ["<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>"]


def decoder(tokens: list[str]) -> dict[str, object]:
    return {str(k): {"content": token, "special": True} for k, token in enumerate(tokens)}


def refuse(_path: Path) -> bytes:
    raise PermissionError(13, "no")


def write(folder: Path, **files: object) -> Path:
    """A folder with files, whose names have their dots as two underscores."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name.replace("__", ".")).write_text(text, encoding="utf-8")
    return folder


def test_a_template_in_the_configuration_tells(tmp_path: Path) -> None:
    folder = write(tmp_path, tokenizer_config__json={"chat_template": CODER, "added_tokens_decoder": decoder(KIMI)})
    answer = by_tokenizer(folder)
    assert (answer.dialect.name, answer.certainty) == ("qwen3_coder", Certainty.STRONG)
    assert recognise(str(folder)) == answer
    assert recognise(folder) == answer


def test_of_named_templates_that_for_tools_tells(tmp_path: Path) -> None:
    default, tool_use = {"name": "default", "template": "[TOOL_CALLS]"}, {"name": "tool_use", "template": CODER}
    named = [default, tool_use, {"name": "rag", "template": None}, 3]
    folder = write(tmp_path, tokenizer_config__json={"chat_template": named})
    assert by_tokenizer(folder).dialect.name == "qwen3_coder"


def test_a_template_in_a_file_of_its_own_tells(tmp_path: Path) -> None:
    folder = write(tmp_path, chat_template__jinja="[TOOL_CALLS]", tokenizer_config__json={"chat_template": CODER})
    assert by_tokenizer(folder).dialect.name == "mistral_pre_v11"
    assert by_tokenizer(folder / "chat_template.jinja").dialect.name == "mistral_pre_v11"
    assert by_tokenizer(folder / "tokenizer_config.json").dialect.name == "qwen3_coder"


def test_a_template_that_says_nothing_leaves_it_to_the_tokens(tmp_path: Path) -> None:
    config = {
        "chat_template": "{{ messages }}",
        "additional_special_tokens": KIMI,
        "eos_token": "<|im_end|>",
        "pad_token": None,
    }
    answer = by_tokenizer(write(tmp_path, tokenizer_config__json=config))
    assert (answer.dialect.name, answer.certainty) == ("kimi_k2", Certainty.WEAK)
    assert answer.evidence == "the tokenizer has the tokens " + " ".join(KIMI)


@pytest.mark.parametrize(
    "files",
    [
        {"tokenizer__json": {"added_tokens": [{"id": 1, "content": token} for token in KIMI]}},
        {"added_tokens__json": dict.fromkeys(KIMI, 1)},
        {"special_tokens_map__json": {"additional_special_tokens": [{"content": token} for token in KIMI]}},
        {"tokenizer_config__json": {"extra_special_tokens": dict(enumerate(KIMI))}},
        {"special_tokens_map__json": {f"{k}_token": token for k, token in enumerate(KIMI)}},
    ],
)
def test_tokens_are_found_wherever_they_stand(tmp_path: Path, files: dict[str, object]) -> None:
    assert by_tokenizer(write(tmp_path, **files)).dialect.name == "kimi_k2"


def test_tokens_of_two_dialects_are_ambiguous_until_the_folder_has_a_name(tmp_path: Path) -> None:
    config = {"added_tokens_decoder": decoder(QWEN)}
    with pytest.raises(AmbiguousDialect) as caught:
        by_tokenizer(write(tmp_path / "mine", tokenizer_config__json=config))
    assert {"hermes", "qwen3_coder"} <= {name for name, _ in caught.value.candidates}
    answer = by_tokenizer(write(tmp_path / "Qwen3-8B", tokenizer_config__json=config))
    assert (answer.dialect.name, answer.certainty) == ("hermes", Certainty.WEAK)
    assert answer.evidence.endswith("and the name, but not the owner, of the model fits 'Qwen/Qwen3-*'")


def test_tokens_against_the_folders_name_are_ambiguous(tmp_path: Path) -> None:
    with pytest.raises(AmbiguousDialect):
        by_tokenizer(write(tmp_path / "gpt-oss-20b", tokenizer_config__json={"added_tokens_decoder": decoder(KIMI)}))


def test_a_folder_without_files_is_known_by_its_name(tmp_path: Path) -> None:
    assert by_tokenizer(write(tmp_path / "Qwen3-Coder-Next")).dialect.name == "qwen3_coder"
    with pytest.raises(Unrecognised):
        by_tokenizer(write(tmp_path / "mine"))


def test_tokens_alone_can_be_asked_for() -> None:
    assert by_tokens(KIMI).dialect.name == "kimi_k2"
    with pytest.raises(Unrecognised):
        by_tokens(["<s>", "</s>"])


def test_what_can_not_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(tmp_path, tokenizer_config__json="{", special_tokens_map__json="[]", chat_template__jinja="x" * 99)
    for name, expected in (("tokenizer_config", "JSON"), ("special_tokens_map", "a JSON object")):
        with pytest.raises(InvalidTokenizer) as caught:
            by_tokenizer(folder / f"{name}.json")
        assert caught.value.expected == expected
    with pytest.raises(InvalidTokenizer, match="expected a tokenizer's folder or file, found nothing"):
        by_tokenizer(folder / "none.json")
    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InvalidTokenizer, match="expected a file that can be read, found no"):
        by_tokenizer(folder / "chat_template.jinja")
    monkeypatch.setattr(tokenizers, "FILE_LIMIT", 50)
    with pytest.raises(InvalidTokenizer, match="expected a file of at most 50 bytes, found 99"):
        by_tokenizer(folder / "chat_template.jinja")
