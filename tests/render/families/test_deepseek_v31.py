"""DeepSeek V3.1 against its chat template, and its tools against the model card."""

from __future__ import annotations

import json
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
Conversation = list[dict[str, Any]]


def renderer(**options: object) -> Renderer:
    return Renderer("deepseek_v31", with_control(DEEPSEEK), **options)


def official(messages: Conversation, *, thinking: bool, prompting: bool = False) -> str:
    template = chat_template("xinference:Deepseek-V3.1")
    return hf_text(template, messages, add_generation_prompt=prompting, bos_token=BOS, thinking=thinking)


said = conversations_with_markers().filter(
    lambda messages: not any("</think>" in message["content"] for message in messages if message["role"] == "assistant")
)


@given(messages=said, declared=tools())
def test_conversations_without_thinking_are_those_of_the_template(messages: Conversation, declared: Any) -> None:
    own = renderer(declare_tools=False)
    assert own.render(messages, declared).text == official(messages, thinking=False)
    prompt = official(messages, thinking=False, prompting=True)
    assert own.build_generation_prompt(messages, declared).text == prompt


@given(messages=said, declared=tools())
def test_prompts_with_thinking_are_those_of_the_template(messages: Conversation, declared: Any) -> None:
    if messages[-1]["role"] == "assistant":
        messages = [*messages, {"role": "user", "content": "Go on."}]
    own = renderer(thinking=True, declare_tools=False)
    assert own.render(messages, declared).text == official(messages, thinking=True)
    prompt = official(messages, thinking=True, prompting=True)
    assert own.build_generation_prompt(messages, declared).text == prompt


@given(messages=conversations(arguments_as="text", edges=True), declared=tools(), thinking=st.booleans())
def test_ids_are_those_of_the_whole_text(messages: Conversation, declared: Any, thinking: bool) -> None:
    own = renderer(thinking=thinking)
    for end in range(1, len(messages) + 1):
        prompt = own.build_generation_prompt(messages[:end], declared)
        assert prompt.ids == ids_of(prompt, with_control(DEEPSEEK))


USER = {"role": "user", "content": "Go."}
THOUGHT = {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}
PLAIN = {"role": "assistant", "content": "Done."}
CALLS = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"type": "function", "function": {"name": "get_weather", "arguments": "{}"}}],
}


@pytest.mark.parametrize(
    ("last", "turn"),
    [
        (THOUGHT, "<think>Hm.</think>Done.<｜end▁of▁sentence｜>"),
        (PLAIN, "<think></think>Done.<｜end▁of▁sentence｜>"),
    ],
)
def test_with_thinking_the_last_message_is_written_as_behind_its_prompt(last: dict[str, Any], turn: str) -> None:
    own = renderer(thinking=True)
    earlier = f"{BOS}<｜User｜>Go.<｜Assistant｜></think>Done.<｜end▁of▁sentence｜>"
    assert own.render([USER, THOUGHT, USER, last]).text == f"{earlier}<｜User｜>Go.<｜Assistant｜>{turn}"
    example = own.build_supervised_example([USER, THOUGHT, USER, last])
    trained = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    assert own.text(trained) == turn.removeprefix("<think>")


def test_without_thinking_thoughts_are_left_out_and_not_trained() -> None:
    assert renderer().render([USER, THOUGHT]).text == renderer().render([USER, PLAIN]).text
    with pytest.raises(InvalidConversation, match="message 1: expected a turn as the model sampled it"):
        renderer().build_supervised_example([USER, THOUGHT])


def test_a_call_without_text_ends_in_a_stop_that_is_trained() -> None:
    example = renderer().build_supervised_example([USER, CALLS])
    trained = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    call = (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )
    assert renderer().text(trained) == call + "<｜end▁of▁sentence｜>"


CARD = """## Tools
You have access to the following tools:

### get_weather
Description: The weather of a city.

Parameters: {weather}

### search
Description: Find Ünïcode <things>.

Parameters: {search}

IMPORTANT: ALWAYS adhere to this exact format for tool use:
<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>tool_call_name<｜tool▁sep｜>tool_call_arguments<｜tool▁call▁end｜>\
{{additional_tool_calls}}<｜tool▁calls▁end｜>

Where:
- `tool_call_name` must be an exact match to one of the available tools
- `tool_call_arguments` must be valid JSON that strictly follows the tool's Parameters Schema
- For multiple tool calls, chain them directly without separators or spaces"""


def test_tools_are_declared_as_the_model_card_says() -> None:
    weather, search = (json.dumps(tool["function"]["parameters"], ensure_ascii=False) for tool in TOOLS)
    block = CARD.format(weather=weather, search=search)
    system = {"role": "system", "content": "You help."}
    rest = "<｜User｜>Go.<｜Assistant｜></think>"
    assert renderer().build_generation_prompt([system, USER], TOOLS).text == f"{BOS}You help.\n\n{block}{rest}"
    assert renderer().build_generation_prompt([USER], TOOLS).text == f"{BOS}{block}{rest}"


def test_other_roles_are_refused() -> None:
    with pytest.raises(InvalidConversation, match=r"message 1: expected one of the roles .* found 'developer'"):
        renderer().render([USER, {"role": "developer", "content": "Be brief."}])
