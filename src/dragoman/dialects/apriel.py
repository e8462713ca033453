r"""Apriel 1.5: an array of JSON calls in <tool_calls> tags, thoughts in <thinking> tags; Apriel-1.5-15b-Thinker.

    <thinking>Two cities.</thinking>
    Let me look.
    <tool_calls>[{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}}]</tool_calls><|end|>

Without tools the models write ``Here are my reasoning steps:``, the thought, ``[BEGIN FINAL RESPONSE]``, the answer,
and ``[END FINAL RESPONSE]``; all of that is read too. A call that has an id is written with it.
The newline that templates write before the stop marker is layout behind calls, and text behind text.
"""

from __future__ import annotations

from ..grammar.build import framed
from ..idioms import Answer, Think, define, json_array

STEPS = "Here are my reasoning steps:\n"

DIALECT = define(
    __doc__,
    name="apriel",
    think=Think(
        ("<thinking>", STEPS),
        ("</thinking>", *framed("[BEGIN FINAL RESPONSE]")),
        lead="",
        tail="",
        after="\n",
        words=(STEPS,),
    ),
    answer=Answer((), ("[END FINAL RESPONSE]",), tail="\n", written=False),
    calls=json_array("<tool_calls>", "</tool_calls>", lead="\n", id_last=True),
    stops=("<|end|>",),
    turns=("<|assistant|>\n",),
    models=("ServiceNow-AI/Apriel-1.5-*",),
    signatures=(
        ("<tool_calls>", "</tool_calls>", "[BEGIN FINAL RESPONSE]"),
        ("<tool_call>", "</tool_call>", "arguments", "<tool_calls>", "</tool_calls>", "[BEGIN FINAL RESPONSE]"),
    ),
    lacks=("Here are my reasoning steps:",),
    templates=("156dd2c74e961f05",),
    source="llama.cpp, models/templates/unsloth-Apriel-1.5.jinja; recorded outputs of Apriel-1.5-15b-Thinker",
)
