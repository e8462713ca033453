"""Every dialect: its constraint lets through what its writer writes, and its parser reads all that it lets through."""

from __future__ import annotations

from functools import lru_cache
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dragoman.constrain.constraint import Constraint, constrain
from dragoman.constrain.layout import CALL, THOUGHT, layout_of
from dragoman.dialect import Dialect
from dragoman.emit.generate import Generator
from dragoman.emit.matcher import Matcher
from dragoman.errors import Inexpressible, InvalidRequest, InvalidStart
from dragoman.made_up import mutations
from dragoman.registry import get_dialect
from dragoman.testing.source import is_narrowed
from dragoman.types import Tool
from tests.kinds import ALL

from .wanted import malformed, messages, problems, read, tools_of, wrong

REQUESTS: dict[str, dict[str, Any]] = {
    "auto": {},
    "none": {"tool_choice": "none"},
    "required": {"tool_choice": "required"},
    "one call": {"tool_choice": "required", "parallel": False, "lead_in": "none"},
    "a lead-in": {"tool_choice": "required", "parallel": False, "lead_in": 20},
    "named": {"tool_choice": {"type": "function", "function": {"name": "get_weather"}}},
    "declared order": {"tool_choice": "required", "any_order": False},
    "any JSON": {"tool_choice": "required", "strict": False},
    "the answer": {"scope": "answer"},
    "begun thoughts": {"start": "reasoning"},
    "no thoughts": {"reasoning": "none"},
    "thoughts first": {"reasoning": "required"},
}


def asked(dialect: Dialect, request: str) -> Constraint | None:
    """The constraint, where the dialect has what is asked for."""
    tools = tools_of(dialect)
    if not tools and REQUESTS[request].get("tool_choice", "none") != "none":
        return None
    if request in ("begun thoughts", "thoughts first") and THOUGHT not in layout_of(dialect).kinds:
        return None
    try:
        return constrain(dialect, tools, **REQUESTS[request])
    except (InvalidRequest, InvalidStart):
        # There are only calls in the first, and no thoughts that a prompt could begin in the second.
        assert dialect.name in ("guided_json", "muse")
        return None


@lru_cache(maxsize=2)
def matcher_of(name: str) -> Matcher:
    """What the dialect of this name lets through."""
    dialect = get_dialect(name)
    return Matcher(constrain(dialect, tools_of(dialect)).rules)


@ALL
@settings(max_examples=max(6, settings().max_examples // 3))  # of each of so many dialects
@given(st.data())
def test_what_is_rendered_is_let_through(dialect: Dialect, data: st.DataObject) -> None:
    message = data.draw(messages(dialect))
    try:
        text = dialect.render(message)
    except Inexpressible:
        assume(False)
    assume(not is_narrowed(constrain(dialect, tools_of(dialect)), message))
    matcher = matcher_of(dialect.name)
    assert matcher.matches(text), f"{matcher.fault(text)} of {text!r}"


@ALL
@pytest.mark.parametrize(
    "request_name",
    [name if name in ("auto", "required") else pytest.param(name, marks=pytest.mark.slow) for name in REQUESTS],
)
def test_what_is_let_through_is_read_without_a_problem(dialect: Dialect, request_name: str) -> None:
    constraint = asked(dialect, request_name)
    if constraint is None:
        return
    tools = tools_of(dialect)
    generator, random = Generator(constraint.rules), Random(7)
    for _ in range(8):
        text = generator.sentence(random.randrange)
        events, message = read(dialect, text, tools, start=constraint.asked.start)
        assert not (problems(events) if constraint.asked.strict else malformed(events)), text
        required = constraint.asked.choice.mode == "required"
        assert bool(message.tool_calls) >= required, text
        assert constraint.asked.parallel or len(message.tool_calls) <= 1, text
        if constraint.asked.strict:
            assert not wrong(message, constraint.tools), text


@ALL
def test_a_marker_that_is_moved_is_refused_or_read_as_something_else(dialect: Dialect) -> None:
    if CALL not in layout_of(dialect).kinds:
        return
    tools: tuple[Tool, ...] = tools_of(dialect)[:1]
    constraint = constrain(dialect, tools, tool_choice="required")
    generator, matcher, random = Generator(constraint.rules), Matcher(constraint.rules), Random(3)
    refused = 0
    for _ in range(4):
        text = generator.sentence(random.randrange, size=60)
        for mutated in mutations(text, constraint.layout.marks, random):
            if matcher.matches(mutated):
                events, message = read(dialect, mutated, tools)
                assert not problems(events), mutated
                assert message.tool_calls, mutated
                assert not wrong(message, tools), mutated
            else:
                refused += 1
    assert refused
