"""Events: neighbouring deltas join, all else stays as it is."""

from __future__ import annotations

import msgspec
import pytest

from dragoman.events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Malformed,
    Markup,
    Problem,
    ProblemKind,
    ReasoningDelta,
    Stop,
    TagDelta,
    TagEnd,
    merge,
)

ONE_OF_EACH: list[Event] = [
    ReasoningDelta("a", 0, 1),
    ContentDelta("b", 1, 2, "commentary"),
    Markup("c", 2, 3),
    Malformed("d", 3, 4),
    CallBegin(0, "f", None, 4, 5),
    ArgumentsDelta(0, "{}", 5, 7),
    CallEnd(0, CallStatus.COMPLETE, (Problem(ProblemKind.UNKNOWN_TOOL, "f", "", 5, 5),), "7", 7, 7),
    Problem(ProblemKind.IMPLICIT_CLOSE, "", "", 7, 7),
    TagDelta("t", "e", 7, 8),
    TagEnd("t", 8, 8),
    Stop("stop", None, 8, 8),
]


@pytest.mark.parametrize(
    ("events", "merged"),
    [
        ([ReasoningDelta("a", 0, 1), ReasoningDelta("b", 1, 2)], [ReasoningDelta("ab", 0, 2)]),
        ([ContentDelta("a", 0, 1), ContentDelta("b", 1, 2), ContentDelta("c", 2, 3)], [ContentDelta("abc", 0, 3)]),
        ([ContentDelta("a", 0, 1, "x"), ContentDelta("b", 1, 2, "x")], [ContentDelta("ab", 0, 2, "x")]),
        ([Markup("a", 0, 1), Markup("b", 1, 2)], [Markup("ab", 0, 2)]),
        ([Malformed("a", 0, 1), Malformed("b", 1, 2)], [Malformed("ab", 0, 2)]),
        # The JSON of a transcoded piece need not be as long as its span.
        ([ArgumentsDelta(0, '"', 3, 3), ArgumentsDelta(0, "\\n", 3, 4)], [ArgumentsDelta(0, '"\\n', 3, 4)]),
        ([TagDelta("t", "a", 0, 1), TagDelta("t", "b", 1, 2)], [TagDelta("t", "ab", 0, 2)]),
    ],
)
def test_neighbours_of_one_kind_become_one(events: list[Event], merged: list[Event]) -> None:
    assert merge(events) == merged


@pytest.mark.parametrize(
    "events",
    [
        [],
        ONE_OF_EACH,
        [ContentDelta("a", 0, 1), ReasoningDelta("b", 1, 2)],
        [ContentDelta("a", 0, 1), ContentDelta("b", 1, 2, "commentary")],
        [ContentDelta("a", 0, 1), ContentDelta("b", 2, 3)],
        [ArgumentsDelta(0, "{}", 0, 2), ArgumentsDelta(1, "{}", 2, 4)],
        [TagDelta("s", "a", 0, 1), TagDelta("t", "b", 1, 2)],
        [TagEnd("t", 0, 0), TagEnd("t", 0, 0)],
        [Problem(ProblemKind.MALFORMED, "", "", 0, 0), Problem(ProblemKind.MALFORMED, "", "", 0, 0)],
    ],
)
def test_all_else_stays_apart(events: list[Event]) -> None:
    assert merge(events) == events


def test_merging_twice_changes_nothing() -> None:
    events = [event for event in ONE_OF_EACH for _ in range(2)]
    assert merge(merge(events)) == merge(events)


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: type(event).__name__)
def test_an_event_goes_through_json_and_back(event: Event) -> None:
    assert msgspec.json.decode(msgspec.json.encode(event), type=Event) == event


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: type(event).__name__)
def test_an_event_is_a_value(event: Event) -> None:
    assert len({event, msgspec.structs.replace(event)}) == 1
    with pytest.raises(AttributeError):
        event.start = 9  # type: ignore[misc]
