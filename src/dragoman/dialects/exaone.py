"""EXAONE: compact JSON calls in <tool_call> tags; EXAONE 4.0, K-EXAONE.

    <think>
    Two cities.
    </think>

    Let me look.
    <tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}</tool_call>
    <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>[|endofturn|]

As Hermes without newlines inside the tags, and with a stop marker of its own; what Hermes reads is read. Prompts end in
``<think>`` and a newline when reasoning is on, start="reasoning", else in an empty thought. What divides calls from
text and from each other is not verified.
"""

from __future__ import annotations

from ..idioms import Think, define, tagged_json

DIALECT = define(
    __doc__,
    name="exaone",
    think=Think.tags(),
    calls=tagged_json(inside=""),
    stops=("[|endofturn|]",),
    turns=("[|assistant|]", "[|assistant|]\n"),
    models=("LGAI-EXAONE/EXAONE-4*", "LGAI-EXAONE/K-EXAONE-*"),
    tokens=("<tool_call>", "</tool_call>", "[|endofturn|]"),
    signatures=(("<tool_call>", "</tool_call>", "arguments", "[|endofturn|]"),),
    source="llama.cpp, src/llama-chat.cpp (turns); xgrammar's built-in structural tag for EXAONE (calls)",
)
