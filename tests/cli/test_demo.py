"""``dragoman demo``: every recording is read, and what is claimed about it is checked."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from dragoman.cli.demo import Pace
from dragoman.recordings import recordings

from .conftest import Run

NAMES = [recording.name for recording in recordings()]


def test_piped_it_shows_every_recording_and_does_not_wait(dragoman: Run) -> None:
    begun = time.perf_counter()
    done = dragoman("demo")
    assert time.perf_counter() - begun < 5
    assert done.code == 0
    assert "\x1b" not in done.out
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith("━━ ")] == NAMES


def test_the_summary_checks_each_recording(dragoman: Run) -> None:
    summary = dragoman("demo").out.rpartition("\n\n")[2].splitlines()
    assert summary[0].split("  ")[0] == "recording"
    assert [line.split()[0] for line in summary[1:]] == NAMES
    for line in summary[1:]:
        assert line.split()[-3:] == ["yes", "yes", "0"]


def test_one_may_be_chosen_by_dialect_or_by_name(dragoman: Run) -> None:
    done = dragoman("demo", "mistral", "llama3_json", "harmony_answer", "--chunk", "1")
    assert [line.split()[1] for line in done.out.splitlines() if line.startswith("━━ ")] == [
        "harmony_answer",
        "llama3_json",
        "llama3_json_answer",
        "mistral",
    ]


def test_an_unknown_one_is_told(dragoman: Run) -> None:
    done = dragoman("demo", "harmoni")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'harmony'?" in done.err


def test_in_a_terminal_it_is_coloured(terminal: Callable[..., str]) -> None:
    got = terminal("demo", "hermes", "--fast")
    assert "\x1b[2;3m" in got
    assert "\x1b[32myes" in got


@pytest.mark.slow
def test_in_a_terminal_it_keeps_a_pace(terminal: Callable[..., str]) -> None:
    begun = time.perf_counter()
    terminal("demo", "hermes")
    assert 3 < time.perf_counter() - begun < 9


def test_a_pace_without_seconds_never_waits() -> None:
    pace, begun = Pace(0, 10), time.perf_counter()
    for _ in range(10):
        pace.wait()
    assert time.perf_counter() - begun < 0.005


def test_a_pace_spreads_its_steps() -> None:
    pace, begun = Pace(0.05, 10), time.perf_counter()
    for _ in range(10):
        pace.wait()
    assert 0.03 < time.perf_counter() - begun < 0.5
