"""One call of an upstream: delta by delta, to a beginning, arguments and an end."""

from __future__ import annotations

import pytest

from dragoman.events import ArgumentsDelta, CallBegin, CallEnd, CallStatus, Event, Malformed, Markup, Problem, merge
from dragoman.grammar.schema import NO_TOOLS
from dragoman.stream.native import DEFERRED_LIMIT, CallPush, NativeCall


def begun(name: str = "f") -> NativeCall:
    call = NativeCall()
    assert call.identify(CallPush(0, "a", name, "", 0), NO_TOOLS, 0) == []
    assert call.begin(NO_TOOLS, 0) == [CallBegin(0, name, "a", 0, len(name))]
    assert call.begin(NO_TOOLS, 0) == []
    return call


def taken(call: NativeCall, text: str, at: int = 1) -> list[Event]:
    used, events = call.take(text, at)
    return events + call.take_rest(text[used:], at + used)


def status(call: NativeCall, *, well: bool = True) -> CallStatus:
    return next(event.status for event in call.end(well=well) if isinstance(event, CallEnd))


def test_arguments_pass_as_they_are_and_layout_behind_them_is_markup() -> None:
    call = begun()
    assert taken(call, ' {"x": 1} \n') == [ArgumentsDelta(0, ' {"x": 1}', 1, 10), Markup(" \n", 10, 12)]
    assert call.end(well=False) == [CallEnd(0, CallStatus.COMPLETE, (), "a", 12, 12)]


def test_what_is_no_json_is_malformed_from_there_on() -> None:
    call = begun()
    assert merge(taken(call, "{'x'") + taken(call, ": 1}", 5)) == [
        ArgumentsDelta(0, "{", 1, 2),
        Malformed("'x': 1}", 2, 9),
    ]
    end, problem = call.end(well=True)
    assert isinstance(end, CallEnd)
    assert isinstance(problem, Problem)
    assert (end.status, problem.raw) == (CallStatus.MALFORMED, "{'x': 1}")


@pytest.mark.parametrize(
    ("arguments", "empty", "settled"),
    [("", True, False), (" ", True, False), ("[", False, False), ("{}", False, True), ("x", False, True)],
)
def test_a_call_knows_whether_it_can_be_over(arguments: str, empty: bool, settled: bool) -> None:
    call = begun()
    taken(call, arguments)
    assert (call.is_empty, call.is_settled) == (empty, settled)


@pytest.mark.parametrize(
    ("arguments", "push", "replaced"),
    [
        ("{}", CallPush(0, "b", "f", "", 9), True),
        ("{}", CallPush(0, "a", "f", "", 9), False),
        ("{}", CallPush(0, None, "g", "{}", 9), True),
        ("{}", CallPush(0, None, "", "{}", 9), False),
        ("", CallPush(0, "b", "g", "", 9), True),
        ("{", CallPush(0, "b", "g", "", 9), False),
    ],
)
def test_an_index_that_comes_again_may_be_another_call(arguments: str, push: CallPush, replaced: bool) -> None:
    call = begun()
    taken(call, arguments)
    assert call.is_replaced_by(push) is replaced


def test_arguments_wait_for_a_name() -> None:
    call = NativeCall()
    assert call.defer('{"x"', 0) == []
    assert call.identify(CallPush(0, None, "f", "", 4), NO_TOOLS, 3) == [
        CallBegin(3, "f", None, 4, 5),
        ArgumentsDelta(3, '{"x"', 0, 4),
    ]
    assert status(call) is CallStatus.INCOMPLETE


def test_arguments_do_not_wait_without_end() -> None:
    call = NativeCall()
    assert call.defer("[" + " " * DEFERRED_LIMIT, 0) == [Malformed(" ", DEFERRED_LIMIT, DEFERRED_LIMIT + 1)]
    call.identify(CallPush(0, None, "f", "", DEFERRED_LIMIT + 1), NO_TOOLS, 0)
    assert status(call) is CallStatus.MALFORMED


def test_a_late_delta_is_layout_a_repetition_or_out_of_place() -> None:
    call = begun()
    call.end(well=True)
    assert call.take_late(CallPush(0, None, "f", " ", 1)) == [Markup("f", 1, 2), Markup(" ", 2, 3)]
    late = call.take_late(CallPush(0, None, "", "x", 3)) + call.take_late(CallPush(0, None, "", " ", 4))
    assert [type(event) for event in late] == [Problem, Malformed, Malformed]
