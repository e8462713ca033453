"""A trace is taken over if it is well-formed, else a new one begins; the same for a request's id."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.gateway.observe.trace import Trace, request_id, trace_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
SENT = f"00-{TRACE}-{SPAN}-01"


def taken(parent: str | None, state: str | None = None) -> Trace:
    return trace_of(parent, state, Random(1).randbytes)


def test_a_trace_goes_on_with_a_span_of_our_own() -> None:
    trace = taken(SENT, "vendor=a")
    assert (trace.trace, trace.parent, trace.flags) == (TRACE, SPAN, "01")
    assert trace.span != SPAN
    assert trace.headers() == (("traceparent", f"00-{TRACE}-{trace.span}-01"), ("tracestate", "vendor=a"))


def test_a_later_version_is_read_as_far_as_it_is_known() -> None:
    assert taken(f"cc-{TRACE}-{SPAN}-09-what-the-future-brings").trace == TRACE
    assert taken(f"cc-{TRACE}-{SPAN}-03").flags == "01"


@pytest.mark.parametrize(
    "parent",
    [
        None,
        "",
        "nonsense",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01x",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"cc-{TRACE}-{SPAN}-01.more",
    ],
)
def test_what_is_no_trace_begins_a_new_one(parent: str | None) -> None:
    trace = taken(parent, "vendor=a")
    assert (trace.parent, trace.state, trace.flags) == (None, "", "00")
    assert trace.trace not in (TRACE, "0" * 32)
    assert trace.headers() == (("traceparent", f"00-{trace.trace}-{trace.span}-00"),)


@pytest.mark.parametrize("state", ["a=1", "a=1,b=2", "a=1,,b=x y", "t@v=1", " a=1 , b=2"])
def test_the_state_of_others_is_passed_on(state: str) -> None:
    kept = taken(SENT, state).state
    assert kept.split(",") == [part.strip() for part in state.split(",") if part.strip()]


@pytest.mark.parametrize(
    "state",
    ["A=1", "a", "a=", "a=1,a=2", "a=\n1", ",".join(f"k{n}=1" for n in range(33)), "a=" + "x" * 257, "a=1,b=é"],
)
def test_a_state_that_is_malformed_is_dropped_alone(state: str) -> None:
    trace = taken(SENT, state)
    assert (trace.trace, trace.state) == (TRACE, "")


@given(st.text(), st.text(), st.binary(min_size=8, max_size=8))
def test_whatever_is_sent_the_headers_are_well_formed(parent: str, state: str, seed: bytes) -> None:
    for value in (parent, SENT):
        trace = trace_of(value, state, Random(seed).randbytes)
        again = taken(dict(trace.headers())["traceparent"], trace.state)
        assert (again.trace, again.parent, again.state) == (trace.trace, trace.span, trace.state)


def test_chance_that_gives_nothing_gives_no_empty_ids() -> None:
    assert trace_of(None, None, bytes).headers() == (("traceparent", f"00-{'1':0>32}-{'1':0>16}-00"),)


def test_an_id_that_is_sane_is_kept() -> None:
    assert request_id("abc-1", Random(1).randbytes) == "abc-1"
    assert request_id("x" * 128, Random(1).randbytes) == "x" * 128


@pytest.mark.parametrize("given_id", [None, "", "x" * 129, "two words", "é", "a\nb"])
def test_any_other_id_is_made_anew(given_id: str | None) -> None:
    made = request_id(given_id, Random(1).randbytes)
    assert made.startswith("req_")
    assert len(made) == 28
    assert made != request_id(given_id, Random(2).randbytes)
