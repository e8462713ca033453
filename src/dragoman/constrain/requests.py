"""How servers take a constraint: the fields of their requests.

vLLM (`StructuredOutputsParams` in `vllm/sampling_params.py`, `structured_outputs` in the requests of its OpenAI
server) and SGLang (`srt/sampling/sampling_params.py`, `srt/entrypoints/openai/protocol.py`) take at most one constraint
a request. With a reasoning parser both leave the model's thoughts free and constrain what comes behind them, so that
there a constraint must not ask for thoughts: scope="answer". llama.cpp (`tools/server/README.md`, ``POST /completion``)
takes GBNF, and for lazy grammars triggers and the tokens that are to be written out as text.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InvalidRequest
from ..types import JSON
from .emission import Emission, Engine
from .triggers import TriggerKind

__all__ = ["llama_cpp", "sglang_chat", "sglang_generate", "vllm"]


def llama_cpp(emission: Emission) -> dict[str, JSON]:
    """Fields of a request to llama.cpp's ``/completion``; raises `InvalidRequest`.

    A trigger is a control token where it is one, else a pattern, from whose first group on the grammar reads. A token
    that ends a trigger and goes on with what the grammar refuses makes llama.cpp end the request with an error.
    """
    if emission.engine is Engine.JSON_SCHEMA:
        return {"json_schema": _value(emission)}
    if emission.engine is not Engine.GBNF:
        raise InvalidRequest("engine", "gbnf or json_schema for llama.cpp", str(emission.engine))
    fields: dict[str, JSON] = {"grammar": emission.text, "preserved_tokens": list(emission.markers)}
    if not emission.triggers:
        return fields
    triggers: list[JSON] = []
    for trigger in emission.triggers:
        match trigger.kind:
            case TriggerKind.TOKEN:
                triggers.append({"type": 0, "value": trigger.text, "token": trigger.token})
            case TriggerKind.PATTERN:
                triggers.append({"type": 2, "value": trigger.text})
            case TriggerKind.WORD:  # its pattern says more
                pass
    return fields | {"grammar_lazy": True, "grammar_triggers": triggers}


def vllm(emission: Emission) -> dict[str, JSON]:
    """Fields of a request to vLLM's OpenAI server, for chats and completions alike; raises `InvalidRequest`."""
    match _eager(emission, "vllm"):
        case Engine.STRUCTURAL_TAG:
            return {"structured_outputs": {"structural_tag": emission.text}}
        case Engine.JSON_SCHEMA:
            return {"structured_outputs": {"json": _value(emission)}}
        case _:
            return {"structured_outputs": {"grammar": emission.text}}


def sglang_generate(emission: Emission) -> dict[str, JSON]:
    """Members of `sampling_params` in a request to SGLang's own ``/generate``; raises `InvalidRequest`."""
    match _eager(emission, "sglang"):
        case Engine.STRUCTURAL_TAG:
            return {"structural_tag": emission.text}
        case Engine.JSON_SCHEMA:
            return {"json_schema": emission.text}
        case _:
            return {"ebnf": emission.text}


def sglang_chat(emission: Emission) -> dict[str, JSON]:
    """Fields of a request to SGLang's OpenAI server, for chats and completions alike; raises `InvalidRequest`."""
    match _eager(emission, "sglang"):
        case Engine.STRUCTURAL_TAG:
            return {"response_format": _value(emission)}
        case Engine.JSON_SCHEMA:
            named: JSON = {"name": "output", "schema": _value(emission)}
            return {"response_format": {"type": "json_schema", "json_schema": named}}
        case _:
            return {"ebnf": emission.text}


_SERVERS = {
    "vllm": (Engine.XGRAMMAR, Engine.LARK, Engine.STRUCTURAL_TAG, Engine.JSON_SCHEMA),
    "sglang": (Engine.XGRAMMAR, Engine.LARK, Engine.STRUCTURAL_TAG, Engine.JSON_SCHEMA),
}


def _eager(emission: Emission, server: str) -> Engine:
    """The engine of an emission that this server takes."""
    if emission.engine not in _SERVERS[server]:
        raise InvalidRequest("engine", f"one of {', '.join(_SERVERS[server])} for {server}", str(emission.engine))
    if emission.triggers:
        raise InvalidRequest("lazy", f"false: {server} takes no triggers", True)
    return emission.engine


def _value(emission: Emission) -> Mapping[str, JSON]:
    assert emission.value is not None
    return emission.value
