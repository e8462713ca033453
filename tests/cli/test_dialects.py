"""``dragoman dialects``: the list, a part of it, and one of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from dragoman import dialects

from .conftest import Run

NAMES = [dialect.name for dialect in dialects()]

OWN = '''
from dragoman import Example, Message, TextPart, ThinkingPart
from dragoman.idioms import Think, define, tagged_json

DIALECT = define("""Own: a dialect of one's own.

    ((t))Two cities.((/t))Let me look.

Some ``words`` about it.
""", name="own", think=Think.tight("((t))", "((/t))"), source="here", examples=(
    Example("a thought that the prompt began", "Two.((/t))Hi",
        Message("assistant", (ThinkingPart("Two."), TextPart("Hi"))),
        start="reasoning"),
))
'''


def test_all_are_listed_one_a_line_by_kind(dragoman: Run) -> None:
    heading, *lines = dragoman("dialects").out.splitlines()
    assert heading.split() == ["name", "calls", "are", "what", "it", "is", "other", "names", "models"]
    assert sorted(line.split()[0] for line in lines) == NAMES
    kinds = [line[heading.index("calls are") : heading.index("what it is")].strip() for line in lines]
    assert len(set(kinds)) == 1 + sum(a != b for a, b in pairwise(kinds))


def test_a_part_of_a_name_an_alias_or_a_model_lists_what_matches(dragoman: Run) -> None:
    lines = dragoman("dialects", "Qwen").out.splitlines()[1:]
    assert {"hermes", "qwen3_coder", "xlam"} <= {line.split()[0] for line in lines}
    assert len(lines) < len(NAMES)
    assert len(json.loads(dragoman("dialects", "qwen", "--json").out)) == len(lines)


@pytest.mark.parametrize("word", ["gpt_oss", "openai/gpt-oss-20b", "gpt-oss"])
def test_what_matches_one_only_is_described(dragoman: Run, word: str) -> None:
    assert dragoman("dialects", word).out.startswith("harmony: ")


@pytest.mark.parametrize("name", ["harmony", "mistral", "think_only"])
def test_one_is_described(dragoman: Run, name: str) -> None:
    done = dragoman("dialects", name)
    assert done.code == 0
    assert done.out.startswith(f"{name}: ")
    places = [done.out.index(f"\n{title}\n") for title in ("layout", "facts", "what else is read", "grammar")]
    assert places == sorted(places)
    for word in ("calls are", "start states", "stop markers", "holds back at most", "specified in", "\nroot ::=\n"):
        assert word in done.out


def test_the_layout_stands_with_its_spans_when_piped(dragoman: Run) -> None:
    out = dragoman("dialects", "kimi_vl").out
    assert "\n    ◁think▷Two cities.◁/think▷Let me look.<|im_end|>\n" in out
    assert '\n7      18   reasoning  "Two cities."\n' in out


def test_broken_outputs_are_shown_with_what_becomes_of_them(dragoman: Run) -> None:
    out = dragoman("dialects", "hermes").out
    told = 'truncated call: in the name\n    <tool_call>↵{"name": "get_wea\n    = unparsed: -\n    ! incomplete\n'
    assert told in out


def test_a_dialect_of_ones_own_is_described_with_the_cases_beside_it(dragoman: Run, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    plain = dragoman("dialects", str(tmp_path / "own.py"))
    assert plain.out.startswith("own: Own: a dialect of one's own\n\nlayout\n    ((t))Two cities.")
    assert "\nSome words about it.\n" in plain.out
    assert "\nexample: a thought that the prompt began\n(start: reasoning)\n    Two.((/t))Hi\n" in plain.out
    assert "what else is read" not in plain.out
    (tmp_path / "own.toml").write_text(
        '[[truncated_reasoning]]\ntext = "((t))Two"\nexpect = ["think: Two"]\nproblems = ["unclosed_reasoning"]\n',
        encoding="utf-8",
    )
    told = "\nwhat else is read\ntruncated reasoning\n    ((t))Two\n    = think: Two\n    ! unclosed reasoning\n"
    assert told in dragoman("dialects", str(tmp_path / "own.py")).out


def test_json_has_the_same_facts(dragoman: Run) -> None:
    listed = json.loads(dragoman("dialects", "--json").out)
    assert [each["name"] for each in listed] == NAMES
    whole = json.loads(dragoman("dialects", "--json", NAMES[0]).out)
    assert {key: whole[key] for key in listed[0]} == listed[0]
    assert set(whole) - set(listed[0]) == {"hold_bound", "doc", "examples", "recoveries", "grammar"}
    assert whole["examples"][0]["spans"][0]["kind"] == "markup"
    assert {"scenario", "written", "becomes", "problems"} <= set(whole["recoveries"][0])


def test_an_unknown_name_is_told_with_its_neighbours(dragoman: Run) -> None:
    done = dragoman("dialects", "harmoni")
    assert (done.code, done.err) == (2, "dragoman: unknown dialect 'harmoni'; did you mean 'harmony'?\n")


def test_a_terminal_gets_colours_and_a_legend(terminal: Callable[..., str]) -> None:
    assert "\x1b[1mname" in terminal("dialects")
    shown = terminal("dialects", "kimi_vl")
    assert "\x1b[7;34m◁think▷\x1b[0m\x1b[2;3mTwo cities.\x1b[0m" in shown
    assert "\x1b[7;34m markup \x1b[0m" in shown
    assert "start  end" not in shown
