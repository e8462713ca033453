"""MiniMax M1: one JSON call a line in <tool_calls> tags; MiniMax-M1-40k, MiniMax-M1-80k.

    <think>
    Two cities.
    </think>

    Let me look.
    <tool_calls>
    {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    </tool_calls><end_of_sentence>

Models also leave out the newlines or the closer. They draft calls inside thoughts, which vLLM drops: with
``Policy(calls_in_reasoning=False)`` those are text of the thought.
"""

from __future__ import annotations

from ..idioms import Think, define, tagged_json

DIALECT = define(
    __doc__,
    name="minimax_m1",
    think=Think.tags(),
    calls=tagged_json("<tool_calls>", "</tool_calls>", several=True),
    stops=("<end_of_sentence>",),
    turns=("<beginning_of_sentence>ai name=MiniMax AI\n",),
    models=("MiniMaxAI/MiniMax-M1-*",),
    signatures=(("<tool_calls>", "</tool_calls>", "<beginning_of_sentence>"),),
    templates=("e1790d8fbe1c587e",),
    source="vLLM, examples/tool_chat_template_minimax_m1.jinja and minimax_tool_parser.py",
)
