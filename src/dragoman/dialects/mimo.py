"""MiMo V2: calls as Qwen3-Coder writes them, but values stand right between their tags.

    <think>
    Two cities.
    </think>

    Let me look.
    <tool_call>
    <function=get_weather>
    <parameter=city>Paris</parameter>
    <parameter=days>2</parameter>
    </function>
    </tool_call>
    <tool_call>
    <function=get_weather>
    <parameter=city>Oslo</parameter>
    </function>
    </tool_call><|im_end|>

No newline of a value is layout. Thinking off is ``<think></think>`` in the prompt.
"""

from __future__ import annotations

from ..idioms import Sign, Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="mimo",
    think=Think.tags(),
    calls=tagged_values(
        (("<tool_call>", "</tool_call>"),),
        Tag("<function=", (Sign(">"),), "</function>"),
        Tag("<parameter=", (Sign(">"),), "</parameter>", lead="", tail=""),
    ),
    stops=("<|im_end|>", "<|endoftext|>"),
    turns=("<|im_start|>assistant\n",),
    models=("XiaomiMiMo/MiMo-V2*",),
    source="vLLM, vllm/parser/mimo.py; SGLang, mimo_detector.py",
)
