r"""Hunyuan 3: calls as pairs of key and raw value in a section, with suffixed markers; Hy3, Hy3-preview.

    <think:opensource>Two cities.</think:opensource>Let me look.<tool_calls:opensource>
    <tool_call:opensource>get_weather<tool_sep:opensource>
    <arg_key:opensource>city</arg_key:opensource>
    <arg_value:opensource>Paris</arg_value:opensource>
    <arg_key:opensource>days</arg_key:opensource>
    <arg_value:opensource>2</arg_value:opensource>
    </tool_call:opensource>
    <tool_call:opensource>get_weather<tool_sep:opensource>
    <arg_key:opensource>city</arg_key:opensource>
    <arg_value:opensource>Oslo</arg_value:opensource>
    </tool_call:opensource>
    </tool_calls:opensource><｜hy_eos:opensource｜>

The suffix belongs to the checkpoint: the tokenizer's vocabulary tells it. Others are variants: ``hy3:6124c78e``, and
``hy3:`` for the markers without any that Hy3-preview writes. Values are as in glm45. The section's markers and
``<tool_sep>`` may be missing; JSON behind the name is read too, as quantised models write it. Prompts end in
``<think>``, start="reasoning", or with thinking off in an empty thought.
"""

from __future__ import annotations

from ..idioms import PairLayout, PairMarks, suffixed_values

DIALECT = suffixed_values(
    __doc__,
    name="hy3",
    suffix="opensource",
    marks=PairMarks(section=("<tool_calls>", "</tool_calls>"), separator="<tool_sep>"),
    layout=PairLayout.lines(),
    stops=("<｜hy_eos:opensource｜>", "<eos:6124c78e>"),
    turns=("<｜hy_Assistant:opensource｜>", "<｜hy_Assistant｜>"),
    models=("tencent/Hy3", "tencent/Hy3-*"),
    aliases=("hy_v3",),
    shared=("hunyuan",),
    signatures=(("<｜hy_", "tool_sep"), ("<｜hy_", "<tool_sep")),
    templates=("84437b9746423f04",),
    source="chat template of Hy3 (llama.cpp, models/templates/tencent-Hy3.jinja); vLLM, hy_v3_tool_parser.py",
)
