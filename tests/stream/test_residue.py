"""The drift alarm: markers in visible text are counted, however it is cut, and quoted ones are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman import Dialect, dialects
from dragoman.stream.residue import FOREIGN, LONGEST_FENCE, Residue
from tests.streams import cut, cuts, hard

MARKS = ("<tool_call>", "<|x|>", "functools", ">>>")
TEXTS = st.lists(st.sampled_from([*MARKS, "<think>", "`", "```", "\n", "a", "<", "<tool", "_call>"])).map("".join)


def counted(*chunks: str, marks: tuple[str, ...] = MARKS) -> dict[str, int]:
    residue = Residue(marks)
    for chunk in chunks:
        residue.feed(chunk)
    residue.settle()
    return residue.counts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Four.", {}),
        ("a <tool_call> b <tool_call>", {"<tool_call>": 2}),
        ("a [TOOL_CALLS]f<|im_end|>", {"[TOOL_CALLS]": 1, "<|im_end|>": 1}),
        ("`<tool_call>` and <|x|>", {"<|x|>": 1}),
        ("```\n<tool_call>\n```\n<think>", {"<think>": 1}),
        ("`open\n<think>", {"<think>": 1}),
        ("<tool_cal <think", {}),
        ("functools and >>> are words", {}),
    ],
)
def test_markers_outside_of_code_are_counted(text: str, expected: dict[str, int]) -> None:
    assert counted(text) == counted(*text) == expected


@hard
@given(TEXTS, cuts())
def test_the_count_does_not_depend_on_how_the_text_is_cut(text: str, places: list[int]) -> None:
    assert counted(*cut(text, places)) == counted(*text) == counted(text)


def test_no_marker_goes_on_behind_an_interruption() -> None:
    residue = Residue(MARKS)
    for text in ("<thi", "nk>", "<thi"):
        residue.feed(text)
    residue.settle()
    residue.feed("nk>")
    assert residue.counts == {"<think>": 1}


OPEN = ["`", "``", "`a", "```", "```py", "```py\n", "```\na\n", "```\na\n``", "````\n```", "``a`", "``a`b"]


@pytest.mark.parametrize("text", OPEN)
@pytest.mark.parametrize("more", ["`<think>", "``<think>", "\n<think>", "<think>", "\n```<think>", "\n```\n<think>"])
def test_code_that_is_open_is_said_in_a_few_characters(text: str, more: str) -> None:
    residue = Residue(MARKS)
    residue.feed(text)
    assert counted(residue.code + more) == counted(text + more)


def test_no_code_is_said_where_there_is_none_or_an_endless_fence() -> None:
    for text in ("", "a", "`a`b", "`" * (LONGEST_FENCE + 1)):
        residue = Residue(MARKS)
        residue.feed(text)
        assert residue.code == ""


@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_what_each_dialect_writes_is_seen(dialect: Dialect) -> None:
    marks = (*dialect.marks, *dialect.stops)
    seen = tuple(counted("\n".join(marks), marks=marks))
    words = ("Here", "functools", ">>>", "助")
    assert [mark for mark in marks if not mark.strip().startswith((*words, *seen))] == []


def test_foreign_markers_are_all_looked_for() -> None:
    assert set(counted(" ".join(FOREIGN), marks=())) == set(FOREIGN)
