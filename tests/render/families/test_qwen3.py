from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConversation
from dragoman.render.renderer import Renderer
from dragoman.segments import Kind
from dragoman.types import Message, TextPart, ThinkingPart
from tests.render.conversations import conversations, tools
from tests.render.families.agreement import agrees, ids_agree, qwen

TEMPLATES = {
    "qwen3": "trl:qwen3",
    "qwen3_instruct": "trl:qwen3_instruct_2507",
    "qwen3_thinking": "xinference:Qwen3-Thinking",
}

THINKING = st.sampled_from([{}, {"enable_thinking": True}, {"enable_thinking": False}])

ASKED = Message("user", (TextPart("How is the weather?"),))
THOUGHT = Message("assistant", (ThinkingPart("I should look."), TextPart("Fine.")))


@given(conversations(), tools(), THINKING)
def test_a_conversation_reads_as_the_template_writes_it(messages: Any, declared: Any, options: Any) -> None:
    agrees("qwen3", TEMPLATES["qwen3"], qwen(), messages, declared, options)


@pytest.mark.parametrize("name", ["qwen3_instruct", "qwen3_thinking"])
@given(messages=conversations(), declared=tools())
def test_so_does_one_of_the_2507_models(name: str, messages: Any, declared: Any) -> None:
    agrees(name, TEMPLATES[name], qwen(), messages, declared, {})


@pytest.mark.parametrize("name", TEMPLATES)
@given(messages=conversations(markers=True, edges=True), declared=tools())
def test_markers_and_blanks_in_text_change_nothing(name: str, messages: Any, declared: Any) -> None:
    agrees(name, TEMPLATES[name], qwen(), messages, declared, {})


@pytest.mark.parametrize("name", TEMPLATES)
@given(messages=conversations(arguments_as="text", markers=True), declared=tools())
def test_arguments_that_are_json_text_stay_as_they_are(name: str, messages: Any, declared: Any) -> None:
    agrees(name, TEMPLATES[name], qwen(), messages, declared, {})


@pytest.mark.parametrize("name", TEMPLATES)
@given(messages=conversations(), declared=tools())
def test_the_ids_are_those_of_the_text(name: str, messages: Any, declared: Any) -> None:
    ids_agree(Renderer(name, qwen()), messages, declared)


def test_a_turn_with_thoughts_is_not_trained_behind_a_prompt_that_forbids_them() -> None:
    renderer = Renderer("qwen3", qwen(), enable_thinking=False)
    with pytest.raises(InvalidConversation):
        renderer.build_supervised_example([ASKED, THOUGHT])


def test_behind_a_prompt_that_forbids_thoughts_the_empty_block_is_not_trained() -> None:
    renderer = Renderer("qwen3", qwen(), enable_thinking=False)
    example = renderer.build_supervised_example([ASKED, Message("assistant", (TextPart("Fine."),))])
    assert trained(example) == "Fine.<|im_end|>"


def test_without_a_word_about_thinking_the_empty_block_is_what_the_model_writes() -> None:
    example = Renderer("qwen3", qwen()).build_supervised_example([ASKED, Message("assistant", (TextPart("Fine."),))])
    assert trained(example) == "<think>\n\n</think>\n\nFine.<|im_end|>"


def test_a_prompt_that_has_opened_the_thoughts_is_not_trained() -> None:
    example = Renderer("qwen3_thinking", qwen()).build_supervised_example([ASKED, THOUGHT])
    assert trained(example) == "I should look.\n</think>\n\nFine.<|im_end|>"


def test_a_model_without_thoughts_is_not_trained_on_a_turn_that_lost_them() -> None:
    with pytest.raises(InvalidConversation):
        Renderer("qwen3_instruct", qwen()).build_supervised_example([ASKED, THOUGHT])


def test_text_is_still_the_second_part_where_thoughts_are_left_out() -> None:
    segments = Renderer("qwen3", qwen()).segments([ASKED, THOUGHT, ASKED])
    assert [(each.text, each.part) for each in segments if each.message == 1 and each.kind is Kind.TEXT] == [
        ("Fine.", 1)
    ]


def test_a_text_that_spells_the_end_of_thoughts_stays_text() -> None:
    answer = Message("assistant", (TextPart("Write </think> there."),))
    rendered = Renderer("qwen3", qwen()).render([ASKED, answer, ASKED])
    assert "assistant\nWrite </think> there.<|im_end|>" in rendered.text
    assert qwen().control["</think>"] not in rendered.ids


def test_a_role_that_the_template_leaves_out_is_refused() -> None:
    with pytest.raises(InvalidConversation, match="message 1: expected a role of system, user, assistant or tool"):
        Renderer("qwen3", qwen()).render([ASKED, Message("developer", (TextPart("Be kind."),))])


def trained(example: Any) -> str:
    ids = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    return b"".join(map(qwen().token_bytes, ids)).decode()
