r"""Phi-4-mini: an array of calls behind a word; Phi-4-mini-instruct, Firefunction v2.

    Let me look.functools[{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}}]<|end|>

The word is ordinary text; Firefunction writes a space before it. It counts where a bracket or a brace follows it. With
its own template, Phi-4-mini writes ``<|tool_call|>``, the array or single objects, and ``<|/tool_call|>``: that is read
too. The models have no thoughts.
"""

from __future__ import annotations

from ..idioms import also, define, json_array

DIALECT = define(
    __doc__,
    name="phi4",
    calls=also(json_array("functools", ""), json_array("<|tool_call|>", "<|/tool_call|>")),
    stops=("<|end|>", "<|endoftext|>", "<|eot_id|>"),
    turns=("<|assistant|>", "<|start_header_id|>assistant<|end_header_id|>\n\n"),
    models=("microsoft/Phi-4-mini-*", "microsoft/Phi-4-multimodal-*", "fireworks-ai/*firefunction-v2"),
    aliases=("phi4_mini", "phi4_mini_json"),
    signatures=(("functools[",),),
    templates=("e3be0b0dd052aaed", "5f259f602c593bdc", "b79920e63d66e055", "008dbfcb139c3513"),
    source="chat template of llama-3-firefunction-v2; vLLM, phi4mini_tool_parser.py; model card of Phi-4-mini-instruct",
)
