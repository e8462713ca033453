"""Spans: what they join, and when they tile a text."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from dragoman import get_dialect
from dragoman.cli.output import Ink
from dragoman.cli.spans import Span, draw, example_spans, spans, tiles
from dragoman.events import ArgumentsDelta, CallBegin, CallEnd, CallStatus, ContentDelta, Markup


def test_neighbours_of_one_kind_are_joined_also_over_events_without_characters() -> None:
    end = CallEnd(0, CallStatus.COMPLETE, (), None, 2, 2)
    events = [Markup("a", 0, 1), Markup("b", 1, 2), end, Markup("c", 2, 3), ContentDelta("d", 3, 4)]
    assert spans(events) == [Span(0, 3, "markup"), Span(3, 4, "content")]


def test_arguments_that_waited_for_a_name_stand_where_they_were_written() -> None:
    events = [Markup("{", 0, 1), CallBegin(0, "f", None, 3, 4), ArgumentsDelta(0, "{}", 1, 3), Markup("}", 4, 5)]
    assert [span.kind for span in spans(events)] == ["markup", "arguments", "name", "markup"]
    assert tiles(spans(events), 5)


def test_a_name_in_a_header_is_shown_as_one_in_an_example() -> None:
    for name in ("harmony", "kimi_k2", "mistral", "hermes"):
        dialect = get_dialect(name)
        example = dialect.examples[0]
        found = example_spans(dialect, example)
        names = [example.text[span.start : span.end].strip('"') for span in found if span.kind == "name"]
        assert names == [call.name for call in example.message.tool_calls]
        assert tiles(found, len(example.text))


def test_all_lines_of_a_drawn_text_stand_behind_the_same_indentation() -> None:
    console = Console(file=StringIO())
    draw(Ink(console), "a\n\nbc", [Span(0, 2, "markup"), Span(2, 4, "content"), Span(4, 5, "markup")], "  ")
    assert console.file.getvalue() == "  a\n\n  bc\n"


@pytest.mark.parametrize(
    "found", [[], [Span(0, 3, "content")], [Span(0, 2, "a"), Span(3, 4, "b")], [Span(0, 3, "a"), Span(2, 4, "b")]]
)
def test_a_gap_an_overlap_or_a_rest_is_seen(found: list[Span]) -> None:
    assert not tiles(found, 4)
