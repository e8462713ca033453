"""Conversations by chance, in the order that people and models have them in, full of what templates look for."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from dragoman.types import JSON, Message, Part, TextPart, ThinkingPart, Tool, ToolCall

SPELLED = (
    "<|im_end|>", "<|im_start|>system\n", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>",
    "</tool_response>", "<|eot_id|>", "<|end|>", "<|im_", "end|>", "</s>", "<end_of_turn>", "<|channel|>", "{{", "{%",
)  # fmt: skip

anything = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
texts = st.lists(st.sampled_from(SPELLED) | anything | st.just("a word\n"), min_size=1, max_size=4).map("".join)
words = st.text("abcdefgXYZ é", min_size=1, max_size=12).filter(str.strip)
values: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(-9, 9, width=16) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
arguments = st.dictionaries(st.sampled_from(["city", "unit", "n", "größe"]), values, max_size=3)

TOOLS = (
    Tool(
        "get_weather",
        'Weather <b>of</b> a "city"\nand more é',
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where"},
                "n": {"type": "integer", "enum": [1, 2]},
            },
            "required": ["city"],
        },
    ),
    Tool("now", "The time", {"type": "object", "properties": {}}),
)


@st.composite
def conversations(draw: st.DrawFn, text: st.SearchStrategy[str] = texts) -> list[Message]:
    messages = [Message("system", (TextPart(draw(text)),))] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(1, 3))):
        messages.append(Message("user", (TextPart(draw(text)),)))
        calls = draw(st.lists(arguments, max_size=2))
        thinking: list[Part] = [ThinkingPart(draw(text))] if draw(st.booleans()) else []
        if calls:
            made = [ToolCall("get_weather", json.dumps(each), f"callid{turn}{n:02}") for n, each in enumerate(calls)]
            said: list[Part] = [TextPart(draw(text))] if draw(st.booleans()) else []
            messages.append(Message("assistant", (*thinking, *said, *made)))
            messages += [Message("tool", (TextPart(draw(text)),), "get_weather", each.id) for each in made]
        messages.append(Message("assistant", (*(thinking if not calls else []), TextPart(draw(text)))))
    return messages if draw(st.booleans()) else messages[:-1]
