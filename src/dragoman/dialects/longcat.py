"""LongCat: JSON calls in <longcat_tool_call> tags; LongCat-Flash-Chat, and thoughts of LongCat-Flash-Thinking.

    <longcat_think>
    Two cities.
    </longcat_think>
    Let me look.
    <longcat_tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
    </longcat_tool_call><longcat_tool_call>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    </longcat_tool_call></longcat_s>

Layout inside and between the tags may be missing. LongCat-Flash-Chat has no thoughts; prompts of the thinking models
end in ``<longcat_think>``: start="reasoning".
"""

from __future__ import annotations

from ..idioms import Think, define, tagged_json

DIALECT = define(
    __doc__,
    name="longcat",
    think=Think(("<longcat_think>",), ("</longcat_think>",), after="\n"),
    calls=tagged_json("<longcat_tool_call>", "</longcat_tool_call>", between=""),
    stops=("</longcat_s>",),
    turns=(" ASSISTANT:", "<longcat_assistant>"),
    models=("meituan-longcat/LongCat-Flash-*",),
    source="model cards of LongCat-Flash-Chat and LongCat-Flash-Thinking-2601; vLLM, longcat_tool_parser.py",
)
