r"""Granite 20B function calling: a JSON call behind each <function_call>; granite-20b-functioncalling.

    Let me look.<function_call> {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}\
    <function_call> {"name": "get_weather", "arguments": {"city": "Oslo"}}<|endoftext|>

Nothing closes a call but its brace. Where no function fits, the models call ``no_function``. They have no thoughts.
"""

from __future__ import annotations

from ..idioms import define, opened_json

DIALECT = define(
    __doc__,
    name="granite_20b_fc",
    calls=opened_json(("<function_call>",), lead=" ", prose=True),
    stops=("<|endoftext|>",),
    turns=("ASSISTANT: ", "ASSISTANT:"),
    models=("ibm-granite/granite-20b-functioncalling*",),
    signatures=(("<function_call>", "no_function"), ("<function_call> ", "tool_calls")),
    templates=("22c5db13b4c6a2c1",),
    source="vLLM, examples/tool_chat_template_granite_20b_fc.jinja and granite_20b_fc_tool_parser.py",
)
