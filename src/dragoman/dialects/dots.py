"""dots.llm: calls as <invoke> tags with raw parameters in one block.

    <think>Two cities.</think>Let me look.
    <dots_function_call>
    <invoke name="get_weather">
    <parameter name="city">Paris</parameter>
    <parameter name="days">2</parameter>
    </invoke>
    <invoke name="get_weather">
    <parameter name="city">Oslo</parameter>
    </invoke>
    </dots_function_call>

A value is raw text, typed by the tool's schema. A call written as JSON inside the block is read too. No stop marker is
known; the layout of thoughts is not verified against a template.
"""

from __future__ import annotations

from ..idioms import Sign, Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="dots",
    think=Think.tight(),
    calls=tagged_values(
        (("<dots_function_call>", "</dots_function_call>"),),
        Tag('<invoke name="', (Sign('">'),), "</invoke>"),
        Tag('<parameter name="', (Sign('">'),), "</parameter>", lead="", tail=""),
        several=True,
    ),
    turns=("<|response|>",),
    models=("rednote-hilab/dots.llm*",),
    signatures=(("<dots_function_call>", "</dots_function_call>"),),
    source="vLLM, dots_tool_parser.py; SGLang, dots_detector.py",
)
