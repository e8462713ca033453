"""The conformance suite over every dialect: each case of each file, and no scenario left out without a reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from dragoman import Dialect, TextPart, ThinkingPart, ToolCall, UnparsedToolCall, dialects, get_dialect
from dragoman.conformance import SCENARIOS, Case, Suite, check_case, check_suite, folder, read_suite, suite_of
from dragoman.conformance.cases import GROUPS
from dragoman.conformance.notation import read_part, same, write_part
from dragoman.dialects.generic import generic
from dragoman.errors import InvalidSuite
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar
from dragoman.testing import Broken
from dragoman.types import Part
from tests.kinds import ALL, FEW


@FEW
def test_every_scenario_is_read_as_its_cases_say(dialect: Dialect) -> None:
    report = check_suite(dialect, suite_of(dialect))
    assert [result.detail for result in report.results if result.status == "failed"] == []


@pytest.mark.slow
@ALL
def test_every_case_of_every_scenario_keeps_every_promise(dialect: Dialect) -> None:
    report = check_suite(dialect, suite_of(dialect), thorough=True)
    assert [result.detail for result in report.results if result.status == "failed"] == []


def test_no_file_is_without_its_dialect() -> None:
    assert {path.stem for path in folder().glob("*.toml")} <= {"tools", *(dialect.name for dialect in dialects())}


# The notation


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("think: a\nb", ThinkingPart("a\nb")),
        ("text:  a", TextPart(" a")),
        ("text[commentary]: a: b", TextPart("a: b", "commentary")),
        ('call: f {"x": 1}', ToolCall("f", '{"x": 1}')),
        ("call: f id=functions.f:0 {}", ToolCall("f", "{}", "functions.f:0")),
        ('call: "two \\"words" {}', ToolCall('two "words', "{}")),
        ("call: f plain\ntext", ToolCall("f", "plain\ntext")),
        ("unparsed: f <call>{", UnparsedToolCall("<call>{", "", "f")),
        ("unparsed: - <call>{", UnparsedToolCall("<call>{", "", None)),
        ('unparsed: "-" <call>{', UnparsedToolCall("<call>{", "", "-")),
    ],
)
def test_a_line_is_a_part_and_a_part_a_line(line: str, part: Part) -> None:
    assert (read_part(line), write_part(part)) == (part, line)


@pytest.mark.parametrize("line", ["", "a", "Text: a", "text:a", "text: ", "think[x]: a", "call: f", 'call: "f {}'])
def test_what_is_no_line(line: str) -> None:
    assert read_part(line) is None


def test_what_was_written_of_a_broken_call_need_not_be_said() -> None:
    found = UnparsedToolCall("<call>{", "why", "f")
    assert [same(UnparsedToolCall(raw, "", "f"), found) for raw in ("", "<call>{", "<call>")] == [True, True, False]
    assert not same(UnparsedToolCall("", ""), found)
    assert not same(ToolCall("f", "{}"), found)


# The files

CASE = "[[single_call]]\ntext = 'Hi.'\nexpect = ['text: Hi.']\n"


def written(path: Path, text: str, dialect: Dialect | None = None) -> Suite:
    file = path / "own.toml"
    file.write_text(text, encoding="utf-8")
    return read_suite(file, dialect or get_dialect("hermes"))


def test_a_case_has_what_the_file_says(tmp_path: Path) -> None:
    text = "[tools.f]\nx = 'integer!'\ny = ['string', 'null']\nz = {enum = [1]}\n\n" + CASE
    text += "start = 'reasoning'\nreason = 'none'\nproblems = ['implicit_close']\nstop = '<|im_end|>'\ntools = ['f']\n"
    (case,) = written(tmp_path, text).cases
    assert (case.scenario, case.where, case.text) == ("single_call", "own.toml:6 [[single_call]]", "Hi.")
    assert (case.expect, case.problems, case.well_formed) == ((TextPart("Hi."),), ("implicit_close",), False)
    assert (case.start, case.reason, case.stop) == ("reasoning", None, "<|im_end|>")
    assert [tool.parameters for tool in case.tools] == [
        {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": ["string", "null"]}, "z": {"enum": [1]}},
            "required": ["x"],
        }
    ]


def test_a_case_is_offered_the_common_tools_and_those_of_its_file(tmp_path: Path) -> None:
    (case,) = written(tmp_path, "[tools.f]\n" + CASE).cases
    assert {"get_weather", "get_time", "record", "f"} < {tool.name for tool in case.tools}


def test_a_group_stands_for_the_scenarios_that_have_no_case(tmp_path: Path) -> None:
    suite = written(tmp_path, "[lacks]\ncalls = 'none'\n\n" + CASE)
    assert suite.lacks == {scenario: "none" for scenario in GROUPS["calls"] if scenario != "single_call"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "own.toml: expected TOML; found Invalid value (at end of document)"),
        ("dialect = 'kimi'", "own.toml: expected dialect = 'hermes', as the file is called; found another name"),
        ("[[one_call]]", "own.toml: expected [[scenario]], [tools.name], [lacks] or dialect; scenarios are "),
        ("[single_call]", "found [single_call]"),
        ("[tools]\nf = 1", "own.toml: expected [tools.name] with a type for each argument; found {'f': 1}"),
        ("[tools.f]\nx = 'text'", "own.toml [tools.f] x: expected one of array, boolean, "),
        (
            "[lacks]\nthought = 'none'",
            "[lacks]: expected a scenario, or one of thoughts, calls; found 'thought'",
        ),
        ("[lacks]\nthoughts = ''", "own.toml [lacks] thoughts: expected the reason in words; found ''"),
        (
            "[lacks]\nsingle_call = 'none'\n" + CASE,
            "cases of single_call or a reason for having none; found both",
        ),
        (CASE + CASE + "expected = 1", "own.toml:4 [[single_call]] has the field: expected one of expect, fails, "),
        ("[[single_call]]\ntext = 'a'", "own.toml:1 [[single_call]]: expected text = '…' and expect = […]; found "),
        (CASE + "problems = ['bad']", "own.toml:1 [[single_call]] problems: expected one of orphan_marker, "),
        (CASE + "start = 'final'", "start: expected one of content, reasoning; found 'final'"),
        (CASE + "reason = 'eos'", "reason: expected one of stop, length, none; found 'eos'"),
        (CASE + "tools = ['f']", "tools: expected one of get_weather, "),
        (CASE + "stop = '</s>'", "stop: expected one of <|im_end|>, <|endoftext|>, <|end_of_text|>; found '</s>'"),
        (CASE.replace("single_call", "stop_marker"), "stop: expected one of <|im_end|>, "),
        (CASE.replace("text: ", "txt: "), "[[single_call]] expect: expected a line such as 'think: …', "),
        (CASE.replace("['text: Hi.']", "[1]"), "found 1"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidSuite) as caught:
        written(tmp_path, text)
    assert message in str(caught.value)


def test_a_file_that_is_missing_or_no_text_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidSuite, match=r"own\.toml: expected the cases of 'own'; .* found no such file"):
        suite_of(generic(name="own"), tmp_path)
    (tmp_path / "own.toml").write_bytes(b"\xff")
    with pytest.raises(InvalidSuite, match=r"own\.toml: expected a file that can be read"):
        suite_of(generic(name="own"), tmp_path)


# The checks

CALL = '<tool_call>\n{"name": "get_time", "arguments": {}}\n</tool_call>'
GOOD = Case(
    "single_call", "here", CALL, (ToolCall("get_time", "{}"),), tools=suite_of(get_dialect("hermes")).cases[0].tools
)


def broken(case: Case, dialect: Dialect | None = None) -> str:
    with pytest.raises(Broken) as caught:
        check_case(dialect or generic(), case)
    return str(caught.value)


def test_a_good_case_passes_in_short_and_at_length() -> None:
    check_case(generic(), GOOD)
    check_case(generic(), GOOD, thorough=True)


def test_another_message_is_shown_as_the_file_would_say_it() -> None:
    assert broken(replace(GOOD, expect=())).startswith("here: it is read as\n    'call: get_time {}'\n")


def test_another_problem_is_shown() -> None:
    assert "its problems are [], not ['malformed']" in broken(replace(GOOD, problems=("malformed",)))


def test_another_stop_is_shown() -> None:
    assert "it is stopped by None, not by '<|end|>'" in broken(replace(GOOD, stop="<|end|>"))


def test_a_call_that_is_complete_too_early_is_found() -> None:
    call = b.call("@" + b.name(b.chars("a-z")), close=b.literal("!"))
    dialect = replace(generic(), grammar=Grammar(b.content("@f!x") | call))
    found = broken(Case("single_call", "here", "@f!x", (TextPart("@f!x"),)), dialect)
    assert "ended behind '@f!', a call is complete that is none in the end: 'call: f {}'" in found


def test_a_marker_that_the_end_shows_is_found() -> None:
    dialect = replace(generic(), grammar=Grammar(b.content("a") + (b.markup("b<|x|>d") | b.content("b", "<|x|>"))))
    found = broken(Case("stop_marker", "here", "ab<|x|>d", (TextPart("a"),)), dialect)
    assert "ended behind 'ab<|x|>', the marker '<|x|>' is shown as text" in found


def suite(*cases: Case) -> Suite:
    return Suite("generic", "own.toml", cases, dict.fromkeys(SCENARIOS, "not here"))


def statuses(*cases: Case) -> dict[str, str]:
    results = check_suite(generic(), suite(*cases)).results
    return {result.name: result.status for result in results if result.status != "lacks"}


def test_a_scenario_passes_with_its_cases() -> None:
    done: list[float] = []
    report = check_suite(generic(), suite(GOOD, GOOD), progress=done.append)
    assert [(result.name, result.cases) for result in report.results if result.status == "passed"] == [
        ("single_call", 2)
    ]
    assert (report.ok, len(done), done[-1]) == (True, len(SCENARIOS), 1.0)


def test_a_case_that_fails_fails_its_scenario_unless_that_is_known() -> None:
    wrong = replace(GOOD, expect=())
    assert statuses(GOOD, wrong) == {"single_call": "failed"}
    assert statuses(GOOD, replace(wrong, fails="it is read")) == {"single_call": "known"}


def test_a_case_that_is_known_to_fail_and_passes_has_failed() -> None:
    report = check_suite(generic(), suite(replace(GOOD, fails="it is not read")))
    assert not report.ok
    assert "here: passes now; take out its `fails`" in [result.detail for result in report.results]


def test_a_case_that_cannot_even_be_tried_has_failed() -> None:
    assert statuses(replace(GOOD, start="nowhere")) == {"single_call": "failed"}


def test_a_scenario_without_a_case_and_a_reason_has_failed() -> None:
    report = check_suite(generic(), Suite("generic", "own.toml", (), {}))
    assert {result.status for result in report.results} == {"failed"}
    assert report.results[0].detail.startswith("own.toml: no case of single_call (one call and nothing else); add one,")
