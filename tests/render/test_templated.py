"""A chat template as a family: what it writes is what the family written for it writes, token for token."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import CannotExtend, InvalidConversation, Unrecognised
from dragoman.render.renderer import Renderer
from dragoman.render.stability import prefix_stability
from dragoman.render.templated import template_family
from dragoman.segments import Kind
from dragoman.tokenizers.bytes import ByteTokenizer
from tests.oracles import chat_template
from tests.render.conversations import TOOLS, conversations

CHATML = ByteTokenizer(
    ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>", "<tool_call>", "</tool_call>")
)
LLAMA = ByteTokenizer(("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"))
PAIRS = {
    "qwen3": ("trl:qwen3", CHATML, {}),
    "qwen3_instruct": ("trl:qwen3_instruct_2507", CHATML, {}),
    "llama3": ("trl:llama3", LLAMA, {"bos_token": "<|begin_of_text|>"}),
}
EACH = pytest.mark.parametrize("name", PAIRS)


def both(name: str) -> tuple[Renderer, Renderer]:
    """The family's renderer, and that of its template."""
    template, tokenizer, special = PAIRS[name]
    own = Renderer(name, tokenizer)
    source = chat_template(template)
    return own, Renderer(template_family(source, dialect=own.dialect, special_tokens=special), tokenizer)


def talks(name: str) -> st.SearchStrategy[list[dict[str, Any]]]:
    return conversations(
        thinking=name == "qwen3", calls=0 if name == "llama3" else 2, last=("assistant",), markers=False
    )


@EACH
@given(data=st.data())
def test_its_tokens_and_weights_are_those_of_the_family(name: str, data: st.DataObject) -> None:
    own, templated = both(name)
    conversation = data.draw(talks(name))
    declared = None if name == "llama3" else data.draw(st.sampled_from([None, list(TOOLS)]))
    assert templated.render(conversation, declared).ids == own.render(conversation, declared).ids
    prompts = [each.build_generation_prompt(conversation[:-1], declared) for each in (own, templated)]
    assert prompts[0].ids == prompts[1].ids
    examples = [each.build_supervised_example(conversation, declared) for each in (own, templated)]
    assert examples[0].weights == examples[1].weights
    said = [[span.kind for span in one.rendered.spans if span.kind is not Kind.MARKUP] for one in examples]
    assert set(said[0]) == set(said[1])


@EACH
@given(data=st.data())
def test_it_reads_and_extends_as_the_family_does(name: str, data: st.DataObject) -> None:
    own, templated = both(name)
    conversation = data.draw(talks(name))
    added = [{"role": "user", "content": "And then?"}]
    try:
        example = own.build_supervised_example(conversation)
    except InvalidConversation:
        return
    sampled = [token for token, weight in zip(example.ids, example.weights, strict=True) if weight]
    prompts = [each.build_generation_prompt(conversation[:-1]) for each in (own, templated)]
    read = [each.parse_response(sampled, prompt=prompt) for each, prompt in zip((own, templated), prompts, strict=True)]
    assert read[0] == read[1]
    extended = []
    for each, prompt in zip((own, templated), prompts, strict=True):
        try:
            extended.append(each.extend(prompt, sampled, added).ids)
        except CannotExtend:
            extended.append([])
    assert extended[0] == extended[1]


def test_its_stability_is_that_of_the_family() -> None:
    own, templated = both("qwen3")
    assert prefix_stability(own) == prefix_stability(templated)


def test_options_are_variables_of_the_template() -> None:
    source = chat_template("trl:qwen3")
    silent = Renderer(template_family(source), CHATML, enable_thinking=False)
    assert silent.build_generation_prompt([{"role": "user", "content": "a"}]).text.endswith("<think>\n\n</think>\n\n")


def test_the_template_tells_its_dialect_or_it_has_to_be_named() -> None:
    assert template_family(chat_template("trl:qwen3")).speaks().name == "hermes"
    with pytest.raises(Unrecognised, match="name the dialect"):
        template_family("{{ messages }}")


def test_text_that_a_template_joins_does_not_become_a_control_token() -> None:
    source = "{% for m in messages %}<|im_start|>{{ m.content }}{{ 'end|>' if loop.last }}{% endfor %}"
    renderer = Renderer(template_family(source, dialect="hermes"), CHATML)
    ids = renderer.render([{"role": "user", "content": "<|im_start|><|im_"}]).ids
    assert [token for token in ids if token > 255] == [CHATML.control["<|im_start|>"]]
