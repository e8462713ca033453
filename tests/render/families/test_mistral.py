"""Mistral's formats give the ids that mistral-common gives, and refuse what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dragoman.errors import InvalidConversation
from dragoman.render.rendered import Rendered
from dragoman.render.renderer import Renderer
from dragoman.types import Message, TextPart, ThinkingPart, ToolCall
from tests.oracles import loaded, vocabulary_path
from tests.render.conversations import TOOLS, conversations, tools, words
from tests.render.families.mistral_common import FAMILIES, common_ids, renderer_of, version_of

EACH = pytest.mark.parametrize("family", FAMILIES)


@st.composite
def requests(draw: st.DrawFn, version: int) -> list[dict[str, Any]]:
    """Conversations with neighbours of one role, several systems, and answers in any order."""
    made = draw(
        conversations(
            thinking=version >= 13,
            calls=0 if version == 1 else 1 if version == 2 else 2,
            text_with_calls=version >= 7,
            markers=version > 1,
            edges=True,
        )
    )
    out: list[dict[str, Any]] = []
    for message in made:
        if message["role"] == "user" and draw(st.integers(0, 3)) == 0 and not (out and out[-1]["role"] == "assistant"):
            out.append({"role": "system", "content": draw(words(edges=True, empty=True))})
        out.append(message)
        if message["role"] == "user" and draw(st.integers(0, 3)) == 0:
            out.append({"role": "user", "content": draw(words(edges=True, empty=True))})
    return out if version < 11 else shuffled(draw, out)


def shuffled(draw: st.DrawFn, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same with the answers to one turn in another order."""
    out: list[dict[str, Any]] = []
    for message in messages:
        follows = bool(out) and out[-1]["role"] == message["role"] == "tool"
        out.insert(len(out) - 1 if follows and draw(st.booleans()) else len(out), message)
    return out


def ours(renderer: Renderer, messages: Sequence[dict[str, Any]], declared: Any) -> Rendered | None:
    try:
        if messages and messages[-1]["role"] == "assistant":
            return renderer.render(messages, declared)
        return renderer.build_generation_prompt(messages, declared)
    except InvalidConversation:
        return None


@EACH
@given(data=st.data())
def test_ids_are_those_of_mistral_common(family: str, data: st.DataObject) -> None:
    version = version_of(family)
    messages = data.draw(requests(version))
    declared = data.draw(tools()) if version > 1 else None
    rendered = ours(renderer_of(family), messages, declared)
    assert rendered is not None
    assert rendered.ids == common_ids(family, messages, declared)


CALL = {"type": "function", "function": {"name": "f", "arguments": {}}}
SAID = (
    {"role": "user", "content": "a"},
    {"role": "user", "content": ""},
    {"role": "system", "content": "b"},
    {"role": "system", "content": ""},
    {"role": "assistant", "content": "c "},
    {"role": "assistant", "content": ""},
    {"role": "assistant", "content": "", "tool_calls": [CALL | {"id": "123456789"}]},
    {"role": "assistant", "content": "d", "tool_calls": [CALL | {"id": "123456789"}]},
    {"role": "assistant", "content": "", "tool_calls": [CALL | {"id": "123456789"}, CALL | {"id": "abcdefghi"}]},
    {"role": "assistant", "content": "", "tool_calls": [CALL | {"id": "short"}]},
    {"role": "tool", "content": "{}", "tool_call_id": "123456789"},
    {"role": "tool", "content": '{"a":1}', "tool_call_id": "abcdefghi", "name": "f"},
    {"role": "tool", "content": "e", "tool_call_id": "123456789", "name": "not a name"},
)
"""What is put in any order, so that most of it makes no sense."""


@EACH
@given(messages=st.lists(st.sampled_from(SAID), max_size=6), declared=tools())
def test_what_mistral_common_refuses_is_refused(family: str, messages: list[dict[str, Any]], declared: Any) -> None:
    declared = declared if version_of(family) > 1 else None
    expected, rendered = common_ids(family, messages, declared), ours(renderer_of(family), messages, declared)
    assert rendered is None or rendered.ids == expected


@EACH
@given(data=st.data())
def test_what_the_model_wrote_is_read_back(family: str, data: st.DataObject) -> None:
    version, renderer = version_of(family), renderer_of(family)
    thinks, calls = version >= 11, 0 if version == 1 else 1
    text = version >= 7
    messages = data.draw(
        conversations(thinking=thinks, calls=calls, text_with_calls=text, last=("assistant",), markers=version > 1)
    )
    assume(version != 11 or "think>" not in messages[-1]["content"] + messages[-1].get("reasoning_content", ""))
    example = renderer.build_supervised_example(messages)
    sampled = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    said, termination = renderer.parse_response(sampled, prompt=renderer.build_generation_prompt(messages[:-1]))
    assert termination.is_clean
    assert said.text == renderer.tokenizer.normalize(messages[-1]["content"])
    assert said.thinking == messages[-1].get("reasoning_content", "")
    assert [call.name for call in said.tool_calls] == [
        call["function"]["name"] for call in messages[-1].get("tool_calls", ())
    ]


