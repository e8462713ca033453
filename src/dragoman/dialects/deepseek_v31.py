"""DeepSeek V3.1: calls between control tokens, name and JSON divided by one; V3.1, V3.1-Terminus, V3.2-Exp.

    The user wants the weather.</think>Let me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>
    {"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>

(on one line, without separators). The bars are U+FF5C and the low lines U+2581. Prompts end in ``<think>`` when
thinking is on, start="reasoning", else in ``</think>``. The section's own markers may be missing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dialect import Dialect, Example
from ..grammar import build as b
from ..idioms import arguments_json, conversation, token_calls, write
from ..types import Message, TextPart, ThinkingPart, ToolCall

THINK, THOUGHT = "<think>", "</think>"
CALLS, CALLS_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL, SEP, CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
NAME = r"^<\s"
NAMES = rf"[{NAME}]{{1,128}}"
STOPS = ("<｜end▁of▁sentence｜>",)

_body = b.literal(SEP) + b.space() + arguments_json()
_calls = token_calls((CALLS,), CALL, b.name(b.chars(NAME, 1, 128)), _body, CALL_END, (CALLS_END,), STOPS)
_grammar = conversation(
    (THINK, THOUGHT),
    _calls,
    breaks=(CALLS, CALL),
    orphans=(CALLS, CALLS_END, CALL_END),
    stopping=STOPS,
    frame=0,
    prose=False,
)


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    return CALLS + "".join(f"{CALL}{c.name}{SEP}{c.arguments}{CALL_END}" for c in calls) + CALLS_END


def _write(message: Message) -> str:
    return write(
        "deepseek_v31",
        message,
        marks=(THINK, THOUGHT, CALLS, CALLS_END, CALL, CALL_END, *STOPS),
        thinking=lambda text: f"{THINK}{text}{THOUGHT}",
        calls=_write_calls,
        names=NAMES,
        opener=THINK,
    )


DIALECT = Dialect(
    name="deepseek_v31",
    title="name and JSON arguments between control tokens",
    grammar=_grammar,
    writer=_write,
    models=("deepseek-ai/DeepSeek-V3.1*", "deepseek-ai/DeepSeek-V3.2-Exp*"),
    marks=(CALLS, SEP),
    stops=STOPS,
    turns=("<｜Assistant｜>", "<｜tool▁output▁end｜>"),
    aliases=("deepseekv31", "deepseek_v3_1"),
    source="chat template and tokenizer_config.json of DeepSeek-V3.1",
    examples=(
        Example(
            "a thought that the prompt has opened, a sentence and two calls",
            "Two cities.</think>Let me look."
            '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Paris"}<｜tool▁call▁end｜>'
            '<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
            "<｜end▁of▁sentence｜>",
            Message(
                "assistant",
                (
                    ThinkingPart("Two cities."),
                    TextPart("Let me look."),
                    ToolCall("get_weather", '{"city": "Paris"}'),
                    ToolCall("get_weather", '{"city": "Oslo"}'),
                ),
            ),
            start="reasoning",
        ),
        Example("an answer", "It is sunny.<｜end▁of▁sentence｜>", Message("assistant", (TextPart("It is sunny."),))),
    ),
)
