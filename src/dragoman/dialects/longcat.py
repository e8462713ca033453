"""LongCat: JSON calls in <longcat_tool_call> tags; LongCat-Flash-Chat and -Thinking of 2025.

    <longcat_think>
    Two cities.
    </longcat_think>
    Let me look.
    <longcat_tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
    </longcat_tool_call><longcat_tool_call>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    </longcat_tool_call></longcat_s>

Layout inside and between the tags may be missing, and the pairs of longcat_lite are read too. LongCat-Flash-Chat has no
thoughts; prompts of the thinking models end in ``<longcat_think>``: start="reasoning".
"""

from __future__ import annotations

from ..idioms import Think, also, define, paired_values, tagged_json
from .longcat_lite import LINES, MARKS

DIALECT = define(
    __doc__,
    name="longcat",
    think=Think(("<longcat_think>",), ("</longcat_think>",), after="\n"),
    calls=also(tagged_json(*MARKS.call, between=""), paired_values(MARKS, LINES)),
    stops=("</longcat_s>",),
    turns=(" ASSISTANT:", "<longcat_assistant>"),
    models=("meituan-longcat/LongCat-Flash-Chat*", "meituan-longcat/LongCat-Flash-Thinking"),
    source="model cards of LongCat-Flash-Chat and LongCat-Flash-Prover; vLLM, longcat_tool_parser.py",
    tokens=("<longcat_tool_call>", "</longcat_tool_call>"),
    signatures=(("<longcat_tool_call>", "</longcat_tool_call>"),),
)
