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
The tool's schema says what it is: a string is kept as written, all else is JSON (or Python's True, False, None,
which the template of Qwen3-Coder prints). A value that holds ``</parameter>`` ends at the one that something legal
follows. Models also leave out ``<tool_call>``, or put several functions into one, or stop without
``</function>``. Prompts of Qwen 3.5 end in ``<think>``: start="reasoning".
"""

from __future__ import annotations

from ..idioms import Sign, Tag, Think, define, tagged_values

DIALECT = define(
    __doc__,
    name="qwen3_coder",
    think=Think.tags(),
    calls=tagged_values(
        (("<tool_call>", "</tool_call>"),),
        Tag("<function=", (Sign(">"),), "</function>"),
        Tag("<parameter=", (Sign(">"),), "</parameter>"),
    ),
    stops=("<|im_end|>", "<|endoftext|>"),
    turns=("<|im_start|>assistant\n",),
    models=("Qwen/Qwen3-Coder-*", "Qwen/Qwen3.5-*", "Qwen/Qwen3.6-*", "nvidia/*Nemotron-3-*", "stepfun-ai/Step-3.5-*"),
    aliases=("qwen3_xml", "step3p5", "nanbeige"),
    source="chat templates of Qwen3-Coder-30B-A3B-Instruct and Qwen3.5-4B",
)
