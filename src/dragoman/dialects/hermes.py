"""Hermes: JSON calls in <tool_call> tags; Qwen 2.5, Qwen 3, QwQ, Nous Hermes 2 and 3.

    <think>
    They want the weather.
    </think>

    Let me look.
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris"}}
    </tool_call><|im_end|>

Deviations that models really write are read too: no newlines around the JSON, ``parameters`` for ``arguments``,
arguments before the name or as a JSON string, several objects (or an array of them) in one tag, calls inside a
thought, a missing ``</tool_call>`` before the next one. Prompts of QwQ and Qwen3-Thinking end in ``<think>``:
start="reasoning".
"""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps

from ..dialect import Dialect, Example
from ..idioms import tagged_json, write
from ..types import Message, TextPart, ThinkingPart, ToolCall

THINK, THOUGHT, CALL, CALLED = "<think>", "</think>", "<tool_call>", "</tool_call>"
STOPS = ("<|im_end|>", "<|endoftext|>", "<|end_of_text|>")


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    blocks = (f'{CALL}\n{{"name": {dumps(c.name)}, "arguments": {c.arguments}}}\n{CALLED}' for c in calls)
    return ("\n" if after_text else "") + "\n".join(blocks) + ("\n" if more else "")


def _write(message: Message) -> str:
    return write(
        "hermes",
        message,
        marks=(THINK, THOUGHT, CALL, CALLED, *STOPS),
        thinking=lambda text: f"{THINK}\n{text}\n{THOUGHT}\n\n",
        calls=_write_calls,
    )


DIALECT = Dialect(
    name="hermes",
    title="JSON calls in <tool_call> tags, thoughts in <think>",
    grammar=tagged_json((THINK, THOUGHT), (CALL, CALLED), STOPS),
    writer=_write,
    models=("Qwen/Qwen2.5-*", "Qwen/Qwen3-*", "Qwen/QwQ-*", "NousResearch/Hermes-*", "HuggingFaceTB/SmolLM3-*"),
    marks=(CALL, THINK),
    stops=STOPS,
    turns=("<|im_start|>assistant\n", "<|start_of_role|>assistant<|end_of_role|>"),
    aliases=("hermes_json", "qwen", "qwen25", "qwen3"),
    source="chat templates of Qwen2.5-7B-Instruct, Qwen3-0.6B and Hermes-3; the Hermes Function Calling repository",
    examples=(
        Example(
            "a thought, a sentence and two calls",
            "<think>\nTwo cities.\n</think>\n\nLet me look.\n"
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>\n'
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call><|im_end|>',
            Message(
                "assistant",
                (
                    ThinkingPart("Two cities."),
                    TextPart("Let me look."),
                    ToolCall("get_weather", '{"city": "Paris"}'),
                    ToolCall("get_weather", '{"city": "Oslo"}'),
                ),
            ),
        ),
        Example("an answer", "It is sunny.<|im_end|>", Message("assistant", (TextPart("It is sunny."),))),
    ),
)
