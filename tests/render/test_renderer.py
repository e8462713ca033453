"""A renderer as its users know it: prompts, examples, weights, stops, and prompts that go on."""

from __future__ import annotations

from typing import Any

import pytest

from dragoman.errors import CannotExtend, InvalidConversation, InvalidTokenizer, UnknownFamily
from dragoman.render.encode import Span
from dragoman.render.family import families, family_of, get_family
from dragoman.render.rendered import Rendered, TrainOn
from dragoman.render.renderer import Renderer
from dragoman.render.stability import prefix_stability
from dragoman.segments import Kind
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Message, TextPart, ThinkingPart

QWEN = ByteTokenizer(
    ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>", "</tool_call>")
)
CALL = {"function": {"name": "f", "arguments": {"a": 1}}}
TALK: list[dict[str, Any]] = [
    {"role": "user", "content": "One?"},
    {"role": "assistant", "reasoning_content": "Hm.", "content": "1"},
    {"role": "user", "content": "Two?"},
    {"role": "assistant", "reasoning_content": "So.", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "2"},
    {"role": "assistant", "content": "2"},
]


def qwen3(**options: Any) -> Renderer:
    return Renderer("qwen3", QWEN, **options)


def spelled(ids: list[int]) -> str:
    return b"".join(map(QWEN.token_bytes, ids)).decode()


def trained(rendered: Rendered, weights: list[float]) -> str:
    return spelled([token for token, weight in zip(rendered.ids, weights, strict=True) if weight])


def test_a_prompt_ends_where_the_model_goes_on() -> None:
    prompt = qwen3().build_generation_prompt(TALK[:1])
    assert prompt.text == "<|im_start|>user\nOne?<|im_end|>\n<|im_start|>assistant\n"
    assert spelled(prompt.ids) == prompt.text
    assert prompt.ids[0] == QWEN.control["<|im_start|>"]
    silent = qwen3(enable_thinking=False).build_generation_prompt(TALK[:1], prefill="Well")
    assert silent.text.endswith("<|im_start|>assistant\n<think>\n\n</think>\n\nWell")
    assert silent.ids[-5] == 10  # what a prefill spells is the format's, its text is text


@pytest.mark.parametrize(
    ("train_on", "expected"),
    [
        (TrainOn.LAST_ASSISTANT, "<think>\n\n</think>\n\n2<|im_end|>"),
        ("last_assistant", "<think>\n\n</think>\n\n2<|im_end|>"),
        (
            TrainOn.LAST_TURN,
            '<think>\nSo.\n</think>\n\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call><|im_end|>'
            "<think>\n\n</think>\n\n2<|im_end|>",
        ),
    ],
)
def test_weights_are_on_what_the_model_wrote(train_on: TrainOn | str, expected: str) -> None:
    example = qwen3().build_supervised_example(TALK, train_on=train_on)
    assert trained(example.rendered, example.weights) == expected
    assert len(example.ids) == len(example.weights)


def test_a_function_may_weigh_the_parts() -> None:
    def weigh(span: Span, message: Message) -> float:
        return {Kind.THINKING: 0.5, Kind.STOP: 2.0}.get(span.kind, 0.0)

    (example,) = qwen3().build_supervised_examples(TALK[:2], train_on=weigh)
    weighed = [
        (weight, chr(token)) for token, weight in zip(example.ids, example.weights, strict=True) if 0 < weight < 1
    ]
    assert weighed == [(0.5, char) for char in "Hm."]
    assert example.weights[-2:] == [2.0, 0.0]


def test_every_token_can_be_trained_on() -> None:
    example = qwen3().build_supervised_example(TALK, train_on=TrainOn.ALL)
    assert set(example.weights) == {1.0}


def test_a_turn_that_history_rewrites_needs_an_example_of_its_own() -> None:
    renderer = qwen3()
    with pytest.raises(InvalidConversation, match="message 1: expected a turn as the model sampled it"):
        renderer.build_supervised_example(TALK, train_on=TrainOn.ALL_ASSISTANTS)
    first, second = renderer.build_supervised_examples(TALK)
    assert trained(first.rendered, first.weights) == "<think>\nHm.\n</think>\n\n1<|im_end|>"
    assert first.rendered.messages == second.rendered.messages[:2]
    assert trained(second.rendered, second.weights).startswith("<think>\nSo.\n</think>")


def test_a_thought_cannot_be_trained_on_where_there_is_to_be_none() -> None:
    with pytest.raises(InvalidConversation, match="message 1"):
        qwen3(enable_thinking=False).build_supervised_example(TALK[:2])


def test_stop_tokens_are_those_that_the_tokenizer_has() -> None:
    assert qwen3().stop_sequences() == [QWEN.control["<|im_end|>"], QWEN.control["<|endoftext|>"]]


def test_rendered_tokens_know_their_message() -> None:
    rendered = qwen3().render(TALK)
    start, end = rendered.message_span(2)
    assert spelled(rendered.ids[start:end]) == "<|im_start|>user\nTwo?<|im_end|>\n"
    assert rendered.message_span(99) == (0, 0)
    assert rendered.count(Kind.THINKING) == 3
    results = rendered.mask(lambda span: span.kind is Kind.RESULT)
    assert [token for token, wanted in zip(rendered.ids, results, strict=True) if wanted] == [ord("2")]


