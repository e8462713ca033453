"""DeepSeek V3.2: <｜DSML｜invoke> tags whose parameters say whether they are text or JSON; V3.2, V3.2-Speciale.

    <think>Two cities.</think>Let me look.

    <｜DSML｜function_calls>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Paris</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">2</｜DSML｜parameter>
    </｜DSML｜invoke>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜function_calls><｜end▁of▁sentence｜>

A value is raw text where ``string="true"``, else JSON. Prompts end in ``<think>`` when thinking is on,
start="reasoning", else in ``</think>``. Blocks by another name, a parameter that says nothing of its kind, all
arguments in one, a JSON object instead of parameters, and ``<｜DSML｜invoke name="f"/>`` are read too.
"""

from __future__ import annotations

from ..idioms import Think, define, dsml

DIALECT = define(
    __doc__,
    name="deepseek_v32",
    think=Think.tight(),
    calls=dsml("function_calls"),
    stops=("<｜end▁of▁sentence｜>",),
    prose=False,
    turns=("<｜Assistant｜>", "</function_results>\n\n"),
    models=("deepseek-ai/DeepSeek-V3.2", "deepseek-ai/DeepSeek-V3.2-Speciale", "deepseek-ai/DeepSeek-V3.2-*"),
    aliases=("deepseekv32", "deepseek_v3_2", "dsml"),
    tokens=("｜DSML｜",),
    signatures=(("｜DSML｜", "function_calls>"),),
    templates=("53b9683b3653cec3",),
    source="encoding_dsv32.py of DeepSeek-V3.2; its chat template in llama.cpp",
)
