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
    models=("Qwen/Qwen2.5-*", "Qwen/Qwen3-*", "Qwen/QwQ-*", "NousResearch/Hermes-*", "HuggingFaceTB/SmolLM3-*"),
    aliases=("hermes_json", "qwen", "qwen25", "qwen3"),
    source="chat templates of Qwen2.5-7B-Instruct, Qwen3-0.6B and Hermes-3; the Hermes Function Calling repository",
)
