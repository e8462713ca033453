r"""MiMo V2: calls as Qwen3-Coder writes them, but without a newline around values, blocks and thoughts.

    <think>Two cities.</think>Let me look.<tool_call>
    <function=get_weather>
    <parameter=city>Paris</parameter>
    <parameter=days>2</parameter>
    </function>
    </tool_call><tool_call>
    <function=get_weather>
    <parameter=city>Oslo</parameter>
    </function>
    </tool_call><|im_end|>

All between the tags is the value, newlines and spaces too. Objects and arrays are JSON; the template prints Python's
``True`` and ``None``, which is read. With thinking on, prompts end in ``<think>`` or leave it to the model; with
thinking off, they end in ``<think></think>``.
"""

from __future__ import annotations

from ..idioms import Sign, Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="mimo",
    think=Think.tight(),
    calls=tagged_values(
        (("<tool_call>", "</tool_call>"),),
        Tag("<function=", (Sign(">"),), "</function>"),
        Tag("<parameter=", (Sign(">"),), "</parameter>", lead="", tail=""),
        lead="",
    ),
    stops=("<|im_end|>", "<|endoftext|>"),
    turns=("<|im_start|>assistant\n",),
    models=("XiaomiMiMo/MiMo-V2*",),
    source="chat template of MiMo-V2.5; vLLM, parser/mimo.py; SGLang, mimo_detector.py",
)
