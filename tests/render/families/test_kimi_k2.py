"""Kimi K2 and K2-Thinking against goldens of their chat templates."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from dragoman.errors import InvalidConversation
from dragoman.render.renderer import Renderer
from dragoman.types import ToolCall
from tests.render.conversations import TOOLS, conversations, tools
from tests.render.families.goldens import digest, goldens
from tests.render.families.vocabularies import KIMI, ids_of, with_control

NAMES = ("kimi_k2", "kimi_k2_thinking")


def renderer(name: str) -> Renderer:
    return Renderer(name, with_control(KIMI))


@pytest.mark.parametrize("name", NAMES)
def test_texts_are_those_of_the_template(name: str) -> None:
    own = renderer(name)
    for golden in goldens()[name]:
        messages, declared = golden["messages"], TOOLS[: golden["tools"]]
        text, prompt = own.render(messages, declared).text, own.build_generation_prompt(messages, declared).text
        assert text == golden.get("text", text)
        assert [digest(text), digest(prompt)] == golden["sha256"], messages


@pytest.mark.parametrize("name", NAMES)
@given(messages=conversations(edges=True), declared=tools())
def test_ids_are_those_of_the_whole_text(name: str, messages: list[dict[str, Any]], declared: Any) -> None:
    own = renderer(name)
    for end in range(1, len(messages) + 1):
        prompt = own.build_generation_prompt(messages[:end], declared)
        assert prompt.ids == ids_of(prompt, with_control(KIMI))


USER = {"role": "user", "content": "Go."}
HEADER = "<|im_assistant|>assistant<|im_middle|>"


def calling(*ids: str | None, thought: str | None = None) -> dict[str, Any]:
    function = {"name": "see", "arguments": "{}"}
    calls = [{"type": "function", "function": function} | ({"id": each} if each else {}) for each in ids]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    return message | ({"reasoning_content": thought} if thought else {})


def result(call_id: str | None = None) -> dict[str, Any]:
    return {"role": "tool", "content": "20"} | ({"tool_call_id": call_id} if call_id else {})


def called(text: str) -> list[str]:
    """The ids of calls and of results in a text, in order."""
    after_calls = [piece.split("<|tool_call_argument_begin|>")[0] for piece in text.split("<|tool_call_begin|>")[1:]]
    return after_calls + [piece.split("\n")[0] for piece in text.split("## Return of ")[1:]]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("messages", "ids"),
    [
        ([calling("functions.see:7"), result("functions.see:7")], ["functions.see:7", "functions.see:7"]),
        ([calling("see"), result("see")], ["see", "see"]),
        (
            [calling("x1", "x2"), result("x2"), result("x1")],
            ["functions.see:0", "functions.see:1", "functions.see:1", "functions.see:0"],
        ),
        (
            [calling(None, "functions.look:9"), result(), result(), calling(None), result()],
            [*(f"functions.see:{k}" for k in (0, 1, 2)), *(f"functions.see:{k}" for k in (0, 1, 2))],
        ),
        ([calling("functions.see:0"), result("other")], ["functions.see:0", "functions.see:0"]),
        ([result("functions.see:0")], ["functions.see:0"]),
    ],
)
def test_ids_that_do_not_name_their_call_become_those_of_the_model(
    name: str, messages: list[dict[str, Any]], ids: list[str]
) -> None:
    assert called(renderer(name).render([USER, *messages]).text) == ids


@pytest.mark.parametrize("name", NAMES)
def test_a_result_that_answers_nothing_is_refused(name: str) -> None:
    with pytest.raises(InvalidConversation, match="message 1: expected the id of the call that it answers"):
        renderer(name).render([USER, result()])


@pytest.mark.parametrize("name", NAMES)
def test_a_speaker_is_named_in_the_header_as_text(name: str) -> None:
    named = USER | {"name": "Ada<|im_end|>"}
    own = renderer(name).render([named])
    assert own.text.endswith("<|im_user|>Ada<|im_end|><|im_middle|>Go.<|im_end|>")
    assert own.ids.count(with_control(KIMI).control["<|im_end|>"]) == 2


def test_k2_leaves_thoughts_out() -> None:
    thought = {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}
    assert renderer("kimi_k2").render([USER, thought]).text.endswith(f"{HEADER}Done.<|im_end|>")
    with pytest.raises(InvalidConversation, match="message 1: expected a turn as the model sampled it"):
        renderer("kimi_k2").build_supervised_example([USER, thought])


def test_k2_thinking_ends_in_the_thoughts_of_the_last_turn() -> None:
    answer = {"role": "assistant", "content": "Done.", "reasoning_content": "Hm."}
    turn = [USER, calling("functions.see:0", thought="Look."), result("functions.see:0"), answer]
    calls = (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.see:0<|tool_call_argument_begin|>{}"
        "<|tool_call_end|><|tool_calls_section_end|><|im_end|>"
    )
    text = renderer("kimi_k2_thinking").render([*turn, *turn]).text
    assert text.count(f"{HEADER}<think></think>{calls}") == text.count(f"{HEADER}<think></think>Done.") == 1
    assert text.count(f"{HEADER}<think>Look.</think>{calls}") == text.count(f"{HEADER}<think>Hm.</think>Done.") == 1
    assert text.endswith(f"{HEADER}<think>Hm.</think>Done.<|im_end|>")
    [one, two] = renderer("kimi_k2_thinking").build_supervised_examples([*turn, *turn])
    assert (len(one.rendered.messages), len(two.rendered.messages)) == (4, 8)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_sampled_is_read_with_the_ids_that_were_written(name: str) -> None:
    own = renderer(name)
    example = own.build_supervised_example([USER, calling("x", None)])
    trained = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    message, ended = own.parse_response(trained)
    assert ended.is_clean
    assert message.parts == tuple(ToolCall("see", "{}", f"functions.see:{k}") for k in (0, 1))
