"""GLM-4.5: calls as a name and pairs of key and raw value, a marker a line; GLM-4.5, 4.6 and their vision models.

    <think>Two cities.</think>
    Let me look.
    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Paris</arg_value>
    <arg_key>days</arg_key>
    <arg_value>2</arg_value>
    </tool_call>
    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Oslo</arg_value>
    </tool_call><|observation|>

A string stands as it is, all else as JSON: the tool's schema tells which. No newline belongs to a value. Read too:
other layout, no arguments, a value without ``<arg_value>`` (reported), doubled key markers, a missing
``</tool_call>``, and a JSON body behind the name or a JSON object in the tag, since no name begins with a brace. The
model begins with a newline, which is layout. With /nothink, the prompt holds an empty thought.
"""

from __future__ import annotations

from ..idioms import PairLayout, Think, define, paired_values

DIALECT = define(
    __doc__,
    name="glm45",
    think=Think(("<think>",), ("</think>",), lead="", tail="", after="\n"),
    calls=paired_values(layout=PairLayout.lines(lead="\n")),
    stops=("<|observation|>", "<|user|>", "<|endoftext|>"),
    turns=("<|assistant|>",),
    models=(
        "zai-org/GLM-4.5*",
        "zai-org/GLM-4.6*",
    ),
    aliases=("glm", "glm4_moe", "glm45_moe"),
    tokens=("<tool_call>", "</tool_call>", "<arg_key>", "<arg_value>"),
    signatures=(
        ("<tool_call>", "</tool_call>", "<arg_key>", "<arg_value>"),
        ("<tool_call>", "</tool_call>", "arguments", "<arg_key>", "<arg_value>"),
    ),
    templates=(
        "e6e2ddfb13f8aef5",
        "5285de9f0d715403",
        "4a61b68faee7b95a",
        "d20580d25443aebf",
        "d3ef6b3abc3dd05e",
    ),
    shared=("poolside_v1",),
    source="chat templates of GLM-4.5 and GLM-4.6 (llama.cpp, models/templates/GLM-4.6.jinja)",
)
