"""What was learned from a chunk is what reading it gives, whatever came before."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dragoman.events import ArgumentsDelta, CallEnd, Event, merge
from dragoman.grammar import build as b
from dragoman.grammar import learned
from dragoman.grammar.json import DEPTH_LIMIT, LEARNED_DEPTH, LEARNED_LIMIT, NUMBER_LIMIT
from dragoman.grammar.machine import Machine
from dragoman.grammar.nodes import Grammar
from dragoman.grammar.notation import PYTHON, Notation, bare_dict
from dragoman.grammar.program import Program, program_of
from tests.streams import cut, cuts, hard

DICT = bare_dict("<q>", "</c>")


def program(notation: Notation) -> Program:
    one = b.key("k") + "=" + b.commit() + b.notated(notation)
    return program_of(Grammar(b.call(b.name("f") + "(" + b.commit() + b.argument_members(one), close=")")))


PROGRAMS = {PYTHON.name: program(PYTHON), DICT.name: program(DICT)}


def events(name: str, chunks: list[str]) -> list[Event]:
    machine = Machine(PROGRAMS[name])
    found: list[Event] = []
    for chunk in chunks:
        found += machine.feed(chunk)
        machine = machine.copy()
    return merge(found + machine.finish("stop"))


def arguments(name: str, chunks: list[str]) -> str:
    return "".join(event.json for event in events(name, chunks) if isinstance(event, ArgumentsDelta))


BRACKETS = ["[", "]", "{", "}", "(", ")", "], [", "}]", "[{", ",", ", ", ":", " ", "\n", "</c>", "<", "q>"]
QUOTES = ["'", '"', "',", "':", '":', "''", "'''", "', '", "<q>", "<q>:", "k': ", "it's", "\\", "\\n", "\\u00"]
SHREDS = ["a", "a:", "e9", "1", "12", "-", ".5", "e", "_", "0", "00", "True", "Fal", "se", "null", "é", "🙂", "x" * 17]
TOKENS = st.sampled_from([*BRACKETS, *QUOTES, *SHREDS])


@pytest.mark.parametrize("name", list(PROGRAMS))
@hard
@given(st.sampled_from(["[", "{", "[[[[", "'", '"', "[1, {'k': ", "<q>", "{k:"]), st.lists(TOKENS, max_size=12))
@example("[", ["'", "a", "', '", "b", "', '", "b", "'", "]"])
@example("[[[[", ["]", "]", "]", "]", ")"])
@example("[", ["12", "3", ".5", ", ", "12", "3", "]"])
@example("[", ["0", ",", "1", "]"])
def test_chunks_are_read_as_the_whole_is(name: str, opening: str, tokens: list[str]) -> None:
    text = "f(k=" + opening + "".join(tokens)
    whole = events(name, [text])
    assert events(name, ["f(k=", opening, *tokens]) == whole
    assert events(name, list(text)) == whole


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab\"'\\\n<é", max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("ab'", max_size=2), inner, max_size=3),
    max_leaves=12,
)


@hard
@given(st.lists(VALUES), cuts())
def test_values_come_out_however_often_they_come(value: list[object], places: list[int]) -> None:
    found = arguments(PYTHON.name, ["f(k=", *cut(repr(value), places), ")"])
    assert json.loads(found) == {"k": value}
    assert arguments(PYTHON.name, [*f"f(k={value!r})"]) == found


@pytest.mark.parametrize("name", list(PROGRAMS))
@pytest.mark.parametrize("depth", [1, learned.TAIL, learned.TAIL + 1, LEARNED_DEPTH, LEARNED_DEPTH + 1, DEPTH_LIMIT])
def test_brackets_are_counted_at_any_depth(name: str, depth: int) -> None:
    assert arguments(name, ["f(k=", *"[" * depth, *"]" * depth, ")"]) == '{"k": ' + "[" * depth + "]" * depth + "}"
    broken = events(name, ["f(k=", *"[" * (DEPTH_LIMIT + depth)])
    assert broken == events(name, ["f(k=" + "[" * (DEPTH_LIMIT + depth)])


@pytest.mark.parametrize("digits", [NUMBER_LIMIT // 2 - 1, NUMBER_LIMIT // 2 + 1, NUMBER_LIMIT, NUMBER_LIMIT + 1])
@pytest.mark.parametrize("size", [1, 3, 16])
def test_digits_are_counted_however_they_come(digits: int, size: int) -> None:
    number = "1" * digits + "]"
    pieces = [number[at : at + size] for at in range(0, len(number), size)]
    assert events("python", ["f(k=[", *pieces, ")"]) == events("python", ["f(k=[" + number + ")"])


def test_a_quote_in_a_string_is_noted_each_time() -> None:
    found = events("python", ["f(k=[", "'", "it", "'s", "', '", "it", "'s", "'", "]", ")"])
    problems = [problem.start for event in found if isinstance(event, CallEnd) for problem in event.problems]
    assert problems == [8, 16]


def test_what_was_learned_is_forgotten_before_it_is_too_much() -> None:
    chunks = [f"'{number}', " for number in range(LEARNED_LIMIT + 10)]
    assert json.loads(arguments("python", ["f(k=[", *chunks, "]", ")"]))["k"][-1] == str(LEARNED_LIMIT + 9)
    assert max(map(len, learned._effects.values())) <= LEARNED_LIMIT
