"""``dragoman explain``: what was known after which character."""

from __future__ import annotations

from .conftest import Run

HERMES = ("--dialect", "hermes")


def test_a_trace_tells_spans_positions_and_what_was_held(dragoman: Run) -> None:
    done = dragoman("explain", *HERMES, stdin="Hi <tool")
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "span  read  held  event    text"
    assert lines[1] == '0-8   1     5     content  "Hi <tool"'
    assert lines[2] == "8-8   8     5     stop     reason None"
    assert lines[4].startswith("8 characters; at most 5 held back (the dialect's bound is ")


def test_a_call_is_told_with_its_name_and_its_end(dragoman: Run) -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    out = dragoman("explain", *HERMES, stdin=call).out
    assert "call 0 of f" in out
    assert "call 0 complete" in out
    assert '"{}"' in out


def test_problems_are_told(dragoman: Run) -> None:
    assert "orphan_marker" in dragoman("explain", *HERMES, stdin="a</think>").out


def test_a_long_text_shows_both_ends(dragoman: Run) -> None:
    out = dragoman("explain", *HERMES, stdin="a" * 500 + "b" * 500).out
    assert f'0-1000     1     0     content  "{"a" * 28}" … "{"b" * 28}"' in out


def test_larger_chunks_are_told_as_they_were_fed(dragoman: Run) -> None:
    assert "0-6   3     0     content" in dragoman("explain", "--chunk", "3", *HERMES, stdin="abcdef").out
