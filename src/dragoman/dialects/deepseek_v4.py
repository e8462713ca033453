"""DeepSeek V4: <｜DSML｜invoke> tags whose parameters say whether they are text or JSON; V4, V4-Flash.

    <think>Two cities.</think>Let me look.

    <｜DSML｜tool_calls>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>
    </｜DSML｜invoke>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜tool_calls><｜end▁of▁sentence｜>

A value is raw text where ``string="true"``, else JSON. Prompts end in ``<think>`` when thinking is on,
start="reasoning", else in ``</think>``. Blocks by another name, a parameter that says nothing of its kind, all
arguments in one, a JSON object instead of parameters, and ``<｜DSML｜invoke name="f"/>`` are read too.
"""

from __future__ import annotations

from ..idioms import Think, define, dsml

DIALECT = define(
    __doc__,
    name="deepseek_v4",
    think=Think.tight(),
    calls=dsml("tool_calls"),
    stops=("<｜end▁of▁sentence｜>",),
    prose=False,
    turns=("<｜Assistant｜>",),
    models=("deepseek-ai/DeepSeek-V4", "deepseek-ai/DeepSeek-V4-*"),
    aliases=("deepseekv4",),
    tokens=("｜DSML｜",),
    signatures=(("｜DSML｜", "tool_calls>"),),
    templates=("72aab17888574619", "a462a6e36d512951", "8b6f730567ea3e0a", "f8b442fab67e75b3"),
    source="chat template of DeepSeek-V4, in llama.cpp; its encoding_dsv4.py",
)
