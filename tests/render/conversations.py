"""Conversations for renderers: made up by hypothesis, as dicts in OpenAI's shape, in the shapes that templates take."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.render.jinja_oracle import compiled

__all__ = ["TOOLS", "conversations", "hf_text", "tools", "words"]

WORDS = (
    "Paris", "the weather", "it's", "x = 1", "\n", "\n\n", " ", "  ", "é",
    "天気", "👩‍🚀", "a̐", "<b>", '"quoted"', "back\\slash",
    "{", "}", "1234567", "don't", "\t", "…", "Ω≈", "<", ">", "&amp;", "`code`",
)  # fmt: skip
MARKERS = (
    "<|im_end|>", "<|im_start|>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<|eot_id|>", "<|return|>",
    "<|channel|>", "<｜User｜>", "<｜end▁of▁sentence｜>", "[INST]", "[/INST]", "</s>", "<end_of_turn>", "<|user|>",
)  # fmt: skip

TOOLS: tuple[dict[str, Any], ...] = (
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "The weather of a city.",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string", "description": "Where"},
                    "days": {"type": "integer"},
                    "unit": {"type": "string", "enum": ["c", "f"]},
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "search",
            "description": "Find Ünïcode <things>.",
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
                "required": ["query"],
            },
        },
    },
)


PLAIN = st.text(st.characters(codec="utf-8", exclude_characters="<[/"), max_size=6)
"""Any text that begins no marker: hypothesis tries constants of the code under test too."""


def words(*, markers: bool = False, edges: bool = False, empty: bool = False) -> st.SearchStrategy[str]:
    """Text; with `markers` of several dialects in it, with blanks at its `edges`, or `empty`."""
    pool = st.sampled_from((*WORDS, *MARKERS)) | st.text(max_size=6) if markers else st.sampled_from(WORDS) | PLAIN
    text = st.lists(pool, min_size=0 if empty else 1, max_size=6).map("".join)
    text = text if edges else text.map(str.strip)
    return text if empty else text.filter(str.strip)


def tools() -> st.SearchStrategy[list[dict[str, Any]] | None]:
    """Declarations, or none."""
    return st.sampled_from([None, [TOOLS[0]], list(TOOLS)])


def arguments(text: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda city, days: {"city": city} | ({"days": days} if days else {}), text, st.integers(0, 3))


@st.composite
def conversations(
    draw: st.DrawFn,
    *,
    thinking: bool = True,
    calls: int = 2,
    system: bool = True,
    markers: bool = False,
    edges: bool = False,
    last: Sequence[str] = ("user", "assistant", "tool"),
    text_with_calls: bool = True,
    ids: bool = True,
    arguments_as: str = "object",
    turns: int = 3,
) -> list[dict[str, Any]]:
    """A conversation: turns of the user, each answered, perhaps after calls (up to `calls` at once) and their results.

    It ends in a message of one of the roles of `last`. Arguments are objects, or JSON ``text``.
    """
    text = words(markers=markers, edges=edges)
    made: list[dict[str, Any]] = [{"role": "system", "content": draw(text)}] if system and draw(st.booleans()) else []
    number = 0

    def said(**fields: Any) -> dict[str, Any]:
        thought = {"reasoning_content": draw(text)} if thinking and draw(st.booleans()) else {}
        return {"role": "assistant", **fields, **thought}

    for _ in range(draw(st.integers(1, turns))):
        made.append({"role": "user", "content": draw(text)})
        for _ in range(draw(st.integers(0, 2)) if calls else 0):
            several = []
            for _ in range(draw(st.integers(1, calls))):
                values = draw(arguments(text))
                function = {
                    "name": "get_weather",
                    "arguments": json.dumps(values) if arguments_as == "text" else values,
                }
                call: dict[str, Any] = {"type": "function", "function": function}
                several.append(call | ({"id": f"call{number:05d}"} if ids else {}))
                number += 1
            content = draw(text) if text_with_calls and draw(st.booleans()) else ""
            made.append(said(content=content, tool_calls=several))
            for call in several:
                answer = {"role": "tool", "content": draw(text), "name": call["function"]["name"]}
                made.append(answer | ({"tool_call_id": call["id"]} if ids else {}))
        made.append(said(content=draw(text)))
    ends = [k for k, message in enumerate(made) if message["role"] in last and _may_end(made, k)]
    return made[: draw(st.sampled_from(ends)) + 1]


def _may_end(made: Sequence[Mapping[str, Any]], k: int) -> bool:
    """Whether a conversation may end here: not among the results of several calls."""
    return made[k]["role"] != "tool" or k + 1 == len(made) or made[k + 1]["role"] != "tool"


def hf_text(
    template: str,
    messages: Sequence[Mapping[str, Any]],
    tools: Sequence[Mapping[str, Any]] | None = None,
    *,
    add_generation_prompt: bool = False,
    **kwargs: Any,
) -> str:
    """What a chat template writes in jinja2 as transformers sets it up: the oracle."""
    return compiled(template).render(
        messages=messages, tools=tools, documents=None, add_generation_prompt=add_generation_prompt, **kwargs
    )
