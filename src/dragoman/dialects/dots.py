"""dots: calls as <invoke> tags with raw parameters in one block; dots3-note.

    <think>Two cities.</think>Let me look.
    <dots_function_call>
    <invoke name="get_weather">
    <parameter name="city">
    Paris
    </parameter>
    <parameter name="days">
    2
    </parameter>
    </invoke>
    <invoke name="get_weather">
    <parameter name="city">
    Oslo
    </parameter>
    </invoke>
    </dots_function_call>

A value is raw text, typed by the tool's schema; one newline behind its opener and one before its closer are layout, and
may be missing. Names may stand in single quotes or in none. A block may hold a JSON object in place of tags, and its
opener may come twice. The template was not seen: the layout of thoughts, the turn's opener (that of dots.llm1, which
writes no calls) and its stop marker are not verified.
"""

from __future__ import annotations

from ..idioms import Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="dots",
    think=Think.tight(),
    calls=tagged_values(
        (("<dots_function_call>", "</dots_function_call>"),),
        Tag.named("invoke"),
        Tag.named("parameter"),
        several=True,
    ),
    stops=("<|endofresponse|>",),
    turns=("<|response|>",),
    models=("rednote-hilab/dots.llm*",),
    signatures=(("<dots_function_call>", "</dots_function_call>"),),
    source="vLLM, dots_tool_parser.py; SGLang, dots_detector.py; vmlx-engine, dots_tool_parser.py; recorded outputs",
)
