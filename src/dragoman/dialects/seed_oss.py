"""Seed-OSS: <function=name> tags with raw parameters, as Python prints values.

    <seed:think>Two cities.</seed:think>
    Let me look.

    <seed:tool_call>
    <function=get_weather>
    <parameter=city>Paris</parameter>
    <parameter=days>2</parameter>
    </function>
    </seed:tool_call>
    <seed:tool_call>
    <function=get_weather>
    <parameter=city>Oslo</parameter>
    </function>
    </seed:tool_call><seed:eos>

A string is kept as written; all else is what Python's ``str()`` gives, or JSON. Inside a thought the model reflects on
its budget between ``<seed:cot_budget_reflect>`` and its closer: those two are markup, what stands between is thought.
"""

from __future__ import annotations

from ..grammar.notation import PYTHON
from ..idioms import Sign, Tag, Think, define, python_text, tagged_values

DIALECT = define(
    __doc__,
    name="seed_oss",
    think=Think(
        ("<seed:think>",),
        ("</seed:think>",),
        lead="",
        tail="",
        after="\n",
        inner=("<seed:cot_budget_reflect>", "</seed:cot_budget_reflect>"),
    ),
    calls=tagged_values(
        (("<seed:tool_call>", "</seed:tool_call>"),),
        Tag("<function=", (Sign(">"),), "</function>"),
        Tag("<parameter=", (Sign(">"),), "</parameter>", lead="", tail="", notation=PYTHON),
        lead="\n\n",
        text_of=python_text,
    ),
    stops=("<seed:eos>",),
    turns=("<seed:bos>assistant\n",),
    models=("ByteDance-Seed/Seed-OSS-*",),
    tokens=("<seed:tool_call>", "<seed:think>"),
    signatures=(("<seed:tool_call>", "<function=", "<parameter="),),
    templates=("3f9e0dc4adeb8032",),
    source="chat template of Seed-OSS-36B-Instruct",
)
