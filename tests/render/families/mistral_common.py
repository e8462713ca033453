"""mistral-common as the oracle of Mistral's formats: its own vocabularies, and a small Tekken for all versions."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.chunk import TextChunk, ThinkChunk
from mistral_common.protocol.instruct.messages import AssistantMessage, SystemMessage, ToolMessage, UserMessage
from mistral_common.protocol.instruct.normalize import get_normalizer
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.tool_calls import FunctionCall, Tool, ToolCall
from mistral_common.protocol.instruct.validator import ValidationMode, get_validator
from mistral_common.tokens.tokenizers.base import TokenizerVersion
from mistral_common.tokens.tokenizers.instruct import (
    InstructTokenizerV3,
    InstructTokenizerV7,
    InstructTokenizerV11,
    InstructTokenizerV13,
)
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.tekken import Tekkenizer

from dragoman.render.renderer import Renderer
from dragoman.tokenizers import Tokenizer
from dragoman.tokenizers.mistral import UNNAMED, read_tekken
from tests.oracles import loaded, vocabulary_path

__all__ = ["FAMILIES", "common_ids", "renderer_of", "version_of"]

FILES = {"mistral_v1": "mistral-v1", "mistral_v2": "mistral-v2", "mistral_v3": "mistral-v3", "mistral_v7": "mistral-v7"}
TEKKEN = {
    "mistral_v3_tekken": ("v3", InstructTokenizerV3),
    "mistral_v7_tekken": ("v7", InstructTokenizerV7),
    "mistral_v11": ("v11", InstructTokenizerV11),
    "mistral_v13": ("v13", InstructTokenizerV13),
}
FAMILIES = (*FILES, *TEKKEN)

KNOWN = 20_000
"""Tokens of Tekken that the small one has: all its merges are among them."""


def version_of(family: str) -> int:
    """The number of a family's version."""
    return int(family.removeprefix("mistral_v").removesuffix("_tekken"))


@cache
def tekken() -> dict[str, Any]:
    """A ``tekken.json`` with the first tokens of the real one, and with the control tokens of all versions."""
    content: dict[str, Any] = json.loads(vocabulary_path("tekken").read_bytes())
    names = (*UNNAMED, "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]")
    special = [{"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(names)]
    config = content["config"] | {"default_vocab_size": 1000 + KNOWN, "version": "v13"}
    return {"config": config, "vocab": content["vocab"][:KNOWN], "special_tokens": special}


@cache
def tekkenizer() -> Tekkenizer:
    content = tekken()
    config = content["config"]
    return Tekkenizer(
        content["vocab"],
        content["special_tokens"],
        config["pattern"],
        config["default_vocab_size"],
        config["default_num_special_tokens"],
        TokenizerVersion.v13,
    )


@cache
def tokenizer_of(family: str) -> Tokenizer:
    if family in FILES:
        return loaded(FILES[family])
    return (
        read_tekken(json.dumps(tekken()).encode(), "tekken.json")
        if family == "mistral_v13"
        else tokenizer_of("mistral_v13")
    )


@cache
def renderer_of(family: str) -> Renderer:
    """Our renderer, with the vocabulary that the oracle has."""
    return Renderer(family, tokenizer_of(family))


@cache
def common(family: str) -> Any:
    """The oracle, which takes conversations whoever ends them."""
    if family in FILES:
        return MistralTokenizer.from_file(vocabulary_path(FILES[family]), mode=ValidationMode.agnostic)
    name, kind = TEKKEN[family]
    version = TokenizerVersion(name)
    validator = get_validator(version, ValidationMode.agnostic)
    return MistralTokenizer(kind(tekkenizer()), validator, get_normalizer(version))


def common_ids(
    family: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] | None
) -> list[int] | None:
    """What mistral-common encodes; none if it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            said = [message_of(message) for message in messages]
            declared = [Tool.from_openai(dict(tool)) for tool in tools] if tools else None
            request = ChatCompletionRequest(messages=said, tools=declared)
            return list(common(family).encode_chat_completion(request).tokens)
        except (MistralCommonException, ValueError, AssertionError, NotImplementedError):
            return None


def message_of(message: Mapping[str, Any]) -> Any:
    match message["role"]:
        case "system":
            return SystemMessage(content=message["content"])
        case "user":
            return UserMessage(content=message["content"])
        case "tool":
            return ToolMessage(
                content=message["content"], tool_call_id=message.get("tool_call_id"), name=message.get("name")
            )
    calls = [
        ToolCall(
            id=call.get("id", "null"),
            function=FunctionCall(name=call["function"]["name"], arguments=json.dumps(call["function"]["arguments"])),
        )
        for call in message.get("tool_calls", ())
    ]
    content = message["content"]
    if message.get("reasoning_content"):
        content = [ThinkChunk(thinking=message["reasoning_content"])] + ([TextChunk(text=content)] if content else [])
    return AssistantMessage(content=content or None, tool_calls=calls or None)
