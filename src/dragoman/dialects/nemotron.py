r"""Nemotron: an array of JSON calls in <TOOLCALL> tags; Nemotron Nano v2, Llama-3.3-Nemotron-Super-49B-v1.5.

    <think>
    Two cities.
    </think>

    Let me look.
    <TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}, \
    {"name": "get_weather", "arguments": {"city": "Oslo"}}]</TOOLCALL><SPECIAL_12>

Prompts end in ``<think>``, start="reasoning", or in an empty thought where thinking is off. The Llama-based models stop
with ``<|eot_id|>``. The newline that the template writes before the stop marker is layout behind calls, and text
behind text. Nemotron 3 writes what qwen3_coder reads.
"""

from __future__ import annotations

from ..idioms import Think, define, json_array

DIALECT = define(
    __doc__,
    name="nemotron",
    think=Think.tags(),
    calls=json_array("<TOOLCALL>", "</TOOLCALL>", lead="\n"),
    stops=("<SPECIAL_12>", "<|eot_id|>"),
    turns=("<SPECIAL_11>Assistant\n",),
    models=(
        "nvidia/*Nemotron-Nano-9B-v2*",
        "nvidia/*Nemotron-Nano-12B-v2*",
        "nvidia/Llama-3_3-Nemotron-Super-49B-v1*",
        "nvidia/Llama-3_1-Nemotron-Ultra-253B-v1*",
    ),
    aliases=("nemotron_deci", "nemotron_nano", "nemotron_nano_v2"),
    signatures=(("<TOOLCALL>", "</TOOLCALL>"),),
    templates=("52ae8e50fa083e63",),
    source="llama.cpp, models/templates/NVIDIA-Nemotron-Nano-v2.jinja",
)
