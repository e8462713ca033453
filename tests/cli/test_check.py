"""``dragoman check``: a report for built-in dialects and for a user's own file."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from string import ascii_letters

import pytest

from dragoman import get_dialect
from dragoman.cli.matrix import Checked, show_matrix
from dragoman.cli.output import open_console
from dragoman.conformance import SCENARIOS
from dragoman.testing import Result

from .conftest import Run

OWN = """
from dragoman import Dialect, Example, Message, TextPart
from dragoman.errors import Inexpressible
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar
from dragoman.idioms import stops, turn


def writer(message):
    if [type(part) for part in message.parts] != [TextPart] or not message.text or "[end]" in message.text:
        raise Inexpressible("own", 0, "it can write one text only")
    return message.text


DIALECT = Dialect(
    name="own",
    doc="Text, and an end.",
    grammar=Grammar(turn(stops("[end]"), delimiters=(), orphans=(), stopping=("[end]",))),
    writer=writer,
    models=(),
    marks=(),
    stops=("[end]",),
    source="this test",
    examples=(Example("text", "Hi.[end]", Message("assistant", (TextPart("Hi."),))),),
)
"""


@pytest.fixture
def own(tmp_path: Path) -> Callable[[str, str], str]:
    """Write the dialect above with one thing changed, and give its path."""

    def write(old: str = "", new: str = "") -> str:
        assert old in OWN
        path = tmp_path / "own.py"
        path.write_text(OWN.replace(old, new) if old else OWN)
        return str(path)

    return write


def test_a_built_in_dialect_passes(dragoman: Run) -> None:
    done = dragoman("check", "hermes", "--examples", "3")
    assert (done.code, done.err) == (0, "")
    promises, scenarios = (block.splitlines() for block in done.out.split("\n\n"))
    assert promises[0].split() == ["dialect", "promise", "status", "inputs"]
    assert scenarios[0].split() == ["dialect", "scenario", "status", "cases"]
    lines = promises[1:] + scenarios[1:]
    assert len(lines) > len(SCENARIOS) + 8
    assert all(line.startswith("hermes ") and " passed " in line for line in lines)


def test_json_has_the_reports_in_order(dragoman: Run, own: Callable[..., str]) -> None:
    reports = json.loads(dragoman("check", "think_only", own(), "--examples", "1", "--json").out)
    assert [report["dialect"] for report in reports] == ["think_only", "own"]
    assert {result["status"] for report in reports for result in report["results"]} == {"passed"}


def test_all_are_checked_when_asked(dragoman: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["kimi_vl", "think_only"]
    monkeypatch.setattr("dragoman.cli.check.dialects", lambda: [*map(get_dialect, names)])  # others prove every one
    done = dragoman("check", "--all", "--examples", "1")
    assert done.code == 0, done.out
    heading, *lines = done.out.splitlines()
    assert heading.split()[:3] == ["dialect", "promises", "a"]
    assert [line.split()[0] for line in lines[: len(names)]] == names
    assert lines[-1].endswith("; 0 failed")


def test_a_matrix_counts_what_passed_and_marks_what_did_not(capsys: pytest.CaptureFixture[str]) -> None:
    first, second, third, fourth, *rest = SCENARIOS
    scenarios = (
        Result(first, "passed", "", 3),
        Result(second, "failed", "why", 2),
        Result(third, "known", "that", 1),
        Result(fourth, "lacks", "no", 0),
        *(Result(scenario, "passed", "", 1) for scenario in rest),
    )
    show_matrix(open_console(), [Checked("a", (Result("total", "passed", "", 9),), scenarios), Checked("b", ())])
    heading, a, b, *_ = lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["dialect", "promises", *ascii_letters[: len(SCENARIOS)]]
    assert a.split()[:6] == ["a", "ok", "3", "x", "!", "-"]
    assert b.split() == ["b", "ok", *"x" * len(SCENARIOS)]
    assert lines[lines.index(f"a: {second}") + 1] == "why"
    assert lines[-1] == f"2 dialects, {6 + len(rest)} cases; 1 failed"


def test_the_cases_of_ones_own_dialect_are_beside_it(dragoman: Run, own: Callable[..., str]) -> None:
    path = own()
    cases = "lacks = {calls = 'no', thoughts = 'no', markup_in_fence = 'no', orphan_closer = 'no'}\n"
    cases += "[[stop_marker]]\ntext = 'Hi.[end]'\nexpect = ['text: Hi.']\nstop = '[end]'\n"
    Path(path).with_suffix(".toml").write_text(cases)
    done = dragoman("check", path, "--examples", "2", "--json")
    scenarios = {result["name"]: result["status"] for result in json.loads(done.out)[0]["scenarios"]}
    assert (done.code, scenarios["stop_marker"], scenarios["single_call"]) == (0, "passed", "lacks")
    Path(path).with_suffix(".toml").write_text(cases.replace("text: Hi.", "text: Ho."))
    done = dragoman("check", path, "--examples", "2")
    assert done.code == 1
    assert "own: stop_marker\nown.toml:2 [[stop_marker]]: it is read as\n    'text: Hi.'\n" in done.out


def test_a_file_of_cases_that_cannot_be_read_fails(dragoman: Run, own: Callable[..., str]) -> None:
    path = own()
    Path(path).with_suffix(".toml").write_text("[[calls]]")
    done = dragoman("check", path, "--examples", "2")
    assert done.code == 1
    assert "own: suite\nown.toml: expected [[scenario]]" in done.out


def test_a_wrong_example_fails_and_is_shown(dragoman: Run, own: Callable[..., str]) -> None:
    done = dragoman("check", own('TextPart("Hi.")', 'TextPart("Ho.")'), "--examples", "2")
    assert done.code == 1
    assert "own      examples         failed  1" in done.out
    assert "\nown: examples\nread as\n" in done.out


def test_a_writer_that_lies_fails(dragoman: Run, own: Callable[..., str]) -> None:
    done = dragoman("check", own("return message.text", 'return "x" + message.text'), "--examples", "2")
    assert done.code == 1
    assert "two-way          failed" in done.out


def test_a_writer_that_crashes_fails_without_a_traceback(dragoman: Run, own: Callable[..., str]) -> None:
    done = dragoman("check", own("return message.text", "return 1 / 0"), "--examples", "2")
    assert done.code == 1
    assert "ZeroDivisionError" in done.out


def test_a_grammar_that_cannot_be_streamed_is_told(dragoman: Run, own: Callable[..., str]) -> None:
    done = dragoman("check", own("Grammar(turn(", 'Grammar((b.until("x") + "y") | turn('))
    assert done.code == 2
    assert done.err.startswith("dragoman: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("args", [(), ("--all", "hermes")])
def test_either_names_or_all(dragoman: Run, args: tuple[str, ...]) -> None:
    done = dragoman("check", *args)
    assert (done.code, done.err) == (2, "dragoman: check what? Give a file, a name, or --all\n")


def test_a_terminal_gets_colours(terminal: Callable[..., str], own: Callable[..., str]) -> None:
    assert "\x1b[32mpassed" in terminal("check", own(), "--examples", "1")
