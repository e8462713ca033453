r"""Laguna S: calls as pairs of key and raw value, without layout; Poolside Laguna S-2.1.

    <think>Two cities.</think>Let me look.\
    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>\
    <arg_key>days</arg_key><arg_value>2</arg_value></tool_call>\
    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call></assistant>

As glm47, with another stop marker. Prompts end in ``<think>`` when thinking is on, start="reasoning", else in
``</think>``.
"""

from __future__ import annotations

from ..idioms import Think, define, paired_values

DIALECT = define(
    __doc__,
    name="laguna_s",
    think=Think.tight(),
    calls=paired_values(),
    stops=("</assistant>",),
    turns=("<assistant>",),
    models=("poolside/Laguna-S*",),
    signatures=(
        ("<tool_call>", "</tool_call>", "arguments", "<arg_key>", "<arg_value>", "</assistant>", '~ "</arg_key>" -}}'),
    ),
    templates=("444819b8ad461287",),
    source="chat template of Laguna-S-2.1 (llama.cpp, models/templates/poolside-Laguna-S-2.1.jinja)",
)
