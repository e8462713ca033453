r"""Solar Open: thoughts, answers and calls in blocks of control tokens, calls with ids; Solar-Open-100B.

    <|think|>Two cities.<|end|><|begin|>assistant<|content|>Let me look.<|end|><|begin|>assistant<|tool_calls|>\
    <|tool_call:begin|>call000000<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Paris", "days": 2}\
    <|tool_call:end|>\
    <|tool_call:begin|>call000001<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Oslo"}\
    <|tool_call:end|><|calls|>

Prompts end in ``<|begin|>assistant``, so the first block has no such beginning. ``<|end|>`` closes a block, and the
turn too if no further block follows. An id is ten small letters and digits, made up by the model; one that is missing
is made up in writing. Where little thinking is asked for, prompts hold an empty thought. Solar-Open2 writes its calls
in another format.
"""

from __future__ import annotations

import re

from ..errors import Inexpressible
from ..grammar import build as b
from ..idioms import Blocks, define_blocks, headed_json
from ..types import ToolCall

NAMED = "<|tool_call:name|>"


def _native_id(name: str, index: int) -> str:
    return f"call{index:06}"


def _header(call: ToolCall, index: int) -> str:
    given = call.id if call.id is not None else _native_id(call.name, index)
    if not re.fullmatch(r"[^<\s]{1,64}", given):
        raise Inexpressible("solar", index, f"the id {given!r} can't be read back")
    return f"{given}{NAMED}{call.name}"


DIALECT = define_blocks(
    __doc__,
    name="solar",
    blocks=Blocks("<|begin|>assistant", "<|think|>", "<|content|>", "<|end|>"),
    calls=headed_json(
        "<|tool_call:begin|>",
        "<|tool_call:args|>",
        "<|tool_call:end|>",
        sections=("<|tool_calls|>",),
        name=b.optional(b.call_id(b.chars(r"^<\s", 1, 64))) + NAMED + b.field_name(b.chars(r"^<\s", 1, 128)),
        names=r"[^<\s]{1,128}",
        header=_header,
    ),
    stops=("<|calls|>",),
    turns=("<|begin|>assistant",),
    native_id=_native_id,
    models=("upstage/Solar-Open-*",),
    aliases=("solar_open",),
    tokens=("<|tool_calls|>", "<|tool_call:begin|>", "<|tool_call:args|>"),
    signatures=(("<|tool_calls|>", "<|tool_call:begin|>"),),
    templates=("c2e6220e74d32601",),
    source="chat template of Solar-Open-100B",
)
