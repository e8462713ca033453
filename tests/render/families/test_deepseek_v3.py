"""DeepSeek V3, R1 and R1-0528 against their chat templates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConversation
from dragoman.render.renderer import Renderer
from tests.oracles import chat_template
from tests.render.conversations import TOOLS, conversations, hf_text, tools
from tests.render.families.vocabularies import DEEPSEEK, conversations_with_markers, ids_of, with_control

BOS = "<｜begin▁of▁sentence｜>"
TEMPLATES = {
    "deepseek_v3": "xinference:deepseek-v3-0324",
    "deepseek_r1": "trl:deepseekv3",
    "deepseek_r1_0528": "xinference:deepseek-r1-0528",
}
NAMES = tuple(TEMPLATES)

Conversation = list[dict[str, Any]]


def renderer(name: str, **options: object) -> Renderer:
    return Renderer(name, with_control(DEEPSEEK), **options)


def declaring(name: str) -> dict[str, bool]:
    """The option with which a family writes what its template does."""
    return {} if name == "deepseek_r1_0528" else {"declare_tools": False}


def official(name: str, messages: Conversation, declared: Any = None, *, prompting: bool = False) -> str:
    template = chat_template(TEMPLATES[name])
    return hf_text(template, messages, declared, add_generation_prompt=prompting, bos_token=BOS)


def rounds(messages: Conversation) -> int:
    return sum("tool_calls" in message for message in messages)


said = conversations_with_markers().filter(
    lambda messages: not any("</think>" in message["content"] for message in messages if message["role"] == "assistant")
)


@pytest.mark.parametrize("name", NAMES)
@given(messages=said, declared=tools())
def test_prompts_are_those_of_the_template(name: str, messages: Conversation, declared: Any) -> None:
    if name == "deepseek_r1" and rounds(messages) > 1:
        return
    if messages[-1]["role"] == "assistant":
        messages = [*messages, {"role": "user", "content": "Go on."}]
    own = renderer(name, **declaring(name))
    assert own.build_generation_prompt(messages, declared).text == official(name, messages, declared, prompting=True)
    assert own.render(messages, declared).text == official(name, messages, declared)


@pytest.mark.parametrize("name", NAMES)
@given(messages=conversations(arguments_as="text", last=("assistant",), thinking=False), declared=tools())
def test_conversations_that_end_in_the_assistant_are_those_of_the_template(
    name: str, messages: Conversation, declared: Any
) -> None:
    if name == "deepseek_r1" and (rounds(messages) > 1 or messages[-2]["role"] == "user"):
        return
    own = renderer(name, **declaring(name))
    assert own.render(messages, declared).text == official(name, messages, declared)
    assert own.build_generation_prompt(messages, declared).text == official(name, messages, declared, prompting=True)


@pytest.mark.parametrize("name", NAMES)
@given(messages=conversations(arguments_as="text", edges=True), declared=tools())
def test_ids_are_those_of_the_whole_text(name: str, messages: Conversation, declared: Any) -> None:
    own = renderer(name)
    for end in range(1, len(messages) + 1):
        prompt = own.build_generation_prompt(messages[:end], declared)
        assert prompt.ids == ids_of(prompt, with_control(DEEPSEEK))


@pytest.mark.parametrize("name", ["deepseek_v3", "deepseek_r1"])
@given(messages=conversations(arguments_as="text", last=("user", "tool")), declared=tools())
def test_tools_are_declared_as_r1_0528_does(name: str, messages: Conversation, declared: Any) -> None:
    block = official("deepseek_r1_0528", [], declared).removeprefix(BOS)
    system = [message for message in messages if message["role"] == "system"]
    others = [message for message in messages if message["role"] != "system"]
    content = "\n\n".join([*(message["content"] for message in system), *([block] if block else [])])
    as_system = [{"role": "system", "content": content}, *others]
    assert renderer(name).render(messages, declared).text == renderer(name).render(as_system).text


USER = {"role": "user", "content": "Go."}
THOUGHT = {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}
CALL = {"type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
FIRST_CALLS = (
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{}\n```<｜tool▁call▁end｜>"
)


@pytest.mark.parametrize(
    ("name", "turn"),
    [
        ("deepseek_v3", "Done."),
        ("deepseek_r1", "<think>\nHm.\n</think>\n\nDone."),
        ("deepseek_r1_0528", "<think>\nHm.\n</think>\n\nDone."),
    ],
)
def test_only_the_last_message_keeps_its_thoughts(name: str, turn: str) -> None:
    end = f"<｜Assistant｜>{turn}<｜end▁of▁sentence｜>"
    assert renderer(name).render([USER, THOUGHT]).text == f"{BOS}<｜User｜>Go.{end}"
    earlier = f"{BOS}<｜User｜>Go.<｜Assistant｜>Done.<｜end▁of▁sentence｜><｜User｜>Go."
    assert renderer(name).render([USER, THOUGHT, USER, THOUGHT]).text == earlier + end


def test_a_last_message_of_r1_without_thoughts_has_an_empty_one_that_is_trained() -> None:
    example = renderer("deepseek_r1").build_supervised_example([USER, {"role": "assistant", "content": "Done."}])
    trained = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    assert renderer("deepseek_r1").text(trained) == "\n</think>\n\nDone.<｜end▁of▁sentence｜>"


def test_a_second_round_of_calls_of_r1_has_its_section() -> None:
    calls = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    result = {"role": "tool", "content": "20"}
    text = renderer("deepseek_r1").render([USER, calls, result, calls, result]).text
    outputs = "<｜tool▁outputs▁begin｜><｜tool▁output▁begin｜>20<｜tool▁output▁end｜><｜tool▁outputs▁end｜>"
    again = f"{FIRST_CALLS}<｜tool▁calls▁end｜><｜end▁of▁sentence｜>{outputs}"
    assert text == f"{BOS}<｜User｜>Go.<｜Assistant｜>{again}{again}"


@pytest.mark.parametrize("name", NAMES)
def test_results_are_closed_before_the_user_speaks(name: str) -> None:
    calls = {"role": "assistant", "content": "", "tool_calls": [CALL]}
    text = renderer(name).render([USER, calls, {"role": "tool", "content": "20"}, USER]).text
    assert "<｜tool▁output▁end｜><｜tool▁outputs▁end｜><｜User｜>Go." in text


@pytest.mark.parametrize("name", NAMES)
@given(messages=conversations(arguments_as="text", thinking=False, last=("assistant",)), calls=st.booleans())
def test_the_end_of_every_turn_is_trained(name: str, messages: Conversation, calls: bool) -> None:
    if calls:
        messages = [*messages, USER, {"role": "assistant", "content": "", "tool_calls": [CALL]}]
    example = renderer(name).build_supervised_example(messages, list(TOOLS))
    assert (example.ids[-1], example.weights[-1]) == (with_control(DEEPSEEK).control["<｜end▁of▁sentence｜>"], 1.0)


@pytest.mark.parametrize("name", NAMES)
def test_other_roles_are_refused(name: str) -> None:
    with pytest.raises(InvalidConversation, match=r"message 1: expected one of the roles .* found 'developer'"):
        renderer(name).render([USER, {"role": "developer", "content": "Be brief."}])
