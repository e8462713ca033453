"""Holds a dialect to its cases: what is expected, however the output is cut, and wherever it ends.

A case proves more than its own message: its text is fed in many chunkings, bytes too, and ended behind many of its
characters, where no call may appear that the whole does not have. `thorough` tries every cut inside a marker, an ending
behind every character, and all promises of `dragoman.testing`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from random import Random

from ..dialect import Dialect
from ..errors import Inexpressible
from ..events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Problem,
    ProblemKind,
    ReasoningDelta,
    Stop,
    merge,
)
from ..parse.assemble import assemble
from ..parse.parser import Parser
from ..testing import (
    PROMISES,
    Broken,
    Report,
    Result,
    Trial,
    chunkings,
    markers,
    read,
    require_same,
    require_same_bytes,
)
from ..types import Message, TextPart, ThinkingPart, ToolCall, UnparsedToolCall
from .cases import SCENARIOS, Case, Suite
from .notation import same, write_part

__all__ = ["check_case", "check_suite"]

_SIGN = re.compile(r"""[^\w\s"'`{}:,]\S*[^\w\s"'`{}:,]""")
"""What makes a literal of a grammar a marker that nobody should see: two signs that neither JSON nor a fence has."""

ENDINGS = 24
"""About how many characters a case is ended behind, unless it is tried thoroughly: then behind each."""

_ALWAYS = ("lossless", "honest", "ordered")
_WHOLE_MESSAGE = ("two-way", "one source")


def check_suite(
    dialect: Dialect, suite: Suite, *, thorough: bool = False, progress: Callable[[float], None] | None = None
) -> Report:
    """How the dialect fares, a result for each scenario: ``passed``, ``failed``, ``known`` or ``lacks``.

    A scenario without cases and without a reason for it has failed. One is ``known`` if just those cases fail that
    say so; a case that says so and passes has failed, too. `progress` is called with the share that is done.
    """
    results = []
    for k, scenario in enumerate(SCENARIOS):
        results.append(_check_scenario(dialect, suite, scenario, thorough))
        if progress is not None:
            progress((k + 1) / len(SCENARIOS))
    return Report(dialect.name, tuple(results))


def _check_scenario(dialect: Dialect, suite: Suite, scenario: str, thorough: bool) -> Result:
    cases = suite.of(scenario)
    if not cases:
        reason = suite.lacks.get(scenario)
        fix = f"{suite.source}: no case of {scenario} ({SCENARIOS[scenario]}); add one, or the reason to [lacks]"
        return Result(scenario, "lacks", reason, 0) if reason else Result(scenario, "failed", fix, 0)
    found = [(case, _failure(dialect, case, thorough)) for case in cases]
    new = [
        failure or f"{case.where}: passes now; take out its `fails`"
        for case, failure in found
        if _is_new(case, failure)
    ]
    known = [f"{case.where}: {case.fails}" for case in cases if case.fails]
    if new:
        return Result(scenario, "failed", "\n".join(new), len(cases))
    return Result(scenario, "known" if known else "passed", "\n".join(known), len(cases))


def _is_new(case: Case, failure: str) -> bool:
    return bool(failure) is not bool(case.fails)


def _failure(dialect: Dialect, case: Case, thorough: bool) -> str:
    try:
        check_case(dialect, case, thorough=thorough)
    except Broken as broken:
        return str(broken)
    except Exception as error:  # the promise "total" is broken
        return f"{case.where}: {type(error).__name__}: {error}\n  input {case.text!r}"
    return ""


def check_case(dialect: Dialect, case: Case, *, thorough: bool = False) -> None:
    """Hold the dialect to one case; raises `Broken` with the first thing that is not as it should be."""
    trial = Trial(dialect, case.text, case.tools, case.start, case.reason)
    random = Random(len(case.text))
    try:
        events = read(trial, [case.text])
        _require_expected(trial, case, events)
        for name in PROMISES if thorough else _ALWAYS:
            PROMISES[name](trial, random)
        for chunks in _cuts(case.text, markers(dialect), random, thorough):
            require_same(trial, chunks, events)
        if thorough or not case.text.isascii():
            require_same_bytes(trial, events)
        _Ending(trial, case, assemble(events).tool_calls).walk(events, thorough)
        _require_written_back(trial, case, random)
    except Broken as broken:
        raise Broken(f"{case.where}: {broken}") from None


def _require_expected(trial: Trial, case: Case, events: Sequence[Event]) -> None:
    found = assemble(events).parts
    if len(found) != len(case.expect) or not all(map(same, case.expect, found)):
        raise trial.fail(f"it is read as\n{_listed(map(write_part, found))}")
    problems = tuple(_problems(events))
    if problems != case.problems:
        raise trial.fail(f"its problems are {list(problems)}, not {list(case.problems)}")
    marker = next(event.marker for event in events if isinstance(event, Stop))
    if case.stop is not None and marker != case.stop:
        raise trial.fail(f"it is stopped by {marker!r}, not by {case.stop!r}")


def _listed(lines: Iterator[str]) -> str:
    return "\n".join(f"    {line!r}" for line in lines) or "    nothing"


def _problems(events: Sequence[Event]) -> Iterator[str]:
    """The kinds of all problems in their order, those of calls where the call ends."""
    for event in events:
        if isinstance(event, Problem):
            yield event.kind.value
        elif isinstance(event, CallEnd):
            yield from (problem.kind.value for problem in event.problems)


def _cuts(text: str, marks: Sequence[str], random: Random, thorough: bool) -> Iterator[list[str]]:
    """Chunkings that cut every marker at its k-th character, for each k; without `thorough`, for three of them."""
    places = [(at, len(mark)) for mark in marks for at in _found(mark, text)]
    longest = max((size for _, size in places), default=1)
    for k in range(1, longest) if thorough else sorted({1, longest // 2, longest - 1}):
        cuts = sorted({0, len(text), *(at + min(k, size - 1) for at, size in places)})
        yield [text[a:b] for a, b in pairwise(cuts)]
    *_, last = chunkings(text, random)  # the others are a promise of its own, which `thorough` tries
    yield last


def _found(mark: str, text: str) -> Iterator[int]:
    at = text.find(mark)
    while at >= 0:
        yield at
        at = text.find(mark, at + 1)


class _Ending:
    """Feeds a case character by character, and ends a copy of the parser behind each."""

    def __init__(self, trial: Trial, case: Case, calls: tuple[ToolCall, ...]) -> None:
        self._trial, self._case, self._calls = trial, case, calls
        self._text = case.text
        self._published: list[Event] = []
        self._covered = 0  # a bit for each character that an event has taken
        self._stops = 0
        said = "".join(part.text for part in case.expect if isinstance(part, (TextPart, ThinkingPart)))
        plain = (mark.strip() for mark in markers(trial.dialect) if _SIGN.search(mark))
        self._marks = tuple(mark for mark in plain if mark not in said) if case.well_formed else ()

    def walk(self, whole: Sequence[Event], thorough: bool) -> None:
        """Raises `Broken` at the first character behind which something is wrong."""
        parser = self._trial.parser()
        reasons = ("length", "stop", None) if thorough else ("length",)
        step = 1 if thorough else max(1, len(self._text) // ENDINGS)
        for reason in reasons:
            self._end(parser, 0, reason)
        for k, char in enumerate(self._text, 1):
            self._take(parser.feed(char), k)
            if parser.held > parser.hold_bound:
                raise self._fail(k, f"{parser.held} characters are held, more than {parser.hold_bound}")
            for reason in reasons if k % step == 0 or k == len(self._text) else ():
                self._end(parser, k, reason)
        if merge(self._published + parser.finish(self._case.reason)) != whole:
            raise self._fail(len(self._text), "the events are other ones than those of the whole")

    def _take(self, events: Sequence[Event], at: int) -> None:
        self._covered, self._stops = self._tiled(events, at)
        self._published += events

    def _end(self, parser: Parser, at: int, reason: str | None) -> None:
        last = parser.copy().finish(reason)
        covered, stops = self._tiled(last, at)
        if covered != (1 << at) - 1:
            raise self._fail(at, "the spans leave a gap or end too early")
        if stops != 1:
            raise self._fail(at, f"there are {stops} stops")
        if reason == "length" and any(map(_completes, last)):
            self._require_known(last, at)
        if self._marks:
            self._require_no_leak(last, at)

    def _tiled(self, events: Sequence[Event], at: int) -> tuple[int, int]:
        covered, stops = self._covered, self._stops
        for event in events:
            if event.end > event.start:
                bits = (1 << event.end) - (1 << event.start)
                if covered & bits or event.end > at:
                    raise self._fail(at, f"the spans overlap, or run ahead: {event}")
                covered |= bits
            stops += isinstance(event, Stop)
        return covered, stops

    def _require_known(self, last: Sequence[Event], at: int) -> None:
        """A call that is complete here is one of the whole, in its place."""
        calls = assemble(event for event in (*self._published, *last) if _of_a_call(event)).tool_calls
        if calls != self._calls[: len(calls)]:
            raise self._fail(at, f"a call is complete that is none in the end: {write_part(calls[-1])!r}")

    def _require_no_leak(self, last: Sequence[Event], at: int) -> None:
        """Text that the end has released holds no marker, unless it begins with an opener that opened nothing yet, or
        it is reported as a header that is none.
        """
        text = "".join(event.text for event in last if isinstance(event, (ContentDelta, ReasoningDelta))).lstrip()
        if text.startswith(self._marks) or ProblemKind.MALFORMED_HEADER in _problems(last):
            return
        for mark in self._marks:
            if mark in text:
                raise self._fail(at, f"the marker {mark!r} is shown as text")

    def _fail(self, at: int, what: str) -> Broken:
        return self._trial.fail(f"ended behind {self._text[:at]!r}, {what}")


def _of_a_call(event: Event) -> bool:
    return isinstance(event, (CallBegin, ArgumentsDelta, CallEnd))


def _completes(event: Event) -> bool:
    return isinstance(event, CallEnd) and event.status is CallStatus.COMPLETE


def _require_written_back(trial: Trial, case: Case, random: Random) -> None:
    """A message that nothing is wrong with is read again as the dialect itself writes it, where it can."""
    if not case.well_formed or any(isinstance(part, UnparsedToolCall) for part in case.expect):
        return
    message = Message("assistant", case.expect)
    try:
        text = trial.dialect.render(message)
    except Inexpressible:
        return
    for name in _WHOLE_MESSAGE:
        PROMISES[name](Trial(trial.dialect, text, trial.tools, message=message), random)
