r"""Hunyuan A13B: an array of JSON calls in <tool_calls> tags, answers in <answer> tags; Hunyuan-A13B-Instruct.

    <think>
    Two cities.
    </think>
    <answer>
    Let me look.
    </answer><tool_calls>\
    [{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}}]</tool_calls><|eos|>

The calls may also stand inside the answer. Its tags count only at the edges of a block, so that they can be talked
about. With tools, the template begins an answer with a label, U+52A9 U+624B U+FF1A, which is layout there too. Where
thinking is off, the prompt ends in an empty thought.
"""

from __future__ import annotations

from ..idioms import Answer, Think, define, json_array

DIALECT = define(
    __doc__,
    name="hunyuan",
    think=Think(("<think>",), ("</think>",), after="\n"),
    answer=Answer(("<answer>", "助手："), ("</answer>",), "\n", "\n"),
    calls=json_array("<tool_calls>", "</tool_calls>"),
    stops=("<|eos|>",),
    turns=("<|extra_0|>",),
    models=("tencent/Hunyuan-A13B-*",),
    aliases=("hunyuan_a13b",),
    signatures=(("<tool_calls>", "</tool_calls>", "<|extra_0|>"),),
    templates=("c9635ab946bc8f88",),
    source="vLLM, examples/tool_chat_template_hunyuan_a13b.jinja and hunyuan_a13b_reasoning_parser.py",
)
