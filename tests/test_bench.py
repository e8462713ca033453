"""The benchmark measures what it says: its workloads are read right, and its command prints what was asked for."""

from __future__ import annotations

import json

import pytest

from bench.__main__ import main
from bench.clock import Best
from bench.constraints import PRINTED, Emitted, constraints
from bench.emission import EMITTED, constraint
from bench.families import KINDS, Family, measured
from bench.hostile import Hostile, slope
from bench.streaming import Stream, stream
from bench.tables import Results, grids, notes
from bench.text import cut, prose
from bench.tools import tools
from bench.whole import Comparison, against_find, against_json, new_parser
from bench.workloads import WORKLOADS, Workload
from dragoman import get_dialect, parse

each = pytest.mark.parametrize("work", WORKLOADS, ids=lambda work: work.name)


@each
def test_a_workload_is_read_as_the_message_that_it_is(work: Workload) -> None:
    output = work.write(300)
    assert parse(output.text, work.dialect, work.tools or None) == output.message


@each
def test_a_workload_has_as_many_chunks_as_asked_for_or_nearly_so(work: Workload) -> None:
    assert abs(len(work.write(1000).chunks) - 1000) < 60


def test_text_is_cut_like_tokens_and_nothing_is_lost() -> None:
    text = 'Note that internationally a < b, "x_1"\n\n  done<|end|>'
    chunks = cut(text, ("<|end|>",))
    assert "".join(chunks) == text
    assert chunks[:6] == ["Note", " that", " intern", "ationa", "lly", " a"]
    assert chunks[-1] == "<|end|>"


def test_chunks_of_prose_have_about_four_characters() -> None:
    chunks = prose(2000)
    assert 3.5 < len("".join(chunks)) / len(chunks) < 4.5


def test_each_block_counts_with_its_fastest_run() -> None:
    best = Best()
    best.take([5, 1, 9])
    best.take([2, 7, 3])
    assert best.total == 2 + 1 + 3


@each
def test_a_workload_is_measured(work: Workload) -> None:
    found = stream(work, 1, (64, 256))
    assert found.correct
    assert min(found.ratio, found.growth, found.whole_mb_s, found.mean_length) > 0
    assert 0 < found.marked < 1


def test_a_dialect_is_measured_against_the_core_and_missed_where_it_costs_more() -> None:
    found = measured(get_dialect("llama3_json"), 1, {kind: make for kind, make in KINDS.items() if kind != "records"})
    assert set(found) == {"text", "string"}
    assert all(0 < floor < time for time, floor in found.values())
    cheap = Family("a", {"text": 0.2}, {"text": 4.0}, {"text": 1.0})
    dear = Family("b", {"text": 0.4}, {"text": 9.0}, {"text": 1.8})
    assert (cheap.missed, dear.missed) == ((), ("text",))
    (grid,) = grids(Results(families=[cheap, dear]))
    assert [row[1] for row in grid.rows] == ["4.0 (1.00)", "9.0 (1.80)"]
    assert grid.rows[1][-1] == "missed: text > 1.5 core"


def test_there_are_fifty_tools_and_each_has_its_rule() -> None:
    names = [tool.name for tool in tools()]
    assert len(set(names)) == 50
    for each_emission in EMITTED:
        rules = constraint(each_emission, tools()).rules.rules
        assert {f"{name.replace('_', '-')}-call" for name in names} <= rules.keys()


def test_constraints_are_written_where_no_engine_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.constraints.find_spec", lambda name: None)
    monkeypatch.setattr("bench.constraints.EMITTED", EMITTED[-1:])
    (row,) = constraints([2])
    assert row.dialect == "llama3_json"
    assert all(row.cold_ms[engine] > 0 < row.kilobytes[engine] for engine in PRINTED)
    assert row.builtin_ms is None
    assert row.lark_ms is None
    both = dict.fromkeys(PRINTED, 2.0)
    (grid,) = grids(Results(constraints=[Emitted("a", 2, both, both, 1.0, 3000.0, None, None, None)]))
    assert grid.rows == (("a", "2", *["2 (2)"] * 4, "1.0", "3,000", "-", "-", "-"),)


@pytest.mark.slow
def test_engines_take_what_is_written_for_them() -> None:
    assert all(row.grammar_ms and row.tag_ms and row.builtin_ms and row.lark_ms for row in constraints([2]))


def test_a_hostile_input_is_measured_whole_and_in_chunks() -> None:
    hostile = Hostile("brackets", "hermes", '<tool_call>{"name": "f", "arguments": ', "[", 200)
    assert [slope(hostile, chunk, 1).how for chunk in (None, 4)] == ["whole", "chunks of 4"]


def test_limits_that_are_missed_are_said() -> None:
    assert Comparison("new", "a new parser", 9.0, 0.01, 900.0, 300.0).missed == ("ratio 900 > 300",)
    assert Comparison("find", "no limit", 9.0, 0.01, 900.0).missed == ()


def test_missed_rows_are_shown_as_missed_and_counted() -> None:
    slow = Stream("slow", "slow", "hermes", (2048,), (9.0,), (0.05,), 180.0, 4.0, 1.5, 1.0, 0.1, 3.9, True)
    results = Results([slow])
    assert grids(results)[0].rows[0][3] == "missed: ratio 180.0 > 4, growth 1.50 > 1.15"
    assert notes(results)[-1] == "1 row misses a limit."


@pytest.mark.parametrize(
    ("flag", "shown"),
    [("--quick", "whole texts, and a new parser"), ("--markdown", "### Whole texts, and a new parser")],
)
def test_tables_are_plain_when_piped(
    flag: str, shown: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _make_small(monkeypatch)
    assert main(["--only", "whole", "--quick", flag]) == 0
    assert capsys.readouterr().out.splitlines()[0] == shown


def test_json_has_all_numbers(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    _make_small(monkeypatch)
    assert main(["--only", "content", "--only", "whole", "--only", "peer", "--quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in found["streams"]] == ["content"]
    assert [row["name"] for row in found["comparisons"]] == ["find", "loads", "new", "answer", "call"]
    assert found["peer"]["note"].startswith("not measured: TIKTOKEN_ENCODINGS_BASE")


def test_the_profile_tells_fast_chunks_from_slow_ones(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    _make_small(monkeypatch)
    assert main(["--profile", "string", "--quick"]) == 0
    shown = capsys.readouterr().out
    assert "a fast chunk" in shown
    assert "the dearest slow chunks" in shown


def _make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes at which a run takes no time."""
    monkeypatch.delenv("TIKTOKEN_ENCODINGS_BASE", raising=False)
    monkeypatch.setattr("bench.__main__.SIZES", (64, 256, 512))
    monkeypatch.setattr("bench.whole.CHUNKS", 512)
    monkeypatch.setattr("bench.profiling.CHUNKS", 512)
    monkeypatch.setattr("bench.whole.best_of", lambda rounds, ours, other: (ours(), other(), 3.0, 1.5)[2:])


def test_comparisons_name_what_they_compare(monkeypatch: pytest.MonkeyPatch) -> None:
    _make_small(monkeypatch)
    assert [row(1).title for row in (against_find, against_json, new_parser)] == [
        "whole content / str.find of the opener",
        "whole JSON call / json.loads of its arguments",
        "a new parser with 20 tools / floor",
    ]
