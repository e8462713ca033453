r"""K2 Horizon: calls as pairs of key and raw value in a section, perhaps with their types; IFM's K2 Horizon.

    <ifm|think>
    Two cities.
    </ifm|think>
    Let me look.<ifm|tool_calls>
    <ifm|tool_call>get_weather
    <ifm|arg_key>city</ifm|arg_key>
    <ifm|arg_value>Paris</ifm|arg_value>
    <ifm|arg_key>days</ifm|arg_key>
    <ifm|arg_value>2</ifm|arg_value>
    </ifm|tool_call>
    <ifm|tool_call>get_weather
    <ifm|arg_key>city</ifm|arg_key>
    <ifm|arg_value>Oslo</ifm|arg_value>
    </ifm|tool_call>
    </ifm|tool_calls><|ifm|im_end|>

The template has three formats; this is its default, and the others are read: with ``<ifm|arg_type>`` before a value,
which then says its type (``any`` leaves it to the schema), and a JSON object in each call. The effort of thinking names
the thought: ``<ifm|think_fast>`` and ``<ifm|think_faster>`` are read too. Prompts always open one: start="reasoning".
Values are as in glm45. The template itself was not seen, but renderers made after it.
"""

from __future__ import annotations

from ..idioms import PairLayout, PairMarks, Think, define, paired_values

DIALECT = define(
    __doc__,
    name="k2_horizon",
    think=Think(
        ("<ifm|think>", "<ifm|think_fast>", "<ifm|think_faster>"),
        ("</ifm|think>", "</ifm|think_fast>", "</ifm|think_faster>"),
        after="\n",
    ),
    calls=paired_values(
        PairMarks(
            call=("<ifm|tool_call>", "</ifm|tool_call>"),
            key=("<ifm|arg_key>", "</ifm|arg_key>"),
            value=("<ifm|arg_value>", "</ifm|arg_value>"),
            section=("<ifm|tool_calls>", "</ifm|tool_calls>"),
            kind=("<ifm|arg_type>", "</ifm|arg_type>"),
        ),
        PairLayout.lines(),
    ),
    stops=("<|ifm|im_end|>",),
    turns=("<|ifm|im_start|>assistant\n",),
    models=("LLM360/K2-Horizon*", "LLM360/K2-V3*"),
    aliases=("k2_v3",),
    tokens=("<ifm|tool_calls>", "<ifm|tool_call>"),
    signatures=(("<ifm|tool_calls>", "<ifm|tool_call>"),),
    source="vLLM, k2_horizon_tool_parser.py; SGLang, k2_v3_detector.py and its tests",
)
