from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConversation
from dragoman.render.renderer import Renderer
from dragoman.tokenizers import Tokenizer
from dragoman.tokenizers.tiktoken import from_ranks
from dragoman.tokenizers.vocabularies import O200K, o200k_ranks
from dragoman.types import Message, TextPart, ThinkingPart
from tests.render.conversations import conversations, tools
from tests.render.families.agreement import agrees, ids_agree

CONTROL = (
    *("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", "<|endoftext|>", "/nothink"),
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"),
    *("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>"),
)
"""The added tokens that its template writes; its ranks are not at hand, so these tests have o200k's."""

TEMPLATE = "trl:glm4moe"
THINKING = st.sampled_from([{}, {"enable_thinking": True}, {"enable_thinking": False}])

ASKED = Message("user", (TextPart("How is the weather?"),))
SAID = Message("assistant", (TextPart("Fine."),))


@cache
def glm() -> Tokenizer:
    return from_ranks("glm", o200k_ranks(), O200K, {token: 200_000 + at for at, token in enumerate(CONTROL)})


def stop(messages: Any) -> str:
    """What stands behind the last turn of the model, where the template has nothing."""
    last = messages[-1]
    calls = "<|observation|>" if last.get("tool_calls") else "<|user|>"
    return calls if last["role"] == "assistant" else ""


@given(conversations(), tools(), THINKING)
def test_a_conversation_reads_as_the_template_writes_it_but_for_the_last_stop(
    messages: Any, declared: Any, options: Any
) -> None:
    agrees("glm45", TEMPLATE, glm(), messages, declared, options, behind=stop(messages))


@given(conversations(markers=True, edges=True), tools(), THINKING)
def test_markers_and_blanks_in_text_change_nothing(messages: Any, declared: Any, options: Any) -> None:
    agrees("glm45", TEMPLATE, glm(), messages, declared, options, behind=stop(messages))


@given(conversations(), tools(), THINKING)
def test_the_ids_are_those_of_the_text(messages: Any, declared: Any, options: Any) -> None:
    ids_agree(Renderer("glm45", glm(), **options), messages, declared)


@pytest.mark.parametrize(("content", "thoughts"), [("", "Well."), ("", ""), (" Fine. ", " "), ("/nothink", "")])
@pytest.mark.parametrize("options", [{}, {"enable_thinking": False}])
def test_turns_without_text_or_thoughts_read_as_the_template_writes_them(
    content: str, thoughts: str, options: Any
) -> None:
    messages = [
        {"role": "user", "content": content},
        {"role": "assistant", "content": content, "reasoning_content": thoughts},
    ]
    agrees("glm45", TEMPLATE, glm(), messages, None, options, behind="<|user|>")


@given(st.lists(st.sampled_from(["user", "assistant", "system", "tool"]), min_size=1, max_size=6))
def test_any_order_of_roles_reads_as_the_template_writes_it(roles: list[str]) -> None:
    messages = [{"role": role, "content": "Well."} for role in roles]
    agrees("glm45", TEMPLATE, glm(), messages, None, {}, behind=stop(messages))


def test_the_token_of_who_speaks_next_is_what_the_model_stops_with() -> None:
    example = Renderer("glm45", glm()).build_supervised_example([ASKED, SAID])
    ids = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    assert b"".join(map(glm().token_bytes, ids)).decode() == "\n<think></think>\nFine.<|user|>"


@pytest.mark.parametrize("role", ["system", "assistant"])
def test_a_turn_that_nobody_answers_is_not_trained(role: str) -> None:
    messages = [ASKED, SAID, Message(role, (TextPart("Go on."),))]
    with pytest.raises(InvalidConversation):
        Renderer("glm45", glm()).build_supervised_example(messages, train_on=lambda span, message: 1.0)


def test_a_turn_with_thoughts_is_not_trained_behind_a_prompt_that_forbids_them() -> None:
    said = Message("assistant", (ThinkingPart("I should look."), TextPart("Fine.")))
    with pytest.raises(InvalidConversation):
        Renderer("glm45", glm(), enable_thinking=False).build_supervised_example([ASKED, said])


def test_a_word_of_the_user_is_not_the_token_that_it_spells() -> None:
    renderer = Renderer("glm45", glm(), enable_thinking=False)
    asked = [Message("user", (TextPart("Well /nothink"),))]
    assert glm().control["/nothink"] not in renderer.render(asked).ids
    assert glm().control["/nothink"] in renderer.render([ASKED]).ids


def test_a_role_that_the_template_leaves_out_is_refused() -> None:
    with pytest.raises(InvalidConversation, match="found 'developer'"):
        Renderer("glm45", glm()).render([Message("developer", (TextPart("Be kind."),))])
