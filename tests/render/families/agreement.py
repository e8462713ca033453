"""Whether a family writes what its chat template does: the text, and the ids of that text."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from dragoman.render.rendered import Rendered
from dragoman.render.renderer import Renderer
from dragoman.tokenizers import Tokenizer
from dragoman.tokenizers.tiktoken import TiktokenTokenizer
from tests.oracles import chat_template, loaded
from tests.render.conversations import hf_text

__all__ = ["agrees", "ids_agree", "qwen", "thoughtful"]

Conversation = Sequence[Mapping[str, Any]]


def qwen() -> Tokenizer:
    """Qwen's own vocabulary."""
    return loaded("qwen")


def thoughtful(messages: Conversation) -> list[dict[str, Any]]:
    """The conversation in which every turn of the model has thoughts, empty ones too: so no template looks for any."""
    return [{"reasoning_content": "", **each} if each["role"] == "assistant" else {**each} for each in messages]


def agrees(
    name: str,
    template: str,
    tokenizer: Tokenizer,
    messages: Conversation,
    tools: Sequence[Mapping[str, Any]] | None,
    options: Mapping[str, Any],
    *,
    behind: str = "",
) -> None:
    """The whole conversation, with what is to stand behind it, and the prompt are what the template writes."""
    renderer, source = Renderer(name, tokenizer, **options), chat_template(template)
    asked = hf_text(source, thoughtful(messages), tools, add_generation_prompt=True, **options)
    assert renderer.build_generation_prompt(messages, tools).text == asked
    assert renderer.render(messages, tools).text == hf_text(source, thoughtful(messages), tools, **options) + behind


def ids_agree(renderer: Renderer, messages: Conversation, tools: Sequence[Mapping[str, Any]] | None) -> None:
    """All ids are those of the text, encoded with its control tokens; cut only where the model begins."""
    assert isinstance(renderer.tokenizer, TiktokenTokenizer)
    for rendered in (renderer.render(messages, tools), renderer.build_generation_prompt(messages, tools)):
        expected = []
        for text in cut(rendered):
            text = unicodedata.normalize(renderer.tokenizer.form, text) if renderer.tokenizer.form else text
            expected += renderer.tokenizer.encoding.encode(text, allowed_special="all")
        assert rendered.ids == expected


def cut(rendered: Rendered) -> list[str]:
    """The text, in pieces of which all but the first begin where the model does."""
    texts, message = [""], None
    for segment in rendered.segments:
        if segment.sampled and segment.message != message:
            texts.append("")
            message = segment.message
        texts[-1] += segment.text
    return texts
