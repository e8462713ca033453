"""Roles and colons: turns that a text ends instead of a token."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given

from dragoman.errors import CannotExtend, InvalidConversation
from dragoman.render.renderer import Renderer
from dragoman.render.responses import Termination
from dragoman.segments import Kind
from dragoman.tokenizers import get_tokenizer
from dragoman.types import Message, TextPart, ToolCall
from tests.render.conversations import TOOLS, conversations

USER, SAID = Message("user", (TextPart("Hi"),)), Message("assistant", (TextPart("Hello."),))


@cache
def renderer() -> Renderer:
    return Renderer("role_colon", get_tokenizer("o200k_base"))


def sampled_of(conversation: Any) -> list[int]:
    example = renderer().build_supervised_example(conversation)
    return [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]


def test_the_layout() -> None:
    system = Message("system", (TextPart("You help."),))
    prompt = renderer().build_generation_prompt([system, USER, SAID, USER])
    assert prompt.text == "System: You help.\n\nUser: Hi\n\nAssistant: Hello.\n\nUser: Hi\n\nAssistant:"
    assert prompt.text == renderer().render([system, USER, SAID, USER]).text + "\n\nAssistant:"
    assert renderer().text(sampled_of([system, USER, SAID])) == " Hello.\n\nUser:"


def test_its_stop_sequence_is_a_text() -> None:
    assert renderer().stop_sequences() == ["\n\nUser:"]


@pytest.mark.parametrize(
    ("sampled", "content", "termination"),
    [
        (" Hello.", "Hello.", Termination.TRUNCATED),
        (" Hello.\n\nUser", "Hello.\n\nUser", Termination.TRUNCATED),
        (" Hello.\n\nUser:", "Hello.", Termination.STOP_SEQUENCE),
        (" Hello.\n\nUser: And you?\n\nAssistant: Me.\n\nUser:", "Hello.", Termination.STOP_SEQUENCE),
        ("Hello.\n\nUser:", "Hello.", Termination.STOP_SEQUENCE),
        ("  Hello. \n\n\nUser:", " Hello. \n", Termination.STOP_SEQUENCE),
        (" \n\nUser:", "", Termination.STOP_SEQUENCE),
        (" Hello.<|endoftext|>", "Hello.", Termination.END_OF_TEXT),
        (" Hello.\n\nUser:<|endoftext|>", "Hello.", Termination.STOP_SEQUENCE),
        (" Say </s> and <|im_end|>.\n\nUser:", "Say </s> and <|im_end|>.", Termination.STOP_SEQUENCE),
    ],
)
def test_an_answer_ends_at_the_first_stop(sampled: str, content: str, termination: Termination) -> None:
    text, eos, _ = sampled.partition("<|endoftext|>")
    ids = [*renderer().tokenizer.encode(text), *([renderer().tokenizer.control[eos]] if eos else [])]
    message, found = renderer().parse_response(ids)
    assert (message.content, found) == (content, termination)


def test_the_space_after_a_prefill_is_the_callers() -> None:
    ids = renderer().tokenizer.encode(" there.\n\nUser:")
    message, _ = renderer().parse_response(ids, prefill=" Hello")
    assert message.content == " there."


@given(conversation=conversations(thinking=False, calls=0, last=("assistant",), markers=True, edges=True))
def test_what_was_sampled_is_read_back_and_goes_on(conversation: list[dict[str, Any]]) -> None:
    prompt = renderer().build_generation_prompt(conversation[:-1])
    sampled = sampled_of(conversation)
    message, termination = renderer().parse_response(sampled, prompt=prompt)
    assert (message.content, termination) == (conversation[-1]["content"], Termination.STOP_SEQUENCE)
    extended = renderer().extend(prompt, sampled, [USER])
    assert extended.ids == renderer().build_generation_prompt([*conversation, USER]).ids
    assert extended.ids[: len(prompt.ids) + len(sampled)] == [*prompt.ids, *sampled]


def test_a_turn_that_was_cut_is_closed_with_the_stop_text() -> None:
    prompt = renderer().build_generation_prompt([USER])
    extended = renderer().extend(prompt, renderer().tokenizer.encode(" Hel"), [USER])
    assert extended.text == "User: Hi\n\nAssistant: Hel\n\nUser: Hi\n\nAssistant:"
    stop = next(span for span in extended.spans if span.kind is Kind.STOP)
    assert not stop.sampled


def test_what_goes_on_behind_its_stop_is_not_extended() -> None:
    prompt = renderer().build_generation_prompt([USER])
    with pytest.raises(CannotExtend, match="the model went on behind its stop text"):
        renderer().extend(prompt, renderer().tokenizer.encode(" Hello.\n\nUser: Hm"), [USER])


def test_the_token_that_begins_all_text_is_an_option() -> None:
    begun = Renderer("role_colon", renderer().tokenizer, bos_token="<|endoftext|>")
    assert begun.render([USER]).ids == [199999, *renderer().render([USER]).ids]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ([Message("user", (TextPart("a\n\nAssistant: b"),))], r"message 0: expected text without the beginning of a"),
        ([USER, Message("assistant", (ToolCall("f", "{}"),))], "message 1, part 0: expected text, found ToolCall"),
        ([USER, Message("tool", ())], "message 1: expected a role that is system or user or assistant, found 'tool'"),
        ([USER, SAID, SAID], "message 1: expected a message of the user behind the assistant's, found none"),
        (
            [USER, SAID, Message("system", ())],
            "message 2: expected a message of the user behind .* found one of system",
        ),
    ],
)
def test_what_the_format_can_not_say_is_refused(said: list[Message], found: str) -> None:
    with pytest.raises(InvalidConversation, match=found):
        renderer().render(said)


def test_there_are_no_tools_and_nobody_answers_an_answer() -> None:
    with pytest.raises(InvalidConversation, match="expected no tools"):
        renderer().render([USER], TOOLS)
    with pytest.raises(InvalidConversation, match="behind the assistant's, found none"):
        renderer().build_generation_prompt([USER, SAID])
