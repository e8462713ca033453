"""``dragoman which``: the dialect of a model, whatever tells it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Run


@pytest.mark.parametrize(
    ("what", "row"),
    [
        ("harmony", ["harmony", "exact", "the name 'harmony'"]),
        ("Qwen/Qwen3-Coder-Next", ["qwen3_coder", "strong", "the model id fits 'Qwen/Qwen3-Coder-*'"]),
    ],
)
def test_the_answer_is_a_line_with_its_evidence(dragoman: Run, what: str, row: list[str]) -> None:
    done = dragoman("which", what)
    heading, line = done.out.splitlines()
    assert (done.code, heading.split(), line.split(maxsplit=2)) == (0, ["dialect", "sure", "evidence"], row)


def test_a_folder_and_a_template_tell(dragoman: Run, tmp_path: Path) -> None:
    file = tmp_path / "chat_template.jinja"
    file.write_text("[TOOL_CALLS][ARGS]", encoding="utf-8")
    for what in (tmp_path, file):
        done = dragoman("which", str(what), "--json")
        assert json.loads(done.out) == {
            "dialect": "mistral",
            "certainty": "strong",
            "evidence": "the chat template has [TOOL_CALLS] [ARGS]",
        }


@pytest.mark.parametrize(
    ("output", "dialect"), [("Hm. <tool_call>\n<function=f>", "qwen3_coder"), ("It is sunny.", "generic")]
)
def test_an_output_tells(dragoman: Run, output: str, dialect: str) -> None:
    done = dragoman("which", "-", "--json", stdin=output)
    assert (done.code, json.loads(done.out)["dialect"]) == (0, dialect)


def test_what_tells_nothing_is_said(dragoman: Run) -> None:
    done = dragoman("which", "acme/foo-7b")
    sentence = "can't tell the dialect of 'acme/foo-7b' by name, file or model id; name the dialect"
    assert (done.code, done.out, done.err) == (1, "", f"dragoman: {sentence}\n")
    done = dragoman("which", "acme/foo-7b", "--json")
    assert (done.code, json.loads(done.out)) == (1, {"dialect": None, "error": sentence, "candidates": []})


def test_what_could_be_several_is_listed(dragoman: Run, tmp_path: Path) -> None:
    tokens = {"added_tokens": [{"content": "<tool_call>"}, {"content": "</tool_call>"}]}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokens), encoding="utf-8")
    done = dragoman("which", str(tmp_path), "--json")
    candidates = {each["dialect"] for each in json.loads(done.out)["candidates"]}
    assert (done.code, {"hermes", "qwen3_coder"} <= candidates) == (1, True)
    assert "could be several dialects: hermes (" in dragoman("which", str(tmp_path)).err


def test_a_file_that_is_none_is_a_mistake(dragoman: Run, tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    assert dragoman("which", str(tmp_path)).code == 2


@pytest.mark.parametrize("dialect", ["unsloth/Qwen3-8B-GGUF", "auto", "qwen25"])
def test_other_commands_take_what_this_one_takes(dragoman: Run, dialect: str) -> None:
    done = dragoman(
        "parse", "--dialect", dialect, "--message", stdin='<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    )
    assert [part["name"] for part in json.loads(done.out)["parts"]] == ["f"]


def test_a_terminal_gets_colours(terminal: Callable[..., str]) -> None:
    assert "\x1b[1mdialect" in terminal("which", "hermes")
