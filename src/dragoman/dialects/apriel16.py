r"""Apriel 1.6: an array of JSON calls in <tool_calls> tags, answers behind a marker; Apriel-1.6-15b-Thinker.

    Here are my reasoning steps:
    Two cities.
    [BEGIN FINAL RESPONSE]
    Let me look.
    <tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}}]</tool_calls><|end|>

Prompts end in ``Here are my reasoning steps:``, so start="reasoning"; only where a prompt does not is that line the
model's. A call that has an id is written with it.
The newline that templates write before the stop marker is layout behind calls, and text behind text.
"""

from __future__ import annotations

from ..idioms import Answer, Think, define, json_array

STEPS = "Here are my reasoning steps:"

DIALECT = define(
    __doc__,
    name="apriel16",
    think=Think((STEPS,), ("[BEGIN FINAL RESPONSE]",), after="\n", words=(STEPS,)),
    answer=Answer((), ("[END FINAL RESPONSE]",), tail="\n", written=False),
    calls=json_array("<tool_calls>", "</tool_calls>", lead="\n", id_last=True),
    stops=("<|end|>",),
    turns=("<|begin_assistant|>\n",),
    models=("ServiceNow-AI/Apriel-1.6-*",),
    signatures=(("<tool_calls>", "</tool_calls>", "[BEGIN FINAL RESPONSE]", "Here are my reasoning steps:"),),
    templates=("58f2891b731d7ed3",),
    source="llama.cpp, models/templates/Apriel-1.6-15b-Thinker-fixed.jinja",
)
