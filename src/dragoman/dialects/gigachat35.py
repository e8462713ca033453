"""GigaChat 3.5: <｜GCML｜invoke> tags whose parameters say whether they are text or JSON.

    <think>Two cities.</think>

    Let me look.

    <｜GCML｜tool_calls>
    <｜GCML｜invoke name="get_weather">
    <｜GCML｜parameter name="city" string="true">Paris</｜GCML｜parameter>
    <｜GCML｜parameter name="days" string="false">2</｜GCML｜parameter>
    </｜GCML｜invoke>
    <｜GCML｜invoke name="get_weather">
    <｜GCML｜parameter name="city" string="true">Oslo</｜GCML｜parameter>
    </｜GCML｜invoke>
    </｜GCML｜tool_calls><|message_sep|>

As DeepSeek's DSML, by another name. Its separators are tokens with newlines in them. Prompts end in ``<think>`` when
reasoning is on: start="reasoning".
"""

from __future__ import annotations

from ..idioms import Think, define, dsml

DIALECT = define(
    __doc__,
    name="gigachat35",
    think=Think(("<think>",), ("</think>",), lead="", tail=""),
    calls=dsml(token="｜GCML｜", led=False),
    stops=("<|message_sep|>", "</s>"),
    prose=False,
    turns=("assistant<|role_sep|>\n",),
    models=("ai-sage/GigaChat3.5-*",),
    tokens=("｜GCML｜",),
    signatures=(("GCML", "tool_calls>"),),
    source="chat template of GigaChat3.5-432B-A28B, in llama.cpp",
)
