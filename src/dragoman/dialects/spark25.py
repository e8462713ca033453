r"""Spark 2.5: calls as pairs of key and raw value, without layout; Spark-X2.5.

    <think>Two cities.</think>Let me look.\
    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>\
    <arg_key>days</arg_key><arg_value>2</arg_value></tool_call>\
    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call><｜end▁of▁sentence｜>

As glm47, with another stop marker (its bars are U+FF5C, its low lines U+2581). Prompts end in ``<think>`` when thinking
is on, start="reasoning", else in ``</think>``.
"""

from __future__ import annotations

from ..idioms import Think, define, paired_values

DIALECT = define(
    __doc__,
    name="spark25",
    think=Think.tight(),
    calls=paired_values(),
    stops=("<｜end▁of▁sentence｜>",),
    turns=("<｜start▁of▁sentence｜><|Bot|>",),
    models=("XHToken/Spark-X2.5-*",),
    source="chat template of Spark-X2.5 (llama.cpp, models/templates/Spark2.5.jinja); SGLang, spark25_detector.py",
)
