"""DeepSeek V4.1: <｜DSML｜ invoke> tags whose parameters say whether they are text or JSON; V4.1.

    <think>Two cities.</think>Let me look.

    <｜DSML｜ calls>
    <｜DSML｜ invoke name="get_weather">
    <｜DSML｜ parameter name="city" string="true">Paris</｜DSML｜ parameter>
    <｜DSML｜ parameter name="days" string="false">2</｜DSML｜ parameter>
    </｜DSML｜ invoke>
    <｜DSML｜ invoke name="get_weather">
    <｜DSML｜ parameter name="city" string="true">Oslo</｜DSML｜ parameter>
    </｜DSML｜ invoke>
    </｜DSML｜ calls><｜end▁of▁sentence｜>

Tags have a blank behind the token. A value is raw text where ``string="true"``, else JSON. Prompts end in
``<think>`` when thinking is on, start="reasoning", else in ``</think>``. Blocks by another name, a parameter that says
nothing of its kind, all arguments in one, a JSON object instead of parameters, and tags closed at once are read too.
"""

from __future__ import annotations

from ..idioms import Think, define, dsml

DIALECT = define(
    __doc__,
    name="deepseek_v41",
    think=Think.tight(),
    calls=dsml("calls", blank=" "),
    stops=("<｜end▁of▁sentence｜>",),
    prose=False,
    turns=("<｜Assistant｜>",),
    models=("deepseek-ai/DeepSeek-V4.1*",),
    aliases=("deepseekv41", "deepseek_v4_1"),
    tokens=("｜DSML｜",),
    signatures=(("｜DSML｜", " calls>"),),
    source="encoder of DeepSeek-V4.1, as vLLM has it in deepseek_v41_encoding.py",
)
