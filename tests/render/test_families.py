"""What every family promises, on conversations made up; a new file under `families/` is tested by being there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dragoman.errors import CannotExtend, ControlText, Inexpressible, InvalidConversation
from dragoman.render.family import Family, families
from dragoman.render.mistral_rules import json_value
from dragoman.render.openai_messages import read_messages
from dragoman.render.rendered import Rendered, TrainOn
from dragoman.render.renderer import Renderer
from dragoman.render.responses import Termination
from dragoman.render.values import tojson
from dragoman.segments import Kind
from dragoman.tokenizers import decode
from dragoman.tokenizers.bytes import ByteTokenizer
from dragoman.types import Message, Part, TextPart, ToolCall
from tests.render.conversations import MARKERS, TOOLS, conversations, tools

EACH = pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
SHORT = settings(max_examples=max(5, settings().max_examples // 8))
"""Of each of so many families: a part of what other properties get."""


@cache
def renderer_of(family: Family, *, refuse: bool = False) -> Renderer:
    """Its renderer with a vocabulary of bytes, in which its markers are control tokens."""
    dialect = family.speaks()
    markers = (mark for mark in dialect.marks if not mark.isspace() and len(mark) > 1)
    tokenizer = ByteTokenizer((*family.needs, *family.ends, *markers))
    return Renderer(family, tokenizer, refuse_control_text=refuse)


def said() -> st.SearchStrategy[list[dict[str, Any]]]:
    """Conversations that end with the model, some of which not every family can say."""
    return st.sampled_from([(True, 2), (True, 0), (False, 2), (False, 0)]).flatmap(
        lambda kind: conversations(thinking=kind[0], calls=kind[1], last=("assistant",), markers=True)
    )


def is_one_response(renderer: Renderer, said: Any) -> bool:
    """Whether the model says all of a message in one go: a call of Harmony's ends its turn."""
    (message,) = read_messages([said])
    try:
        assert renderer.dialect.speller is not None
        renderer.dialect.speller(message, False)
    except Inexpressible:
        return False
    return True


def prompt_of(renderer: Renderer, messages: Sequence[Message], declared: Any) -> Rendered:
    return renderer.build_generation_prompt(messages, declared)


@EACH
def test_it_says_a_plain_conversation(family: Family) -> None:
    renderer = renderer_of(family)
    messages = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."}]
    example = renderer.build_supervised_example(messages)
    sampled = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    message, termination = renderer.parse_response(
        sampled, prompt=prompt_of(renderer, read_messages(messages[:1]), None)
    )
    assert (message.text, termination) == ("Hi.", Termination.STOP_SEQUENCE)


@EACH
@SHORT
@given(conversation=said(), declared=tools())
def test_every_token_knows_whose_it_is(family: Family, conversation: list[dict[str, Any]], declared: Any) -> None:
    renderer = renderer_of(family)
    try:
        rendered = renderer.render(conversation, declared)
    except InvalidConversation:
        return
    bounds = [0, *(span.end for span in rendered.spans)]
    assert [span.start for span in rendered.spans] == bounds[:-1]
    assert bounds[-1] == len(rendered.ids)
    assert decode(renderer.tokenizer, rendered.ids) == renderer.tokenizer.normalize(rendered.text)
    for span in rendered.spans:
        assert not span.sampled or rendered.messages[span.message].role == "assistant"
        if span.kind in (Kind.TEXT, Kind.RESULT) and not span.sampled and span.message >= 0 and span.part >= 0:
            written = decode(renderer.tokenizer, rendered.ids[span.start : span.end])
            text = rendered.messages[span.message].text
            forms = (text, tojson(text), tojson(json_value(text)))
            assert any(renderer.tokenizer.normalize(written).strip() in form for form in forms)


@EACH
@SHORT
@given(conversation=said(), declared=tools())
def test_what_the_model_sampled_follows_its_prompt_and_is_read_back(
    family: Family, conversation: list[dict[str, Any]], declared: Any
) -> None:
    renderer = renderer_of(family)
    try:
        example = renderer.build_supervised_example(conversation, declared)
        prompt = renderer.build_generation_prompt(conversation[:-1], declared)
    except InvalidConversation:
        return
    if not is_one_response(renderer, conversation[-1]):
        return
    trained = [k for k, weight in enumerate(example.weights) if weight]
    assert trained
    assert example.ids[: trained[0]] == prompt.ids
    assert trained == list(range(trained[0], trained[-1] + 1))
    assert decode(renderer.tokenizer, example.ids[: trained[-1] + 1]).endswith(stops_of(renderer))
    sampled = [example.ids[k] for k in trained]
    message, termination = renderer.parse_response(sampled, TOOLS, prompt=prompt)  # whose schemas tell types
    expected = read_messages(conversation)[-1]
    assert bare(message) == bare(expected)
    assert termination is (Termination.CALL if expected.tool_calls else Termination.STOP_SEQUENCE)
    cut = Random(len(sampled)).randint(0, len(sampled) - 1)
    _, ended = renderer.parse_response(sampled[:cut], declared, prompt=prompt)
    assert ended is Termination.TRUNCATED


