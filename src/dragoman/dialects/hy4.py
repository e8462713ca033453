r"""Hunyuan 4: calls as pairs of key and raw value in a section, with suffixed markers; Hy4-preview.

    <think:6124c78e>Two cities.</think:6124c78e>Let me look.<tool_calls:6124c78e>\
    <tool_call:6124c78e>get_weather<arg_key:6124c78e>city</arg_key:6124c78e>\
    <arg_value:6124c78e>Paris</arg_value:6124c78e><arg_key:6124c78e>days</arg_key:6124c78e>\
    <arg_value:6124c78e>2</arg_value:6124c78e></tool_call:6124c78e>\
    <tool_call:6124c78e>get_weather<arg_key:6124c78e>city</arg_key:6124c78e>\
    <arg_value:6124c78e>Oslo</arg_value:6124c78e></tool_call:6124c78e></tool_calls:6124c78e><eos:6124c78e>

As hy3, but nothing divides the name from the first key, and another suffix is the usual one; variants are the others.
The compact layout is that of vLLM's structural tag; newlines between the markers are read too. The chat template was
not seen, so the stop marker is not verified.
"""

from __future__ import annotations

from ..idioms import PairLayout, PairMarks, suffixed_values

DIALECT = suffixed_values(
    __doc__,
    name="hy4",
    suffix="6124c78e",
    marks=PairMarks(section=("<tool_calls>", "</tool_calls>")),
    layout=PairLayout(),
    stops=("<eos:6124c78e>", "<｜hy_eos:6124c78e｜>"),
    turns=("<｜hy_Assistant:6124c78e｜>", "<｜hy_Assistant｜>"),
    models=("tencent/Hy4", "tencent/Hy4-*"),
    aliases=("hy_v4",),
    shared=("hunyuan",),
    signatures=(("<｜hy_", "tool_call"),),
    lacks=("tool_sep",),
    source="vLLM, tool_parsers/hy_v4_tool_parser.py and structural_tag_registry.py",
)