@pytest.mark.slow
def test_the_whole_vocabulary_of_tekken_gives_the_same() -> None:
    from mistral_common.protocol.instruct.request import ChatCompletionRequest
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    messages = [{"role": "system", "content": "You help."}, {"role": "user", "content": "Wie ist das Wetter in Köln?"}]
    request = ChatCompletionRequest.from_openai(messages, list(TOOLS))  # type: ignore[type-var]
    whole = MistralTokenizer.from_file(vocabulary_path("tekken")).encode_chat_completion(request)
    renderer = Renderer("mistral_v3_tekken", loaded("tekken"))
    assert renderer.build_generation_prompt(messages, TOOLS).ids == whole.tokens


ASKED = Message("user", (TextPart("?"),))


@pytest.mark.parametrize(
    ("family", "said", "found"),
    [
        ("mistral_v7", [], "the conversation: expected at least one message, found none"),
        (
            "mistral_v7",
            [Message("assistant", (TextPart("a"),))],
            "message 0: expected a message of the user or the sys",
        ),
        ("mistral_v7", [ASKED, Message("assistant", (ThinkingPart("a"),))], "message 1, part 0: .* found ThinkingPart"),
        ("mistral_v7", [ASKED, Message("assistant", (ToolCall("f", "{}", "1"),)), ASKED], "nine letters and digits"),
        ("mistral_v7", [ASKED, Message("assistant", (ToolCall("f", "[]"),))], r"a JSON object, found '\[\]'"),
        ("mistral_v7", [ASKED, Message("assistant", (ToolCall("f", "{"),))], "a JSON object, found '{'"),
        ("mistral_v7", [ASKED, Message("assistant", (ToolCall("f g", "{}"),))], "a name of 1 to 64 letters"),
        ("mistral_v1", [ASKED, Message("assistant", (ToolCall("f", "{}"),))], "found ToolCall"),
        ("mistral_v3", [ASKED, Message("assistant", (TextPart("a"), ToolCall("f", "{}")))], "either text or calls"),
        ("mistral_v13", [ASKED, Message("developer", (TextPart("a"),))], "found 'developer'"),
    ],
)
def test_a_refusal_says_where_and_what_was_expected(family: str, said: list[Message], found: str) -> None:
    with pytest.raises(InvalidConversation, match=found):
        renderer_of(family).render(said)


def test_tools_are_refused_where_they_would_be_left_out() -> None:
    with pytest.raises(InvalidConversation, match="no way to declare"):
        renderer_of("mistral_v1").render([ASKED], TOOLS)
    with pytest.raises(InvalidConversation, match="a message of the user, before which the tools stand"):
        renderer_of("mistral_v7").render([Message("system", (TextPart("a"),))], TOOLS)


def test_a_prompt_needs_somebody_who_asks() -> None:
    renderer = renderer_of("mistral_v7")
    for last in (Message("assistant", (TextPart("a"),)), Message("system", (TextPart("a"),))):
        with pytest.raises(InvalidConversation, match="a message of the user or of a tool last"):
            renderer.build_generation_prompt([ASKED, last])


def test_thoughts_need_their_control_tokens() -> None:
    renderer = Renderer("mistral_v13", WithoutThoughts())
    assert renderer.render([ASKED]).ids == renderer_of("mistral_v13").render([ASKED]).ids
    with pytest.raises(InvalidConversation, match=r"no thoughts, since the tokenizer has no \[THINK\]"):
        renderer.render([ASKED, Message("assistant", (ThinkingPart("a"), TextPart("b")))])


class WithoutThoughts:
    """The tokenizer of v13 without the tokens of thoughts."""

    def __init__(self) -> None:
        whole = renderer_of("mistral_v13").tokenizer
        self.encode, self.token_bytes, self.normalize, self.size = (
            whole.encode,
            whole.token_bytes,
            whole.normalize,
            whole.size,
        )
        self.control = {name: token for name, token in whole.control.items() if "THINK" not in name}


def test_answers_and_calls_of_v13_need_no_ids() -> None:
    said = [ASKED, Message("assistant", (ToolCall("f", "{}"),)), Message("tool", (TextPart("20"),)), ASKED]
    text = renderer_of("mistral_v13").build_generation_prompt(said).text
    assert text == "<s>[INST]?[/INST][TOOL_CALLS]f[ARGS]{}</s>[TOOL_RESULTS]20[/TOOL_RESULTS][INST]?[/INST]"
