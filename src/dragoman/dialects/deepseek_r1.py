"""DeepSeek R1: thoughts, and calls whose JSON stands in a Markdown fence; R1, R1-0528, V3-0324.

    <think>
    The user wants the weather.
    </think>

    Let me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
    ```json
    {"city": "Paris"}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>

Calls are divided by a newline. The fence may be missing, and so may the section's own markers. Prompts of R1 end
in ``<think>`` and a newline: start="reasoning". The distilled models write no calls.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dialect import Dialect, Example
from ..grammar import build as b
from ..idioms import conversation, fenced_json, token_calls, write
from ..types import Message, TextPart, ThinkingPart, ToolCall

THINK, THOUGHT = "<think>", "</think>"
CALLS, CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL, SEP, CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
NAME = r"^<`\s"
NAMES = rf"[{NAME}]{{1,128}}"
STOPS = ("<｜end▁of▁sentence｜>",)

_head = b.space() + "function" + SEP + b.space() + b.name(b.chars(NAME, 1, 128))
_calls = token_calls((CALLS,), CALL, _head, fenced_json(), CALL_END, (CALLS_END,), STOPS)
_grammar = conversation(
    (THINK, THOUGHT),
    _calls,
    breaks=(CALLS, CALL),
    orphans=(CALLS, CALLS_END, CALL_END),
    stopping=STOPS,
    prose=False,
)


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    blocks = (f"{CALL}function{SEP}{c.name}\n```json\n{c.arguments}\n```{CALL_END}" for c in calls)
    return CALLS + "\n".join(blocks) + CALLS_END


def _write(message: Message) -> str:
    return write(
        "deepseek_r1",
        message,
        marks=(THINK, THOUGHT, CALLS, CALLS_END, CALL, CALL_END, *STOPS),
        thinking=lambda text: f"{THINK}\n{text}\n{THOUGHT}\n\n",
        calls=_write_calls,
        names=NAMES,
    )


DIALECT = Dialect(
    name="deepseek_r1",
    title="thoughts, and calls with fenced JSON between control tokens",
    grammar=_grammar,
    writer=_write,
    models=("deepseek-ai/DeepSeek-R1*", "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V3-0324"),
    marks=(CALLS, SEP, "```json"),
    stops=STOPS,
    turns=("<｜Assistant｜>", "<｜tool▁outputs▁end｜>"),
    aliases=("deepseek_v3", "deepseekv3"),
    source="chat template and tokenizer_config.json of DeepSeek-R1-0528",
    examples=(
        Example(
            "a thought, a sentence and two calls",
            "<think>\nTwo cities.\n</think>\n\nLet me look."
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
            '```json\n{"city": "Paris"}\n```<｜tool▁call▁end｜>\n'
            "<｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
            '```json\n{"city": "Oslo"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>',
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
        Example("an answer", "It is sunny.<｜end▁of▁sentence｜>", Message("assistant", (TextPart("It is sunny."),))),
    ),
)
