"""The fuzzer finds what is broken, makes it small, and finds nothing in a parser that is not."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import monotonic

import pytest

from dragoman import Dialect, Parser
from dragoman.events import ArgumentsDelta, CallBegin, CallEnd, CallStatus, ContentDelta, Event, Stop
from fuzz.__main__ import fuzz, main
from fuzz.bytewise import bytes_of, judge_bytes
from fuzz.case import Broken, Case, cut, feed_all
from fuzz.growth import judge_growth, repetition
from fuzz.promises import judge, judged
from fuzz.shrink import shorten, shrink
from fuzz.soup import case_of, markers, texts
from tests.kinds import ALL


@ALL
def test_an_input_of_each_dialect_breaks_nothing(dialect: Dialect) -> None:
    assert judge(case_of(7, 0, dialect.name)) is None


def test_the_same_seed_gives_the_same_inputs() -> None:
    assert [case_of(1, k, "hermes") for k in range(20)] == [case_of(1, k, "hermes") for k in range(20)]
    assert case_of(1, 0, "hermes") != case_of(2, 0, "hermes")


@ALL
def test_soup_is_made_of_what_the_dialect_looks_for(dialect: Dialect) -> None:
    assert len(markers(dialect.name)) > 3
    assert texts(dialect.name)


def test_a_text_is_cut_where_told() -> None:
    assert cut("abcdef", [0, 2, 2, 5]) == ["", "ab", "", "cde", "f"]


class Tampered(Parser):
    """A parser whose events are changed before anybody sees them."""

    __slots__ = ()
    change: Callable[[list[Event]], list[Event]]

    def finish(self, reason: str | None = None) -> list[Event]:
        return type(self).change(super().finish(reason))


def broken_by(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[list[Event]], list[Event]], text: str = "x <"
) -> Broken | None:
    """What is found if the events of the end are changed."""
    monkeypatch.setattr(Tampered, "change", staticmethod(change), raising=False)
    monkeypatch.setattr("fuzz.case.Parser", Tampered)
    return judge(Case("hermes", text))


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (lambda events: events[1:], ("lossless", "end")),
        (lambda events: [ContentDelta("!", 2, 3), *events[1:]], ("lossless", "text of ContentDelta")),
        (lambda events: [events[0], *events], ("lossless", "overlap")),
        (lambda events: [ContentDelta("", 0, 0), *events], ("tidy", "empty ContentDelta")),
        (lambda events: [*events, Stop(None, None, 0, 0)], ("ordered", "Stop")),
        (lambda events: [*events, Stop(None, None, 3, 3)], ("ordered", "stops")),
        (lambda events: [*events, CallBegin(0, "f", None, 3, 3)], ("ordered", "never ended")),
        (lambda events: [*events, CallBegin(1, "f", None, 3, 3)], ("ordered", "begin")),
        (lambda events: [*events, CallBegin(0, "", None, 3, 3)], ("tidy", "empty name")),
        (lambda events: [*events, ArgumentsDelta(0, "{}", 3, 3)], ("ordered", "ArgumentsDelta")),
    ],
)
def test_tampered_events_are_found_out(
    change: Callable[[list[Event]], list[Event]], key: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = broken_by(monkeypatch, change)
    assert broken is not None
    assert broken.key == key


def test_arguments_that_are_no_json_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    call: list[Event] = [
        CallBegin(0, "f", None, 3, 3),
        ArgumentsDelta(0, "{", 3, 3),
        CallEnd(0, CallStatus.COMPLETE, (), None, 3, 3),
    ]
    broken = broken_by(monkeypatch, lambda events: [*events[:-1], *call, events[-1]])
    assert broken is not None
    assert broken.promise == "valid JSON"


def test_an_exception_is_a_finding() -> None:
    def fails() -> Broken | None:
        raise KeyError("x")

    broken = judged(fails)
    assert broken is not None
    assert broken.key == ("total", "KeyError in test_fuzz.py:fails")


def test_a_failing_input_is_made_small() -> None:
    case = Case("hermes", "some <tool_call> and é more", "reasoning", tools=True, reason="stop")
    assert shrink(case, lambda each: "<tool_call>" in each.text) == Case("hermes", "<tool_call>")


def test_bytes_are_shortened_too() -> None:
    assert shorten(b"abcXdefYgh", lambda raw: b"X" in raw and b"Y" in raw, monotonic() + 5) == b"XY"


@pytest.mark.parametrize("number", range(6))
def test_bytes_are_read_as_the_text_that_they_are(number: int) -> None:
    raw = bytes_of("a <think> é 語 <tool_call>", Random(number))
    assert judge_bytes(Case("hermes", ""), raw) is None


def test_time_that_does_not_grow_is_no_finding() -> None:
    assert judge_growth(Case("hermes", "Hello. "), "plain text ") is None


def test_repetitions_are_of_the_dialect() -> None:
    case, unit = repetition(Random(3), "harmony")
    assert case.dialect == "harmony"
    assert unit


def test_the_command_says_its_seed_and_what_it_did(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seconds", "0.05", "--seed", "3", "--dialect", "hermes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "seed 3: hermes"
    assert lines[-1].endswith("inputs, 0 kinds of failure")


def test_a_finding_is_printed_once_and_small(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def judge_a(case: Case) -> Broken | None:
        return Broken("bounded", "held", "too much") if "a" in case.text else None

    monkeypatch.setattr("fuzz.__main__.judge", judge_a)
    monkeypatch.setattr("fuzz.__main__.judge_bytes", lambda case, raw: None)
    findings, inputs = fuzz(["hermes"], 3, 0.2)
    assert inputs > 1
    assert [finding.case for finding in findings] == ["hermes, 'a'"]
    assert "bounded: held  (seed 3, hermes, input" in capsys.readouterr().out


def test_all_events_are_those_of_the_pieces_and_the_end() -> None:
    assert feed_all(Parser("hermes"), ["Hello"], "stop")[-1] == Stop("stop", None, 5, 5)
