"""GigaChat 3: one call at the end, a JSON object behind a token; GigaChat 3 and 3.1.

    Let me look.<|function_call|>{"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}<|message_sep|>

GigaChat 3.0 writes the call as a message of a role of its own: ``<|message_sep|>`` and two newlines, ``function call``,
``<|role_sep|>`` and a newline, then the object. These newlines belong to the tokens. That is read too, also without its
separator; any other ``<|message_sep|>`` stops. There is one call at most. The models have no thoughts.
"""

from __future__ import annotations

from ..idioms import define, opened_json

DIALECT = define(
    __doc__,
    name="gigachat3",
    calls=opened_json(
        ("<|function_call|>",),
        ("<|message_sep|>", "function call", "<|role_sep|>"),
        ("function call<|role_sep|>",),
        marks=("<|role_sep|>",),
        most=1,
    ),
    stops=("<|message_sep|>", "</s>"),
    prose=False,
    turns=("assistant<|role_sep|>\n", "assistant<|role_sep|>"),
    models=("ai-sage/GigaChat3-*", "ai-sage/GigaChat3.1-*"),
    tokens=("<|role_sep|>", "<|message_sep|>"),
    signatures=(("<|role_sep|>", "<|message_sep|>", "function call"),),
    lacks=("GCML",),
    templates=("babc0a5d4bf606b0", "f2abadc22e4a0586"),
    source="chat template of GigaChat3-10B-A1.8B; vLLM, gigachat3_tool_parser.py (3.1)",
)
