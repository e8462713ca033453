r"""IQuest Q1: calls as pairs of key and raw value in tags of its own, without layout; IQuest-Q1.

    <think>Two cities.</think>Let me look.\
    <iquest_tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>\
    <arg_key>days</arg_key><arg_value>2</arg_value></iquest_tool_call>\
    <iquest_tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value></iquest_tool_call><|iquest_end|>

As glm47, with other markers around a call. Prompts end in ``<think>`` when thinking is on, start="reasoning", else in
an empty thought. The chat template was not seen: the layout is that of engines that render it.
"""

from __future__ import annotations

from ..idioms import PairMarks, Think, define, paired_values

DIALECT = define(
    __doc__,
    name="iquest_q1",
    think=Think.tight(),
    calls=paired_values(PairMarks(call=("<iquest_tool_call>", "</iquest_tool_call>"))),
    stops=("<|iquest_end|>",),
    turns=("<|iquest_assistant|>",),
    models=("IQuestLab/IQuest-Q1*",),
    tokens=("<iquest_tool_call>", "</iquest_tool_call>"),
    signatures=(("<iquest_tool_call>", "</iquest_tool_call>"),),
    source="SGLang, function_call/iquest_q1_detector.py and its tests",
)
