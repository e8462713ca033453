"""A call spells a control token, and the caller uses whatever might stand for it meanwhile."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.render.renderer import Renderer
from dragoman.types import Message, TextPart, ToolCall
from tests.render.families.agreement import qwen

ASKED = Message("user", (TextPart("Do it."),))
CITY = {
    "type": "function",
    "function": {"name": "f", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
SPELLED = st.lists(
    st.sampled_from(["<think>", "<|im_end|>", "\ue000", "\ue001", "\\ue000", "\U000f008f", "é", "\\", '"', "a"])
).map("".join)


@pytest.mark.parametrize("family", ["qwen3", "qwen3_coder"])
@given(city=SPELLED, ascii_only=st.booleans())
def test_a_value_is_read_back_and_makes_no_control_token(family: str, city: str, ascii_only: bool) -> None:
    renderer = Renderer(family, qwen())
    said = Message("assistant", (ToolCall("f", json.dumps({"city": city}, ensure_ascii=ascii_only)),))
    rendered = renderer.render([ASKED, said], [CITY])
    asked = renderer.build_generation_prompt([ASKED], [CITY])
    read, end = renderer.parse_response(rendered.ids[len(asked.ids) :], [CITY], prompt=asked)
    assert end.is_clean
    assert json.loads(read.tool_calls[0].arguments) == {"city": city}


def test_arguments_that_spell_no_token_stay_as_they_are() -> None:
    plain = ToolCall("f", '{"a": "\\u0041\\udc00"}')
    spelling = ToolCall("f", '{"a": "<think>\\udc00\\ud83d\\ude00"}')
    text = Renderer("qwen3", qwen()).render([ASKED, Message("assistant", (plain, spelling))]).text
    assert plain.arguments in text
    assert spelling.arguments in text
