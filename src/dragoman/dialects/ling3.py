r"""Ling 3: calls as pairs of key and raw value, with a newline behind name and key; Ling-3.0, Ring-2.6.

    <think>Two cities.</think>Let me look.
    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value><arg_key>days</arg_key>
    <arg_value>2</arg_value>
    </tool_call>
    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Oslo</arg_value>
    </tool_call><|role_end|>

As glm45 in all else; what the prompt shows to the model has a newline between the pairs, and both are read. Prompts
end in ``<think>`` when thinking is on, start="reasoning", else in an empty thought.
"""

from __future__ import annotations

from ..idioms import PairLayout, Think, define, paired_values

DIALECT = define(
    __doc__,
    name="ling3",
    think=Think.tight(),
    calls=paired_values(layout=PairLayout(lead="\n", named="\n", keyed="\n", closing="\n", between="\n")),
    stops=("<|role_end|>",),
    turns=("<role>ASSISTANT</role>",),
    models=("inclusionAI/Ling-3.0-*", "inclusionAI/Ring-2.6-*"),
    signatures=(("<tool_call>", "</tool_call>", "arguments", "<arg_key>", "<arg_value>", "<|role_end|>"),),
    templates=("b4ab3a1c8f748e6f",),
    source="chat template of Ling-3.0-flash (llama.cpp, models/templates); SGLang, ling3_detector.py",
)
