r"""Apertus: an array of objects with one key each, the tool's name; Apertus 8B and 70B Instruct of 2509.

    <|inner_prefix|>Two cities.<|inner_suffix|>Let me look.<|tools_prefix|>\
    [{"get_weather": {"city": "Paris", "days": 2}}, {"get_weather": {"city": "Oslo"}}]<|tools_suffix|><|assistant_end|>

The models deliberate on through their calls: a call stands inside the thought, the tools' results are put behind it
in the same turn as a plain array, and the thought goes on, start="reasoning". Objects as other families write them,
``{"name": "N", "arguments": {}}``, are read too.
"""

from __future__ import annotations

from ..idioms import Think, define, keyed_array

DIALECT = define(
    __doc__,
    name="apertus",
    think=Think.tight("<|inner_prefix|>", "<|inner_suffix|>"),
    calls=keyed_array("<|tools_prefix|>", "<|tools_suffix|>"),
    stops=("<|assistant_end|>",),
    prose=False,
    turns=("<|assistant_start|>",),
    models=("swiss-ai/Apertus-*",),
    aliases=("apertus2509",),
    tokens=("<|tools_prefix|>", "<|tools_suffix|>", "<|inner_prefix|>"),
    signatures=(("<|tools_prefix|>", "<|inner_prefix|>"),),
    templates=("dea688e9f24a339a", "ae354cfceb686cdb"),
    source="chat template of Apertus-8B-Instruct-2509",
)
