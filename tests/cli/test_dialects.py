"""``dragoman dialects``: the list, and one of them."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from dragoman import dialects

from .conftest import Run

NAMES = [dialect.name for dialect in dialects()]


def test_all_are_listed_one_a_line(dragoman: Run) -> None:
    heading, *lines = dragoman("dialects").out.splitlines()
    assert heading.split() == ["name", "what", "it", "is", "models"]
    assert [line.split()[0] for line in lines] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_one_is_described(dragoman: Run, name: str) -> None:
    done = dragoman("dialects", name)
    assert done.code == 0
    assert done.out.startswith(f"{name}: ")
    for word in ("models", "stops", "hold bound", "source", "grammar\nroot ::= ", "example: "):
        assert word in done.out


def test_json_has_the_same_facts(dragoman: Run) -> None:
    listed = json.loads(dragoman("dialects", "--json").out)
    assert [each["name"] for each in listed] == NAMES
    assert json.loads(dragoman("dialects", "--json", NAMES[0]).out) == listed[0]


def test_an_unknown_name_is_told_with_its_neighbours(dragoman: Run) -> None:
    done = dragoman("dialects", "harmoni")
    assert (done.code, done.err) == (2, "dragoman: unknown dialect 'harmoni'; did you mean 'harmony'?\n")


def test_a_terminal_gets_colours(terminal: Callable[..., str]) -> None:
    assert "\x1b[1mname" in terminal("dialects")
