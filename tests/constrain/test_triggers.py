"""Triggers: wherever a dialect writes a call, one of them is there, and the lazy rules hold from it on."""

from __future__ import annotations

import re

import pytest

from dragoman.constrain.constraint import constrain
from dragoman.constrain.layout import CALL, layout_of, native_call
from dragoman.constrain.triggers import Trigger, TriggerKind, openers, triggers_of
from dragoman.dialect import Dialect
from dragoman.emit.matcher import Matcher
from dragoman.errors import Inexpressible, InvalidRequest
from dragoman.registry import dialects, get_dialect
from dragoman.types import Message, Part, TextPart, ThinkingPart

from .wanted import WEATHER

HERMES = layout_of(get_dialect("hermes"))
MISTRAL = layout_of(get_dialect("mistral"))
ANNOUNCED = [dialect for dialect in dialects() if CALL in layout_of(dialect).kinds and triggers_of(layout_of(dialect))]


@pytest.mark.parametrize("dialect", ANNOUNCED, ids=lambda dialect: dialect.name)
def test_wherever_a_call_comes_a_trigger_announces_it(dialect: Dialect) -> None:
    call = native_call(dialect, "get_weather", '{"city": "Paris"}')
    thought, text = ThinkingPart("Hm."), TextPart("Well.")
    sequences: list[tuple[Part, ...]] = [(call,), (text, call), (thought, call), (thought, text, call)]
    lazy = constrain(dialect, [WEATHER]).lazy
    assert lazy is not None
    matcher = Matcher(lazy)
    patterns = [trigger.text for trigger in triggers_of(layout_of(dialect)) if trigger.kind is TriggerKind.PATTERN]
    for parts in sequences:
        try:
            written = dialect.render(Message("assistant", parts))
        except Inexpressible:
            continue
        begins = [found.start(1) for pattern in patterns if (found := re.search(pattern, written))]
        assert begins, written
        assert matcher.fault(written[min(begins) :]) is None, written


def test_a_trigger_is_all_that_is_fixed_before_a_call() -> None:
    assert openers(HERMES) == ('<tool_call>\n{"name": "',)


def test_layout_within_a_trigger_may_differ() -> None:
    word, pattern = triggers_of(HERMES)
    assert word == Trigger(TriggerKind.WORD, '<tool_call>\n{"name": "')
    assert re.search(pattern.text, '<tool_call>{"name":"f"') is not None
    assert re.search(pattern.text, "the marker <tool_call> begins a call") is None


def test_a_trigger_that_is_a_control_token_is_told_by_its_id() -> None:
    assert triggers_of(MISTRAL, {"[TOOL_CALLS]": 9}) == (Trigger(TriggerKind.TOKEN, "[TOOL_CALLS]", 9),)


def test_a_prompt_holds_no_trigger() -> None:
    assert triggers_of(MISTRAL, prompt="[INST]Hi[/INST]")
    with pytest.raises(InvalidRequest, match="prompt should be one that holds no trigger"):
        triggers_of(MISTRAL, prompt="[TOOL_CALLS]")


@pytest.mark.parametrize("name", ["functionary_v32", "muse"])
def test_what_begins_something_else_as_well_announces_no_call(name: str) -> None:
    assert openers(layout_of(get_dialect(name))) == ()
