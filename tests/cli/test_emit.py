"""``dragoman emit``: grammars, what they guarantee, requests with them, and outputs that satisfy them or not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from dragoman.constrain.emission import Engine

from .conftest import Run

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 14}},
            "required": ["city"],
        },
    },
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"days": 3, "city": "Paris"}}\n</tool_call>'


@pytest.fixture
def tools(tmp_path: Path) -> tuple[str, ...]:
    """The dialect, and a file with the tool, as arguments."""
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([TOOL]))
    return ("--dialect", "hermes", "--tools", str(path))


def test_a_grammar_is_written_for_llama_cpp(dragoman: Run, tools: tuple[str, ...]) -> None:
    done = dragoman("emit", *tools, "--tool-choice", "required", "--lead-in", "none")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(r'root ::= "<tool_call>\n{\"name\": \"" call' "\n")
    assert done.out.endswith('"\\""\n')


@pytest.mark.parametrize(
    ("engine", "begins"),
    [
        ("gbnf", "root ::= "),
        ("xgrammar", "root ::= "),
        ("lark", "start: "),
        ("structural_tag", '{"type":"structural_tag"'),
        ("json_schema", '{"type":"array"'),
    ],
)
def test_every_engine_has_its_notation(dragoman: Run, tools: tuple[str, ...], engine: str, begins: str) -> None:
    done = dragoman("emit", *tools, "--engine", engine, "--tool-choice", "required")
    assert done.code == 0
    assert done.out.startswith(begins)
    assert done.out.endswith("\n")


def test_the_grammar_comes_as_json_with_what_it_guarantees(dragoman: Run, tools: tuple[str, ...]) -> None:
    told = json.loads(dragoman("emit", *tools, "--lazy", "--json").out)
    assert told["engine"] == Engine.GBNF
    assert told["text"].startswith('root ::= "<tool_call>" gap')
    assert {trigger["kind"] for trigger in told["triggers"]} == {"word", "pattern"}
    assert told["guarantees"]["names"] is True


def test_guarantees_are_a_table(dragoman: Run, tools: tuple[str, ...]) -> None:
    done = dragoman("emit", *tools, "--engine", "structural_tag", "--guarantees")
    assert "names             yes   every call names one of the tools\n" in done.out
    assert "order             no    arguments may stand in any order\n" in done.out
    assert "narrowed    order " in done.out


def test_guarantees_come_as_json_too(dragoman: Run, tools: tuple[str, ...]) -> None:
    told = json.loads(dragoman("emit", *tools, "--engine", "structural_tag", "--guarantees", "--json").out)
    assert (told["names"], told["order"]) == (True, False)
    assert {"effect", "what", "where", "why"} == set(told["notes"][0])


@pytest.mark.parametrize(
    ("server", "args", "field"),
    [
        ("llama.cpp", (), "grammar"),
        ("llama.cpp", ("--lazy",), "grammar_triggers"),
        ("vllm", (), "structured_outputs"),
        ("vllm", ("--engine", "xgrammar"), "structured_outputs"),
        ("sglang", (), "structural_tag"),
        ("sglang", ("--engine", "xgrammar"), "ebnf"),
        ("sglang-chat", (), "response_format"),
    ],
)
def test_a_request_has_the_notation_that_its_server_reads(
    dragoman: Run, tools: tuple[str, ...], server: str, args: tuple[str, ...], field: str
) -> None:
    done = dragoman("emit", *tools, "--request", server, *args)
    assert done.code == 0
    assert field in json.loads(done.out)


def test_an_output_that_satisfies_it_is_told(dragoman: Run, tools: tuple[str, ...]) -> None:
    done = dragoman("emit", *tools, "--check", "-", stdin=f"Let me look.\n{CALL}")
    assert (done.code, done.out) == (0, "satisfied\n")


def test_the_marker_that_stops_an_output_may_be_there(dragoman: Run, tools: tuple[str, ...]) -> None:
    assert dragoman("emit", *tools, "--check", "-", stdin=f"{CALL}<|im_end|>").code == 0


def test_it_is_told_where_an_output_fails(dragoman: Run, tools: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(CALL.replace("get_weather", "get_wether"), encoding="utf-8")
    done = dragoman("emit", *tools, "--check", str(path))
    assert done.code == 1
    assert done.out == (
        "line 2, character 17:\n"
        '{"name": "get_wether", "arguments": {"days": 3, "city": "Paris"}}\n'
        "                ^\n"
        """expected 'ather", "arguments": '\n"""
    )


def test_an_output_that_is_too_short_fails_at_its_end(dragoman: Run, tools: tuple[str, ...]) -> None:
    done = dragoman("emit", *tools, "--check", "-", "--json", stdin=CALL[:-3])
    assert done.code == 1
    assert json.loads(done.out) == {"satisfied": False, "fault": {"at": len(CALL) - 3, "expected": ["'ll>'"]}}


def test_bytes_that_are_no_text_are_checked_as_such(dragoman: Run, tools: tuple[str, ...]) -> None:
    assert dragoman("emit", *tools, "--check", "-", stdin=b"caf\xe9").code == 0


def test_of_many_that_were_possible_some_are_told(dragoman: Run, tools: tuple[str, ...]) -> None:
    done = dragoman("emit", *tools, "--scope", "arguments", "--check", "-", stdin='{"city": "\t"}')
    assert done.code == 1
    assert "^\nexpected " in done.out


def test_samples_satisfy_it(dragoman: Run, tools: tuple[str, ...]) -> None:
    args = (*tools, "--tool-choice", "required")
    samples = dragoman("emit", *args, "--sample", "3", "--json").out.splitlines()
    assert len(set(samples)) == 3
    for sample in samples:
        assert dragoman("emit", *args, "--check", "-", stdin=json.loads(sample)).out == "satisfied\n"


def test_samples_are_numbered_and_follow_from_the_seed(dragoman: Run, tools: tuple[str, ...]) -> None:
    args = ("emit", *tools, "--tool-choice", "required", "--sample", "2")
    first = dragoman(*args).out
    assert first.startswith("── 1\n")
    assert "\n── 2\n" in first
    assert dragoman(*args).out == first
    assert dragoman(*args, "--seed", "1").out != first


@pytest.mark.parametrize(
    ("args", "output"),
    [
        (("--no-parallel",), CALL),
        (("--reasoning", "required"), f"<think>\nHm.\n</think>\n\n{CALL}"),
        (("--reasoning", "none"), CALL),
        (("--scope", "answer"), f"\n\n{CALL}"),
        (("--scope", "arguments"), '{"city": "Paris"}'),
        (("--start", "reasoning"), f"Hm.\n</think>\n\n{CALL}"),
        (("--tool-choice", "none"), "No."),
        (("--tool-choice", "get_weather", "--lead-in", "20"), f"Let me look.\n{CALL}"),
        (("--tool-choice", "required", "--lead-in", "none"), CALL),
        (("--any-json", "--no-parallel"), CALL.replace('"Paris"', "[1]")),
        (("--declared-order",), CALL.replace('"days": 3, "city": "Paris"', '"city": "Paris", "days": 3')),
    ],
)
def test_what_was_asked_for_is_let_through(
    dragoman: Run, tools: tuple[str, ...], args: tuple[str, ...], output: str
) -> None:
    done = dragoman("emit", *tools, *args, "--check", "-", stdin=output)
    assert (done.code, done.out) == (0, "satisfied\n")


@pytest.mark.parametrize(
    ("args", "output"),
    [
        (("--no-parallel",), f"{CALL}\n{CALL}"),
        (("--reasoning", "required"), CALL),
        (("--reasoning", "none"), f"<think>\nHm.\n</think>\n\n{CALL}"),
        (("--tool-choice", "none"), CALL),
        (("--tool-choice", "required", "--lead-in", "none"), f"Let me look.\n{CALL}"),
        (("--declared-order",), CALL),
    ],
)
def test_what_was_not_asked_for_is_not(
    dragoman: Run, tools: tuple[str, ...], args: tuple[str, ...], output: str
) -> None:
    assert dragoman("emit", *tools, *args, "--check", "-", stdin=output).code == 1


def test_an_answer_has_its_schema(dragoman: Run, tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    path.write_text('{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}')
    args = ("emit", "-d", "hermes", "--answer", str(path), "--check", "-")
    assert dragoman(*args, stdin='{"n": 1}').code == 0
    assert dragoman(*args, stdin='{"n": "one"}').code == 1


def test_markers_that_are_control_tokens_are_told_by_their_ids(dragoman: Run, tools: tuple[str, ...]) -> None:
    args = ("emit", "-d", "harmony", *tools[2:], "--tokenizer", "o200k_harmony", "-e", "lark")
    assert "<[200005]>" in dragoman(*args).out


def test_rules_stand_out_in_a_terminal(terminal: Callable[..., str], tools: tuple[str, ...]) -> None:
    assert "\x1b[36mroot\x1b[0m ::= " in terminal("emit", *tools, "--scope", "arguments")
    assert "\x1b[36mstart\x1b[0m: root" in terminal("emit", *tools, "--scope", "arguments", "-e", "lark")


def test_what_is_not_certain_is_red_in_a_terminal(terminal: Callable[..., str], tools: tuple[str, ...]) -> None:
    written = terminal("emit", *tools, "-e", "structural_tag", "--guarantees")
    assert "\x1b[31mno" in written
    assert "\x1b[32myes" in written


def mistakes() -> list[tuple[tuple[str, ...], str]]:
    return [
        (("--tool-choice", "nope"), "tool_choice should be one of the tools: get_weather, found 'nope'"),
        (("--lazy", "--tool-choice", "required"), 'lazy should be false where tool_choice is "required"'),
        (("--lazy", "-e", "structural_tag"), "lazy should be false: structural_tag takes no triggers"),
        (("--lazy", "--sample", "1"), "--lazy should be left out: whole outputs are checked and sampled"),
        (("--lazy", "--request", "vllm", "-e", "xgrammar"), "lazy should be false: vllm takes no triggers"),
        (("-e", "json_schema"), "engine should be one that takes grammars, where free text may be written"),
        (("--request", "vllm", "-e", "gbnf"), "engine should be one of xgrammar, lark, structural_tag, json_schema"),
        (("--request", "llama.cpp", "-e", "lark"), "engine should be gbnf or json_schema for llama.cpp, found 'lark'"),
        (("--scope", "arguments", "--tool-choice", "none"), "scope should be one tool whose arguments are meant"),
        (("--start", "nowhere"), "dialect 'hermes' can't start in 'nowhere'"),
        (("--dialect", "hermse"), "unknown dialect 'hermse'; did you mean 'hermes'?"),
        (("--dialect", "think_only"), "tools should be none, as think_only has no calls"),
        (("--tools", "nowhere.json"), "nowhere.json: No such file"),
        (("--answer", "nowhere.json"), "nowhere.json: No such file"),
        (("--check", "nowhere.txt"), "nowhere.txt: No such file"),
        (("--tokenizer", "nowhere"), "nowhere: expected o200k_base"),
    ]


@pytest.mark.parametrize(("args", "says"), mistakes())
def test_a_mistake_is_told_in_one_line(dragoman: Run, tools: tuple[str, ...], args: tuple[str, ...], says: str) -> None:
    done = dragoman("emit", *tools, *args)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"dragoman: {says}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("schema", ["[]", "{", "[" * 9999])
def test_an_answer_that_is_no_schema_is_told(
    dragoman: Run, tools: tuple[str, ...], tmp_path: Path, schema: str
) -> None:
    path = tmp_path / "answer.json"
    path.write_text(schema)
    done = dragoman("emit", *tools, "--answer", str(path))
    assert done.code == 2
    assert done.err.startswith(f"dragoman: {path}: not a JSON Schema: ")


@pytest.mark.parametrize("lead_in", ["some", "-1"])
def test_a_lead_in_is_a_word_or_a_number(dragoman: Run, tools: tuple[str, ...], lead_in: str) -> None:
    done = dragoman("emit", *tools, f"--lead-in={lead_in}")
    assert done.code == 2
    assert f"--lead-in: expected none, reasoning or a number, found '{lead_in}'" in done.err
