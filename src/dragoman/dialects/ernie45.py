"""ERNIE 4.5: JSON calls in <tool_call> tags, answers in <response> tags; ERNIE-4.5 Thinking, text and VL.

    <think>
    Two cities.
    </think>


    <response>
    Let me look.
    </response>


    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
    </tool_call>
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    </tool_call></s>

Answers also come without their tags, and with fewer newlines. A response tag counts only at the edges of a block, so
that it can be talked about. Prompts end in ``<think>``: start="reasoning". The stop marker is that of the tokenizer,
not verified.
"""

from __future__ import annotations

from ..idioms import Answer, Think, define, tagged_json

DIALECT = define(
    __doc__,
    name="ernie45",
    think=Think(("<think>",), ("</think>",), after="\n\n\n"),
    answer=Answer(("<response>",), ("</response>",), "\n", "\n", "\n"),
    calls=tagged_json(apart="\n\n"),
    stops=("</s>", "<|im_end|>"),
    turns=("<|im_start|>assistant\n",),
    models=("baidu/ERNIE-4.5-21B-A3B-Thinking", "baidu/ERNIE-4.5-VL-*"),
    source="vLLM, ernie45_tool_parser.py, ernie45_reasoning_parser.py and pull requests 25027, 52841; no template seen",
)
