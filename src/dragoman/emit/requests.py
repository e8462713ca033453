"""How servers take a constraint: the fields of their requests.

vLLM (`StructuredOutputsParams` in `vllm/sampling_params.py`, `structured_outputs` in the requests of its OpenAI
server) and SGLang (`srt/sampling/sampling_params.py`, `srt/entrypoints/openai/protocol.py`) take at most one constraint
a request. With a reasoning parser both leave the model's thoughts free and constrain what comes behind them, so that
there a constraint must not ask for thoughts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias, assert_never

import msgspec
from msgspec import Struct

from ..types import JSON

__all__ = ["AsGrammar", "AsSchema", "AsTag", "Constraint", "sglang_chat", "sglang_generate", "vllm"]


class AsTag(Struct, frozen=True):
    """A structural tag, as `structural_tag` makes it."""

    value: Mapping[str, JSON]


class AsGrammar(Struct, frozen=True):
    """A grammar in xgrammar's EBNF."""

    ebnf: str


class AsSchema(Struct, frozen=True):
    """A JSON Schema of the whole output."""

    schema: Mapping[str, JSON]


Constraint: TypeAlias = AsTag | AsGrammar | AsSchema


def vllm(constraint: Constraint) -> dict[str, JSON]:
    """Fields of a request to vLLM's OpenAI server, for chats and completions alike."""
    match constraint:
        case AsTag(value):
            return {"structured_outputs": {"structural_tag": _text(value)}}
        case AsGrammar(ebnf):
            return {"structured_outputs": {"grammar": ebnf}}
        case AsSchema(schema):
            return {"structured_outputs": {"json": schema}}
        case _:
            assert_never(constraint)


def sglang_generate(constraint: Constraint) -> dict[str, JSON]:
    """Members of `sampling_params` in a request to SGLang's own ``/generate``."""
    match constraint:
        case AsTag(value):
            return {"structural_tag": _text(value)}
        case AsGrammar(ebnf):
            return {"ebnf": ebnf}
        case AsSchema(schema):
            return {"json_schema": _text(schema)}
        case _:
            assert_never(constraint)


def sglang_chat(constraint: Constraint) -> dict[str, JSON]:
    """Fields of a request to SGLang's OpenAI server, for chats and completions alike."""
    match constraint:
        case AsTag(value):
            return {"response_format": value}
        case AsGrammar(ebnf):
            return {"ebnf": ebnf}
        case AsSchema(schema):
            return {"response_format": {"type": "json_schema", "json_schema": {"name": "output", "schema": schema}}}
        case _:
            assert_never(constraint)


def _text(value: Mapping[str, JSON]) -> str:
    return msgspec.json.encode(value).decode()
