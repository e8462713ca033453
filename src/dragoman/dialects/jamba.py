"""Jamba: an array of JSON calls, one a line, in <tool_calls> tags; Jamba 1.5, 1.6 and 1.7, Mini and Large.

    Let me look.<tool_calls>[
        {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}},
        {"name": "get_weather", "arguments": {"city": "Oslo"}}
    ]</tool_calls><|eom|>

The models have no thoughts, and begin their turn with a space, which is kept before text. The tags are control tokens.
The template has not been seen; the layout is that of recorded outputs.
"""

from __future__ import annotations

from ..idioms import define, json_array

DIALECT = define(
    __doc__,
    name="jamba",
    calls=json_array("<tool_calls>", "</tool_calls>", inner="\n    "),
    stops=("<|eom|>",),
    prose=False,
    turns=("<|bom|><|assistant|>",),
    models=("ai21labs/AI21-Jamba-*", "ai21labs/Jamba-*"),
    tokens=("<tool_calls>", "</tool_calls>", "<|bom|>"),
    signatures=(("<tool_calls>", "</tool_calls>", "<|bom|>"),),
    source="vLLM, jamba_tool_parser.py and the outputs in its test",
)
