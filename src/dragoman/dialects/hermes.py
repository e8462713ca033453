"""Hermes: JSON calls in <tool_call> tags; Qwen 2.5, Qwen 3, QwQ, Nous Hermes 2 and 3, SmolLM 3, Granite 4.

    <think>
    Two cities.
    </think>

    Let me look.
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
    </tool_call>
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    </tool_call><|im_end|>

Deviations that models really write are read too: no newlines around the JSON, ``parameters`` for ``arguments``,
arguments before the name or as a JSON string, several objects (or an array of them) in one tag, calls inside a
thought, a missing ``</tool_call>`` before the next one. Prompts of QwQ and Qwen3-Thinking end in ``<think>``:
start="reasoning".
"""

from __future__ import annotations

from ..idioms import Think, define, tagged_json

DIALECT = define(
    __doc__,
    name="hermes",
    think=Think.tags(),
    calls=tagged_json(),
    stops=("<|im_end|>", "<|endoftext|>", "<|end_of_text|>"),
    turns=("<|im_start|>assistant\n", "<|start_of_role|>assistant<|end_of_role|>"),
    models=(
        "Qwen/Qwen2.5-*",
        "Qwen/Qwen3-*",
        "Qwen/QwQ-*",
        "NousResearch/Hermes-*",
        "HuggingFaceTB/SmolLM3-*",
        "ibm-granite/granite-4.0-*",
        "ibm-granite/granite-4.1-*",
        "XiaomiMiMo/MiMo-7B-*",
        "XiaomiMiMo/MiMo-VL-*",
        "RekaAI/reka-edge*",
        "speakleash/Bielik-11B-v3*",
        "arcee-ai/Trinity-*",
        "miromind-ai/MiroThinker-*",
        "Kwaipilot/KAT-V1-*",
        "baichuan-inc/Baichuan-M2-*",
        "openbmb/MiniCPM-V-4_5*",
        "Hcompany/Holo2-*",
    ),
    aliases=(
        "hermes_json",
        "qwen",
        "qwen25",
        "qwen3",
        "qwen3_json",
        "qwen3_thinking",
        "granite4",
        "trinity",
    ),
    shared=("holo2",),
    tokens=("<tool_call>", "</tool_call>"),
    signatures=(("<tool_call>", "</tool_call>", "arguments"),),
    templates=(
        "65522d40ef68c2b4",
        "17f458fc73e2985b",
        "a30b8c4531dda191",
        "e7fa3f870aabfc1c",
        "94c6035b4f0eb905",
        "55b2f4a26ac9ee71",
        "87a2728cb8dc9fe4",
        "546b04dba74993ef",
        "9524df67b77a7b25",
        "fed2756d2d24e127",
        "4012f06a996cd86c",
        "40c21f34cf67d8c7",
        "3802169b2a02b81e",
        "9d879ef91075acbf",
        "84ed326ccec340f3",
    ),
    source="chat templates of Qwen2.5-7B-Instruct, Qwen3-0.6B and Hermes-3; the Hermes Function Calling repository",
)