# Going on


def sample(renderer: Renderer, text: str) -> list[int]:
    """Ids of a text in which markers are tokens, as a model might write it."""
    rendered = renderer.build_generation_prompt([], prefill=text)
    return rendered.ids[len(renderer.build_generation_prompt([]).ids) :]


def test_what_was_sampled_is_kept_to_the_letter() -> None:
    """Here a call with other spaces than the format would write."""
    renderer = qwen3()
    prompt = renderer.build_generation_prompt(TALK[:3])
    sampled = sample(renderer, '<think>So.</think><tool_call>{"name":"f","arguments":{"a":1}}</tool_call><|im_end|>')
    extended = renderer.extend(prompt, sampled, TALK[4:5])
    assert extended.ids[: len(prompt.ids) + len(sampled)] == [*prompt.ids, *sampled]
    behind = spelled(extended.ids[len(prompt.ids) + len(sampled) :])
    assert behind == "\n<|im_start|>user\n<tool_response>\n2\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    assert [message.role for message in extended.messages] == ["user", "assistant", "user", "assistant", "tool"]
    own = [(span.kind, span.part) for span in extended.spans if span.sampled and span.kind is not Kind.MARKUP]
    assert own == [(Kind.THINKING, 0), (Kind.CALL, 1), (Kind.STOP, -1)]


def test_a_turn_that_was_cut_is_closed_by_what_nobody_sampled() -> None:
    renderer = qwen3()
    prompt = renderer.build_generation_prompt(TALK[:3])
    extended = renderer.extend(prompt, sample(renderer, "<think>\nSo"), [{"role": "tool", "content": "2"}])
    text = spelled(extended.ids[len(prompt.ids) :])
    assert text.startswith("<think>\nSo\n</think>\n\n<|im_end|>\n<|im_start|>user\n<tool_response>")
    sampled = [span for span in extended.spans if span.sampled]
    assert spelled(extended.ids[sampled[0].start : sampled[-1].end]) == "<think>\nSo"


def test_another_stop_token_becomes_that_of_history() -> None:
    renderer = qwen3()
    prompt = renderer.build_generation_prompt(TALK[:3])
    extended = renderer.extend(prompt, sample(renderer, "2<|endoftext|>"), [{"role": "user", "content": "And?"}])
    assert spelled(extended.ids[len(prompt.ids) :]).startswith("2<|im_end|>\n<|im_start|>user\nAnd?")


def test_what_a_format_rewrites_is_shown() -> None:
    renderer = qwen3()
    prompt = renderer.build_generation_prompt(TALK[:3])
    sampled = sample(renderer, "<think>\nSo.\n</think>\n\n2<|im_end|>")
    with pytest.raises(CannotExtend, match="the turn is rewritten once more follows") as caught:
        renderer.extend(prompt, sampled, [{"role": "user", "content": "And?"}])
    assert "<think>\nSo." in caught.value.expected
    assert "assistant\n2<|im_end|>" in caught.value.found
    with pytest.raises(CannotExtend, match="a message of the assistant's is added"):
        renderer.extend(prompt, sampled, [{"role": "assistant", "content": "And?"}])


def test_ids_are_extended_with_their_history() -> None:
    renderer = qwen3()
    prompt = renderer.build_generation_prompt(TALK[:3])
    sampled = sample(renderer, "2<|im_end|>")
    added = [{"role": "user", "content": "And?"}]
    assert renderer.extend(prompt.ids, sampled, added, history=TALK[:3]) == renderer.extend(prompt, sampled, added)


def test_the_stability_of_prompts_is_found_by_trying() -> None:
    found = prefix_stability(qwen3())
    assert not found.stable
    kept = {(case.turn, case.follows) for case in found.cases if case.kept}
    rewritten = {(case.turn, case.follows) for case in found.witnesses}
    assert ("thought and call", "tool") in kept - rewritten
    assert ("thought and text", "user") in rewritten - kept
    assert all(case.reason for case in found.witnesses)


# Finding one


def test_a_family_is_found_by_name_and_by_model() -> None:
    assert get_family("Qwen3") is get_family("Qwen/Qwen3-8B") is family_of("qwen/qwen3-8b")
    assert family_of("nobody/nothing") is None
    assert [family.name for family in families()] == sorted(family.name for family in families())
    with pytest.raises(UnknownFamily, match="no renderer for 'qwen33'; did you mean 'qwen3'"):
        get_family("qwen33")
    with pytest.raises(UnknownFamily, match="give its chat template, or one of"):
        get_family("zzz")


def test_the_callers_mistakes_are_named() -> None:
    with pytest.raises(InvalidTokenizer, match=r"qwen3: expected the control token '<\|im_start\|>'"):
        Renderer("qwen3", ByteTokenizer())
    with pytest.raises(InvalidConversation, match=r"the conversation: expected options of qwen3 \(enable_thinking\)"):
        qwen3(thinking=True)
    with pytest.raises(InvalidConversation, match="message 0"):
        qwen3().render([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}])


def test_messages_are_ours_or_openais() -> None:
    ours = [Message("user", (TextPart("One?"),)), Message("assistant", (ThinkingPart("Hm."), TextPart("1")))]
    assert qwen3().render(ours) == qwen3().render(TALK[:2])