def stops_of(renderer: Renderer) -> tuple[str, ...]:
    """The texts that end a turn of the model's."""
    return renderer.family.stop_texts or renderer.family.ends


def bare(message: Message) -> list[Part]:
    """The parts without the ids of calls, which few dialects write, and those in their own way."""
    return [replace(part, id=None) if isinstance(part, ToolCall) else part for part in message.parts]


@EACH
@SHORT
@given(conversation=said())
def test_all_turns_can_be_trained_on_in_a_few_examples(family: Family, conversation: list[dict[str, Any]]) -> None:
    renderer = renderer_of(family)
    try:
        examples = renderer.build_supervised_examples(conversation, TOOLS, train_on=TrainOn.ALL_ASSISTANTS)
    except InvalidConversation:
        return
    trained = [
        {span.message for span in example.rendered.spans if any(example.weights[span.start : span.end])}
        for example in examples
    ]
    spoken = [k for k, message in enumerate(conversation) if message["role"] == "assistant"]
    assert sorted(k for each in trained for k in each) == spoken
    for example in examples:
        assert all(span.sampled for span in example.rendered.spans if any(example.weights[span.start : span.end]))


@EACH
@SHORT
@given(conversation=conversations(thinking=False, calls=0, markers=True))
def test_text_never_becomes_a_control_token(family: Family, conversation: list[dict[str, Any]]) -> None:
    renderer = renderer_of(family)
    try:
        ids = renderer.render(conversation).ids
        harmless = renderer.render([said | {"content": without_markers(said["content"])} for said in conversation]).ids
    except InvalidConversation:
        return
    control = frozenset(renderer.tokenizer.control.values())
    assert [token for token in ids if token in control] == [token for token in harmless if token in control]


def without_markers(text: str) -> str:
    for marker in MARKERS:
        text = text.replace(marker, "·")
    return text


@EACH
def test_text_that_spells_a_control_token_can_be_refused(family: Family) -> None:
    renderer = renderer_of(family, refuse=True)
    spelled = next(iter(renderer.tokenizer.control), None)
    if spelled is None:
        return
    with pytest.raises(ControlText) as caught:
        renderer.build_generation_prompt([{"role": "user", "content": f"a {spelled}"}])
    assert (caught.value.message, caught.value.spelled, caught.value.at) == (0, spelled, 2)


@EACH
@SHORT
@given(conversation=said(), declared=tools(), more=st.sampled_from(["tool", "user"]))
def test_a_prompt_is_extended_as_it_would_be_rendered_or_it_is_said_why_not(
    family: Family, conversation: list[dict[str, Any]], declared: Any, more: str
) -> None:
    renderer = renderer_of(family)
    added = [{"role": "user", "content": "And then?"}]
    if more == "tool":
        added = [
            {"role": "tool", "content": "20", "name": call["function"]["name"], "tool_call_id": call["id"]}
            for call in conversation[-1].get("tool_calls", ())
        ] or added
    try:
        prompt = renderer.build_generation_prompt(conversation[:-1], declared)
        example = renderer.build_supervised_example(conversation, declared)
        whole = renderer.build_generation_prompt([*conversation, *added], declared)
        sampled = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    except InvalidConversation:
        return
    if not is_one_response(renderer, conversation[-1]):
        return
    if not whole.text.startswith(prompt.text + decode(renderer.tokenizer, sampled[:-1])):
        with pytest.raises(CannotExtend):
            renderer.extend(prompt, sampled, added)
        return
    extended = renderer.extend(prompt, sampled, added)
    assert extended.ids[: len(prompt.ids) + len(sampled) - 1] == [*prompt.ids, *sampled[:-1]]
    assert extended.ids == whole.ids
    assert [span.end for span in extended.spans][-1] == len(extended.ids)


def test_ids_alone_need_their_history_to_be_extended() -> None:
    renderer = renderer_of(families()[0])
    prompt = renderer.build_generation_prompt([Message("user", (TextPart("Hi."),))])
    with pytest.raises(CannotExtend, match="ids alone do not tell what was rendered"):
        renderer.extend(prompt.ids, [], [])
    with pytest.raises(CannotExtend, match="not those of this history"):
        renderer.extend(prompt.ids[:-1], [], [], history=[Message("user", (TextPart("Hi."),))])
