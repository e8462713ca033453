"""The bundled recordings: each is read without a problem and in full, however it is cut."""

from __future__ import annotations

import pytest

from dragoman import Parser, dialects
from dragoman.cli.spans import spans, tiles
from dragoman.events import CallEnd, CallStatus, Event, Problem, merge
from dragoman.parse.assemble import assemble
from dragoman.recordings import Recording, recordings, tools

each = pytest.mark.parametrize("recording", recordings(), ids=lambda recording: recording.name)


def read(recording: Recording, size: int) -> list[Event]:
    parser, text = Parser(recording.dialect, tools(), start=recording.start), recording.text
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    return merge(events + parser.finish())


@each
def test_there_is_nothing_wrong_with_it(recording: Recording) -> None:
    events = read(recording, 4)
    assert [event for event in events if isinstance(event, Problem)] == []
    ends = [event for event in events if isinstance(event, CallEnd)]
    assert [end for end in ends if end.status is not CallStatus.COMPLETE or end.problems] == []


@each
@pytest.mark.parametrize("size", [1, 3, 4096])
def test_its_events_do_not_depend_on_the_chunks(recording: Recording, size: int) -> None:
    assert read(recording, size) == read(recording, len(recording.text))


@each
def test_every_character_is_accounted_for(recording: Recording) -> None:
    assert tiles(spans(read(recording, 4)), len(recording.text))


@each
def test_no_marker_leaks_into_what_people_see(recording: Recording) -> None:
    message = assemble(read(recording, 4))
    for mark in ("<|", "|>", "｜", "[TOOL_CALLS]", "[ARGS]", "</tool_call>", "</think>", "</s>", "<function="):
        assert mark not in message.text + message.thinking


def test_each_is_of_a_dialect_that_there_is() -> None:
    assert {recording.dialect for recording in recordings()} <= {dialect.name for dialect in dialects()}


def test_they_are_chosen_by_name_or_by_dialect() -> None:
    assert [recording.name for recording in recordings("harmony")] == ["harmony", "harmony_answer"]
    assert [recording.name for recording in recordings("harmony_answer", "hermes")] == ["hermes", "harmony_answer"]


def test_every_tool_that_is_called_is_listed() -> None:
    called = {call.name for recording in recordings() for call in assemble(read(recording, 4)).tool_calls}
    assert called == {tool.name for tool in tools()}
