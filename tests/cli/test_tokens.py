"""``dragoman tokens``: ids as text, text as ids, and what each token is."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from .conftest import Run

HARMONY = ("--tokenizer", "o200k_harmony")


def test_ids_are_told_with_their_text(dragoman: Run) -> None:
    done = dragoman("tokens", *HARMONY, "200006", "173781", "198", "200008")
    assert done.code == 0
    assert done.out == (
        "id      text           kind\n"
        '200006  "<|start|>"    control\n'
        '173781  "assistant"    text\n'
        '198     "\\n"           text\n'
        '200008  "<|message|>"  control\n'
    )


def test_parts_of_characters_are_told_as_bytes(dragoman: Run) -> None:
    done = dragoman("tokens", *HARMONY, "--text", "👩‍🚀")
    assert '102     a9        bytes\n2524    "\\u200d"  text\n' in done.out


@pytest.mark.parametrize("written", ["200006 198", "[200006, 198]", "200006\n198\n", "[200006,\n 198]"])
def test_ids_may_come_from_the_standard_input(dragoman: Run, written: str) -> None:
    assert dragoman("tokens", *HARMONY, stdin=written).out == dragoman("tokens", *HARMONY, "200006", "198").out


def test_text_is_text_whatever_it_spells(dragoman: Run) -> None:
    rows = json.loads(dragoman("tokens", *HARMONY, "--text", "a<|end|>", "--json").out)
    assert "".join(row["text"] for row in rows) == "a<|end|>"
    assert not any(row["control"] for row in rows)


def test_control_tokens_are_found_in_text_when_asked(dragoman: Run) -> None:
    rows = json.loads(dragoman("tokens", *HARMONY, "--text", "a<|end|>", "--control", "--json").out)
    assert rows == [
        {"id": 64, "text": "a", "bytes": None, "control": False},
        {"id": 200007, "text": "<|end|>", "bytes": None, "control": True},
    ]


def test_a_dialect_tells_what_each_token_is(dragoman: Run) -> None:
    output = "<|channel|>analysis<|message|>Hey<|end|><|start|>assistant<|channel|>final<|message|>Hi<|return|>"
    done = dragoman("tokens", *HARMONY, "--text", output, "--control", "--dialect", "harmony")
    labels = [line.split()[-1] for line in done.out.splitlines()[1:]]
    assert labels == [*["markup"] * 3, "reasoning", *["markup"] * 6, "content", "stop"]


def test_tokens_behind_the_stop_are_not_read(dragoman: Run) -> None:
    done = dragoman("tokens", *HARMONY, "--text", "Hi<|im_end|>there", "--dialect", "hermes")
    assert done.out.splitlines()[-1].endswith("malformed")


def test_a_token_that_stands_for_nothing_has_no_label(dragoman: Run) -> None:
    done = dragoman("tokens", "--tokenizer", "o200k_base", "200000", "--dialect", "hermes")
    assert done.out.splitlines()[-1].split() == ["200000", '""', "text", "-"]


def test_the_model_may_begin_inside_a_thought(dragoman: Run) -> None:
    done = dragoman("tokens", *HARMONY, "--text", "Hm", "--dialect", "hermes", "--start", "reasoning")
    assert done.out.splitlines()[-1].endswith("reasoning")


def test_control_tokens_stand_out_in_a_terminal(terminal: Callable[..., str]) -> None:
    assert '\x1b[7;34m"<|start|>"\x1b[0m' in terminal("tokens", *HARMONY, "200006", "173781")


def test_the_ids_of_render_are_read(dragoman: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("template") / "template.jinja"
    path.write_text("{% for m in messages %}<|start|>{{ m.role }}<|message|>{{ m.content }}<|end|>{% endfor %}")
    args = ("--template", str(path), "--dialect", "harmony", "--show", "ids")
    ids = dragoman("render", *args, stdin='[{"role": "user", "content": "Hi"}]').out
    rows = json.loads(dragoman("tokens", *HARMONY, "--json", stdin=ids).out)
    assert "".join(row["text"] for row in rows) == "<|start|>user<|message|>Hi<|end|>"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("x",), "the ids: expected token ids, as numbers or a JSON list, found 'x'"),
        (("9999999",), "no token has the id 9999999; the vocabulary's ids are below 201089"),
        (("3", "--text", "a"), "--text: expected ids or a text, found both"),
        (("3", "--control"), "--control: is for --text"),
        (("3", "--dialect", "harmny"), "unknown dialect 'harmny'; did you mean 'harmony'?"),
        (("3", "--dialect", "hermes", "--start", "nowhere"), "dialect 'hermes' can't start in 'nowhere'"),
    ],
)
def test_a_mistake_is_told_in_one_line(dragoman: Run, args: tuple[str, ...], says: str) -> None:
    done = dragoman("tokens", *HARMONY, *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"dragoman: {says}")


def test_a_word_in_the_standard_input_is_told(dragoman: Run) -> None:
    done = dragoman("tokens", *HARMONY, stdin="[1, -2]")
    assert (done.code, done.err) == (
        2,
        "dragoman: standard input: expected token ids, as numbers or a JSON list, found '-2'\n",
    )
