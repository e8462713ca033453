"""Gemma's formats are those of its chat templates."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given

from dragoman.errors import InvalidConversation
from dragoman.render.renderer import Renderer
from dragoman.render.responses import Termination
from dragoman.tokenizers.tiktoken import TiktokenTokenizer, from_ranks
from dragoman.tokenizers.vocabularies import O200K, o200k_ranks
from dragoman.types import Message, TextPart, ThinkingPart
from tests.oracles import chat_template
from tests.render.conversations import MARKERS, TOOLS, conversations, hf_text

CONTROL = {"<bos>": 200000, "<eos>": 200001, "<start_of_turn>": 200002, "<end_of_turn>": 200003}
EACH = pytest.mark.parametrize(("family", "template"), [("gemma", "trl:gemma"), ("gemma3", "trl:gemma3")])


@cache
def renderer_of(family: str) -> Renderer:
    """With other ranks than Gemma's, which nobody may pass on."""
    return Renderer(family, from_ranks("gemma-like", o200k_ranks(), O200K, CONTROL))


@EACH
@given(
    plain=conversations(thinking=False, calls=0, system=False, markers=True, edges=True),
    told=conversations(thinking=False, calls=0, markers=True, edges=True),
)
def test_text_and_ids_are_those_of_the_template(family: str, template: str, plain: Any, told: Any) -> None:
    source, renderer = chat_template(template), renderer_of(family)
    conversation = plain if family == "gemma" else told
    assert renderer.render(conversation).text == hf_text(source, conversation, bos_token="<bos>")
    prompt = renderer.build_generation_prompt(conversation)
    expected = hf_text(source, conversation, add_generation_prompt=True, bos_token="<bos>")
    assert prompt.text == expected
    assert isinstance(renderer.tokenizer, TiktokenTokenizer)
    if not any(marker in str(conversation) for marker in MARKERS if marker in CONTROL):
        assert prompt.ids == renderer.tokenizer.encoding.encode(expected, allowed_special="all")


def test_each_of_several_texts_is_trimmed() -> None:
    conversation = [{"role": "user", "content": [{"type": "text", "text": " a "}, {"type": "text", "text": " b "}]}]
    expected = hf_text(chat_template("trl:gemma3"), conversation, bos_token="<bos>")
    assert renderer_of("gemma3").render(conversation).text == expected


@given(conversation=conversations(thinking=False, calls=0, last=("assistant",), markers=True))
def test_a_turn_is_read_back(conversation: list[dict[str, Any]]) -> None:
    renderer = renderer_of("gemma3")
    example = renderer.build_supervised_example(conversation)
    sampled = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    said, termination = renderer.parse_response(sampled)
    assert (said.content, termination) == (conversation[-1]["content"], Termination.STOP_SEQUENCE)


def test_the_end_of_all_text_ends_a_turn_too() -> None:
    renderer = renderer_of("gemma3")
    said, termination = renderer.parse_response([*renderer.tokenizer.encode("Hi."), CONTROL["<eos>"]])
    assert (said.content, termination) == ("Hi.", Termination.END_OF_TEXT)
    assert renderer.stop_sequences() == [CONTROL["<end_of_turn>"], CONTROL["<eos>"]]


USER, SAID = Message("user", (TextPart("a"),)), Message("assistant", (TextPart("b"),))
SYSTEM = Message("system", (TextPart("c"),))


@pytest.mark.parametrize(
    ("family", "said", "found"),
    [
        ("gemma", [SYSTEM, USER], "message 0: expected a role that is user or assistant, found 'system'"),
        ("gemma3", [SYSTEM], "message 0: expected a message of the user behind the system's, found none"),
        ("gemma3", [SYSTEM, SAID], "message 1: expected a message of the user, since they alternate, found one of as"),
        ("gemma3", [USER, USER], "message 1: expected a message of the assistant, since they alternate"),
        ("gemma3", [USER, Message("assistant", (ThinkingPart("d"),))], "message 1, part 0: expected text, found Thi"),
        ("gemma3", [USER, Message("tool", ())], "found 'tool'"),
    ],
)
def test_what_the_format_can_not_say_is_refused(family: str, said: list[Message], found: str) -> None:
    with pytest.raises(InvalidConversation, match=found):
        renderer_of(family).render(said)


def test_there_are_no_tools() -> None:
    with pytest.raises(InvalidConversation, match="expected no tools, found 2"):
        renderer_of("gemma3").render([USER], TOOLS)
