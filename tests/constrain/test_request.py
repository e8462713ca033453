"""What is asked of a constraint: the shapes of ``tool_choice``, and which tools it leaves."""

from __future__ import annotations

import pytest

from dragoman.constrain.request import ToolChoice
from dragoman.errors import InvalidRequest

from .wanted import PING, SEARCH, WEATHER

FUNCTION = {"type": "function", "function": {"name": "ping"}}
FLAT = {"type": "function", "name": "ping"}


@pytest.mark.parametrize(
    ("value", "choice"),
    [
        (None, ToolChoice()),
        ("auto", ToolChoice()),
        ("none", ToolChoice("none")),
        ("required", ToolChoice("required")),
        (FUNCTION, ToolChoice("required", ("ping",))),
        (FLAT, ToolChoice("required", ("ping",))),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [FUNCTION]}},
            ToolChoice("auto", ("ping",)),
        ),
        ({"type": "allowed_tools", "mode": "required", "tools": [FLAT]}, ToolChoice("required", ("ping",))),
    ],
)
def test_every_shape_of_openai_is_read(value: object, choice: ToolChoice) -> None:
    assert ToolChoice.of(value) == choice


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("any", 'tool_choice should be "none", "auto", "required", a function or allowed_tools, found \'any\''),
        ({"type": "function"}, "tool_choice should be"),
        ({"type": "allowed_tools", "mode": "auto", "tools": ["ping"]}, "tool_choice should be allowed tools with a"),
        ({"type": "allowed_tools", "mode": "none", "tools": []}, "tool_choice should be allowed_tools whose mode is"),
    ],
)
def test_other_shapes_are_a_mistake(value: object, says: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        ToolChoice.of(value)
    assert raised.value.where == "tool_choice"
    assert str(raised.value).startswith(says)


def test_a_choice_leaves_the_tools_that_it_names_in_its_order() -> None:
    assert ToolChoice("required", ("ping", "search", "ping")).among((WEATHER, SEARCH, PING)) == (PING, SEARCH)
    assert ToolChoice().among((WEATHER, PING)) == (WEATHER, PING)
    assert ToolChoice("none").among((WEATHER, PING)) == ()


def test_a_tool_that_is_not_there_is_a_mistake() -> None:
    with pytest.raises(InvalidRequest, match="one of the tools: get_weather, found 'ping'"):
        ToolChoice("auto", ("ping",)).among((WEATHER,))
    with pytest.raises(InvalidRequest, match="there are none"):
        ToolChoice("auto", ("ping",)).among(())
