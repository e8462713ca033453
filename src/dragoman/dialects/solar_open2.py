r"""Solar Open 2: calls as raw text between control tokens; Solar-Open2-250B.

    <|think:start|>Two cities.<|think:end|>Let me look.<|tool_call:start|>get_weather
    <|tool_arg:start|>city<|tool_arg:value|>Paris<|tool_arg:end|>
    <|tool_arg:start|>days<|tool_arg:value|>2<|tool_arg:end|>
    <|tool_call:end|><|tool_call:start|>get_weather
    <|tool_arg:start|>city<|tool_arg:value|>Oslo<|tool_arg:end|>
    <|tool_call:end|><|im:end|>

A value is raw text, typed by the tool's schema, and no newlines stand around it. Prompts open the thought,
start="reasoning", or hold an empty one where little thinking is asked for. Calls inside a thought occur.
"""

from __future__ import annotations

from ..idioms import Sign, Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="solar_open2",
    think=Think.tight("<|think:start|>", "<|think:end|>"),
    calls=tagged_values(
        (),
        Tag("<|tool_call:start|>", (Sign("\n"),), "<|tool_call:end|>", lead="", after=""),
        Tag("<|tool_arg:start|>", (Sign("<|tool_arg:value|>"),), "<|tool_arg:end|>", lead="", tail=""),
        lead="",
    ),
    stops=("<|im:end|>",),
    prose=False,
    models=("upstage/Solar-Open2-*",),
    tokens=("<|tool_call:start|>",),
    signatures=(("<|tool_call:start|>",),),
    source="vLLM, tool_parsers/solar_open2_tool_parser.py and its tests. Template not verified",
)
