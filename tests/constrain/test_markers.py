from __future__ import annotations

from dragoman.constrain.constraint import constrain
from dragoman.constrain.markers import markers_of
from dragoman.registry import get_dialect

from .wanted import TOOLS


def test_all_that_is_spelled_as_control_tokens_are_may_be_some() -> None:
    marks = markers_of(constrain(get_dialect("deepseek_v31"), TOOLS))
    assert "<｜tool▁sep｜>" in marks
    assert "<think>" in marks
    assert "｜DSML｜" in markers_of(constrain(get_dialect("deepseek_v32"), TOOLS))


def test_where_the_control_tokens_are_known_it_is_those_that_the_dialect_writes() -> None:
    control = {"<|im_start|>": 1, "<tool_call>": 2, "</tool_call>": 3, "<|vision_start|>": 4, "<think>": 5}
    found = markers_of(constrain(get_dialect("hermes"), TOOLS), control)
    assert found == ("<tool_call>", "</tool_call>", "<think>")
