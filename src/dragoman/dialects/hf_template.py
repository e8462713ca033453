r"""Response template: whatever Hugging Face's declaration of that name says; here one like SmolLM3's, as an example.

    <think>Two cities.</think>Let me look.\
    <tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}</tool_call>\
    <tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call><|im_end|>

`dragoman.response_template` makes a dialect of the declaration in a tokenizer's configuration; this is what comes of
the one below. Up to two newlines at the edges of a text are layout.
"""

from __future__ import annotations

from ..idioms import drawn, sample
from ..response_template import response_template

DECLARATION = {
    "version": 1,
    "start_anchor": "<|im_start|>assistant\n",
    "defaults": {"role": "assistant"},
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close": "<|im_end|>"},
    },
}

DIALECT = response_template(
    DECLARATION, doc=__doc__, aliases=("hf", "response_template"), examples=drawn(__doc__, sample())
)
