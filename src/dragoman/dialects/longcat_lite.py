"""LongCat Lite: calls as a name and pairs of key and raw value; LongCat-Flash-Lite and later LongCat models.

    <longcat_think>
    Two cities.
    </longcat_think>
    Let me look.
    <longcat_tool_call>get_weather
    <longcat_arg_key>city</longcat_arg_key>
    <longcat_arg_value>Paris</longcat_arg_value>
    <longcat_arg_key>days</longcat_arg_key>
    <longcat_arg_value>2</longcat_arg_value>
    </longcat_tool_call>
    <longcat_tool_call>get_weather
    <longcat_arg_key>city</longcat_arg_key>
    <longcat_arg_value>Oslo</longcat_arg_value>
    </longcat_tool_call></longcat_s>

A string stands as it is, all else as JSON: the tool's schema tells which. All whitespace of a value is data; other
layout is read, and the JSON of longcat too. The template has not been seen, and which models but Lite write this is not
verified. Prompts of thinking models end in ``<longcat_think>``: start="reasoning".
"""

from __future__ import annotations

from ..idioms import PairLayout, PairMarks, Think, define, paired_values

MARKS = PairMarks(
    call=("<longcat_tool_call>", "</longcat_tool_call>"),
    key=("<longcat_arg_key>", "</longcat_arg_key>"),
    value=("<longcat_arg_value>", "</longcat_arg_value>"),
)
LINES = PairLayout.lines(lead="\n")

DIALECT = define(
    __doc__,
    name="longcat_lite",
    think=Think(("<longcat_think>",), ("</longcat_think>",), after="\n"),
    calls=paired_values(MARKS, LINES),
    stops=("</longcat_s>",),
    turns=("<longcat_assistant>", " ASSISTANT:"),
    models=("meituan-longcat/LongCat-Flash-Lite*", "meituan-longcat/LongCat-Flash-Thinking-*"),
    aliases=("longcat_flash_lite",),
    tokens=("<longcat_tool_call>", "<longcat_arg_key>"),
    signatures=(("<longcat_tool_call>", "</longcat_tool_call>", "<longcat_arg_key>"),),
    source="mlx-openai-server, longcat_flash_lite parser; outputs quoted in tests of several agents; not the template",
)
