r"""Kimi K2: calls between control tokens, whose header is also their id; K2, K2-0905, K2-Thinking, K2.5.

    <think>Two cities.</think>Let me look.<|tool_calls_section_begin|>\
    <|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris", "days": 2}<|tool_call_end|>\
    <|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>\
    <|tool_calls_section_end|><|im_end|>

The header as written is the id; the name is what stands between ``functions.`` (which may be missing) and the last
colon, and may hold dots. The section's markers may be missing or in the singular. Prompts of K2-Thinking and K2.5 may
end in ``<think>``: start="reasoning".
"""

from __future__ import annotations

import re

from ..errors import Inexpressible
from ..grammar import build as b
from ..idioms import Think, define, headed_json
from ..types import ToolCall

HEADER = r"\s*(?P<id>(?:functions\.)?(?P<name>.+?)(?::\d+)?)\s*"


def _header(call: ToolCall, index: int) -> str:
    header = call.id if call.id is not None else f"functions.{call.name}:{index}"
    read = re.fullmatch(HEADER, header)
    if "<" in header or read is None or (read["id"], read["name"]) != (header, call.name):
        raise Inexpressible("kimi_k2", index, f"the id {header!r} does not name {call.name!r}")
    return header


DIALECT = define(
    __doc__,
    name="kimi_k2",
    think=Think.tight(),
    calls=headed_json(
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
        sections=("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>"),
        section_ends=("<|tool_calls_section_end|>", "<|tool_call_section_end|>"),
        name=b.field_name(b.chars("^<", 1, 200), pattern=HEADER),
        names=r"[^<\s]{1,150}",
        header=_header,
    ),
    stops=("<|im_end|>",),
    prose=False,
    turns=("<|im_assistant|>assistant<|im_middle|>",),
    native_id=lambda name, index: f"functions.{name}:{index}",
    models=("moonshotai/Kimi-K2*", "moonshotai/Kimi-Linear-*"),
    aliases=("kimi",),
    tokens=("<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>"),
    signatures=(("<|tool_calls_section_begin|>", "<|tool_call_begin|>", "<|tool_call_argument_begin|>"),),
    templates=("02e91795d2270374", "4027d478e682204e", "aab20feb9bc6881f", "27f0a184f44c84b6"),
    source="chat template and tokenizer_config.json of Kimi-K2-Instruct; its tool_call_guidance.md",
)
