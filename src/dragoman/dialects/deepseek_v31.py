r"""DeepSeek V3.1: calls between control tokens, name and JSON divided by one; V3.1, V3.1-Terminus, V3.2-Exp.

    <think>Two cities.</think>Let me look.<｜tool▁calls▁begin｜>\
    <｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris", "days": 2}<｜tool▁call▁end｜>\
    <｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>\
    <｜end▁of▁sentence｜>

The bars are U+FF5C and the low lines U+2581. Prompts end in ``<think>`` when thinking is on, start="reasoning", else
in ``</think>``. The section's own markers may be missing.
"""

from __future__ import annotations

from ..idioms import Think, define, headed_json

DIALECT = define(
    __doc__,
    name="deepseek_v31",
    think=Think.tight(),
    calls=headed_json(
        "<｜tool▁call▁begin｜>",
        "<｜tool▁sep｜>",
        "<｜tool▁call▁end｜>",
        sections=("<｜tool▁calls▁begin｜>",),
        section_ends=("<｜tool▁calls▁end｜>",),
    ),
    stops=("<｜end▁of▁sentence｜>",),
    prose=False,
    turns=("<｜Assistant｜>", "<｜tool▁output▁end｜>"),
    models=("deepseek-ai/DeepSeek-V3.1*", "deepseek-ai/DeepSeek-V3.2-Exp*"),
    aliases=("deepseekv31", "deepseek_v3_1"),
    shared=("deepseek_v3",),
    tokens=("<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁calls▁end｜>"),
    signatures=(("<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>"),),
    templates=("d9f5f351b276cf9e", "6f8f16ec9b6a262a", "e1f933a44a751fdf", "1fa552c28493be9a", "a15911cb55988f90"),
    source="chat template and tokenizer_config.json of DeepSeek-V3.1",
)
