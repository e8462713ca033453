from __future__ import annotations

import re

import pytest

from dragoman.constrain.constraint import constrain
from dragoman.constrain.layout import CALL, layout_of, native_call
from dragoman.constrain.triggers import Trigger, TriggerKind, openers, triggers_of
from dragoman.dialect import Dialect
from dragoman.emit.matcher import Matcher
from dragoman.errors import Inexpressible, InvalidRequest
from dragoman.registry import get_dialect
from dragoman.types import Message, Part, TextPart, ThinkingPart
from tests.kinds import ALL

from .wanted import WEATHER

BEFORE: tuple[tuple[Part, ...], ...] = ((), (TextPart("So:"),), (ThinkingPart("Hm."),))


@ALL
def test_every_first_call_has_a_trigger_from_which_on_it_is_let_through(dialect: Dialect) -> None:
    layout = layout_of(dialect)
    if CALL not in layout.kinds or not triggers_of(layout):
        return
    constraint = constrain(dialect, (WEATHER,))
    assert constraint.lazy is not None
    matcher = Matcher(constraint.lazy)
    patterns = [one.text for one in triggers_of(constraint.layout) if one.kind == TriggerKind.PATTERN]
    for before in BEFORE:
        try:
            call = native_call(dialect, "get_weather", '{"city": "Oslo"}')
            text = dialect.render(Message("assistant", (*before, call)))
        except Inexpressible:
            continue
        begun = re.search("|".join(patterns), text)
        assert begun is not None, text
        assert matcher.matches(text[begun.start() :]), text


def test_an_opener_that_is_a_control_token_is_recognised_by_it() -> None:
    layout = layout_of(get_dialect("mistral"))
    assert triggers_of(layout, {"[TOOL_CALLS]": 5}) == (Trigger(TriggerKind.TOKEN, "[TOOL_CALLS]", 5),)
    assert triggers_of(layout) == (
        Trigger(TriggerKind.WORD, "[TOOL_CALLS]"),
        Trigger(TriggerKind.PATTERN, r"(\[TOOL_CALLS\])"),
    )


def test_layout_within_an_opener_may_differ() -> None:
    word, pattern = triggers_of(layout_of(get_dialect("qwen3_coder")))
    assert word.text == "<tool_call>\n<function="
    assert re.search(pattern.text, "So: <tool_call> <function=f>")
    assert not re.search(pattern.text, "So: <tool_call> or <function=f>")


@pytest.mark.parametrize("name", ["functionary_v32", "inkling", "muse"])
def test_what_also_stands_before_text_is_no_trigger(name: str) -> None:
    assert openers(layout_of(get_dialect(name))) == ()


@pytest.mark.parametrize("name", ["beam", "llama_pythonic"])
def test_what_is_short_enough_to_stand_in_any_text_is_no_trigger(name: str) -> None:
    assert openers(layout_of(get_dialect(name)))
    assert triggers_of(layout_of(get_dialect(name))) == ()


def test_a_prompt_that_holds_a_trigger_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="prompt"):
        triggers_of(layout_of(get_dialect("mistral")), prompt="[TOOL_CALLS]")
