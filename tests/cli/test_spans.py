"""Spans: what they join, and when they tile a text."""

from __future__ import annotations

import pytest

from dragoman.cli.spans import Span, spans, tiles
from dragoman.events import ArgumentsDelta, CallBegin, CallEnd, CallStatus, ContentDelta, Markup


def test_neighbours_of_one_kind_are_joined_also_over_events_without_characters() -> None:
    end = CallEnd(0, CallStatus.COMPLETE, (), None, 2, 2)
    events = [Markup("a", 0, 1), Markup("b", 1, 2), end, Markup("c", 2, 3), ContentDelta("d", 3, 4)]
    assert spans(events) == [Span(0, 3, "markup"), Span(3, 4, "content")]


def test_arguments_that_waited_for_a_name_stand_where_they_were_written() -> None:
    events = [Markup("{", 0, 1), CallBegin(0, "f", None, 3, 4), ArgumentsDelta(0, "{}", 1, 3), Markup("}", 4, 5)]
    assert [span.kind for span in spans(events)] == ["markup", "arguments", "name", "markup"]
    assert tiles(spans(events), 5)


@pytest.mark.parametrize(
    "found", [[], [Span(0, 3, "content")], [Span(0, 2, "a"), Span(3, 4, "b")], [Span(0, 3, "a"), Span(2, 4, "b")]]
)
def test_a_gap_an_overlap_or_a_rest_is_seen(found: list[Span]) -> None:
    assert not tiles(found, 4)
