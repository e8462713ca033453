"""DeepSeek R1: thoughts, and calls whose JSON stands in a Markdown fence; R1, R1-0528, V3-0324.

    <think>
    Two cities.
    </think>

    Let me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
    ```json
    {"city": "Paris", "days": 2}
    ```<｜tool▁call▁end｜>
    <｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
    ```json
    {"city": "Oslo"}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>

The fence may be missing, and so may the section's own markers. Prompts of R1 end in ``<think>`` and a newline:
start="reasoning". The distilled models write no calls.
"""

from __future__ import annotations

from ..idioms import Think, define, headed_json

DIALECT = define(
    __doc__,
    name="deepseek_r1",
    think=Think.tags(),
    calls=headed_json(
        "<｜tool▁call▁begin｜>",
        "",
        "<｜tool▁call▁end｜>",
        prefix="function<｜tool▁sep｜>",
        sections=("<｜tool▁calls▁begin｜>",),
        section_ends=("<｜tool▁calls▁end｜>",),
        between="\n",
        fenced=True,
    ),
    stops=("<｜end▁of▁sentence｜>",),
    prose=False,
    turns=("<｜Assistant｜>", "<｜tool▁outputs▁end｜>"),
    models=(
        "deepseek-ai/DeepSeek-R1*",
        "deepseek-ai/DeepSeek-V3",
        "deepseek-ai/DeepSeek-V3-*",
        "deepseek-ai/DeepSeek-V2.5*",
        "deepseek-ai/DeepSeek-Prover-V2-*",
        "Skywork/Skywork-OR1-*",
    ),
    aliases=("deepseek_v3", "deepseekv3"),
    tokens=("<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁calls▁end｜>"),
    signatures=(("<｜tool▁calls▁begin｜>", "<｜tool▁sep｜>", "```json"),),
    templates=(
        "4ba8eebe92cc412b",
        "fe055ac311d9124c",
        "dd2675619a64a449",
        "bbe594884b44d740",
        "e0d5e227f0aedba8",
        "6e1898e53614e747",
        "66443edff630de79",
        "56a1447ad31926fd",
        "05549dad28b85aa1",
        "22e97ba043dacf9d",
        "197ecb0f6315af91",
    ),
    source="chat template and tokenizer_config.json of DeepSeek-R1-0528",
)
