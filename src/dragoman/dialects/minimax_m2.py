"""MiniMax M2: calls as <invoke> tags with raw parameters in one block; M2, M2.1, M2.5, M2.7.

    <think>
    Two cities.
    </think>

    Let me look.
    <minimax:tool_call>
    <invoke name="get_weather">
    <parameter name="city">Paris</parameter>
    <parameter name="days">2</parameter>
    </invoke>
    <invoke name="get_weather">
    <parameter name="city">Oslo</parameter>
    </invoke>
    </minimax:tool_call>[e~[

A value stands right between its tags, raw, typed by the tool's schema; what is no string is JSON. Names may stand in
single quotes or in none. Prompts end in ``<think>`` and a newline: start="reasoning". Engines that are told to "append
think" give the same output as content: here it stays a thought.
"""

from __future__ import annotations

from ..idioms import Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="minimax_m2",
    think=Think.tags(),
    calls=tagged_values(
        (("<minimax:tool_call>", "</minimax:tool_call>"),),
        Tag.named("invoke"),
        Tag.named("parameter", lead="", tail=""),
        several=True,
    ),
    stops=("[e~[",),
    turns=("]~b]ai\n",),
    models=("MiniMaxAI/MiniMax-M2", "MiniMaxAI/MiniMax-M2.*"),
    aliases=("minimax", "minimax_append_think", "minimax_m2_append_think"),
    tokens=("<minimax:tool_call>", "</minimax:tool_call>"),
    signatures=(("<minimax:tool_call>", "</minimax:tool_call>"),),
    templates=("97007d4886db8e06", "77f97353811076d9", "4c4f6bb96e3957e6"),
    source="chat template of MiniMax-M2; SGLang, minimax_m2.py",
)
