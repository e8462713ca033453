"""Qwen3-Coder: calls as XML-like tags with raw text inside; also Qwen 3.5 and later, Nemotron 3, Step 3.5.

    <think>
    Two cities.
    </think>

    Let me look.

    <tool_call>
    <function=get_weather>
    <parameter=city>
    Paris
    </parameter>
    <parameter=days>
    2
    </parameter>
    </function>
    </tool_call>
    <tool_call>
    <function=get_weather>
    <parameter=city>
    Oslo
    </parameter>
    </function>
    </tool_call><|im_end|>

A value is raw text, never escaped; exactly one newline behind its opener and one before its closer are layout.
The tool's schema says what it is: a string is kept as written, all else is JSON (or as Python prints it, which the
first template of Qwen3-Coder did). A value that holds ``</parameter>`` ends at the one that something legal
follows. Models also leave out ``<tool_call>``, or put several functions into one, or stop without
``</function>``. Prompts of Qwen 3.5 end in ``<think>``: start="reasoning".
"""

from __future__ import annotations

from ..idioms import Think, define, function_tags

DIALECT = define(
    __doc__,
    name="qwen3_coder",
    think=Think.tags(),
    calls=function_tags(),
    stops=("<|im_end|>", "<|endoftext|>"),
    turns=("<|im_start|>assistant\n",),
    models=(
        "Qwen/Qwen3-Coder-*",
        "Qwen/Qwen3.5-*",
        "Qwen/Qwen3.6-*",
        "Qwen/Qwen3.8-*",
        "nvidia/*Nemotron-3-*",
        "nvidia/*Nemotron-3.5-*",
        "stepfun-ai/Step-3.5-*",
        "stepfun-ai/Step-3.7-*",
        "Nanbeige/Nanbeige4*",
        "ibm-granite/granite-4.2-*",
        "openbmb/MiniCPM-V-4.6*",
        "openbmb/MiniCPM-V-4_6*",
        "nex-agi/Nex-N2*",
    ),
    aliases=(
        "qwen3_xml",
        "step3p5",
        "step5",
        "nanbeige",
        "nemotron_v3",
        "nemotron_3",
        "minicpmv",
        "granite_thinking_parser",
    ),
    tokens=("<tool_call>", "</tool_call>"),
    signatures=(("<tool_call>", "</tool_call>", "arguments", "<function=", "<parameter="),),
    templates=(
        "43a92aacc2e169bb",
        "eae48a3307931acb",
        "a4aee8afcf2e0711",
        "3a7cb642bf35cb41",
        "32bf2564d2245b98",
        "273d8e0e683b8850",
        "55d4931433fe502b",
        "e84f32a23fdda276",
        "c3cf9e34abf4f9e3",
        "40ce34a5bcbc0231",
    ),
    source="chat templates of Qwen3-Coder-30B-A3B-Instruct and Qwen3.5-4B",
)
