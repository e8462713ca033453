"""Kimi K2: calls between control tokens, whose header is also their id; K2, K2-0905, K2-Thinking, K2.5.

    <think>The user wants the weather.</think>Let me look.<|tool_calls_section_begin|><|tool_call_begin|>
    functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|><|tool_calls_section_end|>
    <|im_end|>

(on one line, without separators). The header as written is the id; the name is what stands between ``functions.``
(which may be missing) and the last colon, and may hold dots. The section's markers may be missing or in the
singular. Prompts of K2-Thinking and K2.5 may end in ``<think>``: start="reasoning".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..dialect import Dialect, Example
from ..errors import Inexpressible
from ..grammar import build as b
from ..idioms import arguments_json, conversation, token_calls, write
from ..types import Message, TextPart, ThinkingPart, ToolCall

THINK, THOUGHT = "<think>", "</think>"
SECTION, SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
SECTIONS = (SECTION, "<|tool_call_section_begin|>")
SECTION_ENDS = (SECTION_END, "<|tool_call_section_end|>")
CALL, ARGUMENTS, CALL_END = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
STOPS = ("<|im_end|>",)
NAMES = r"[^<\s]{1,150}"
HEADER = r"\s*(?P<id>(?:functions\.)?(?P<name>.+?)(?::\d+)?)\s*"

_body = b.literal(ARGUMENTS) + b.space() + arguments_json()
_name = b.name(b.chars("^<", 1, 200), pattern=HEADER)
_calls = token_calls(SECTIONS, CALL, _name, _body, CALL_END, SECTION_ENDS, STOPS)
_grammar = conversation(
    (THINK, THOUGHT),
    _calls,
    breaks=(*SECTIONS, CALL),
    orphans=(*SECTIONS, *SECTION_ENDS, CALL_END),
    stopping=STOPS,
    frame=0,
    prose=False,
)


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    headers = [c.id if c.id is not None else f"functions.{c.name}:{k}" for k, c in enumerate(calls)]
    for k, (header, call) in enumerate(zip(headers, calls, strict=True)):
        read = re.fullmatch(HEADER, header)
        if "<" in header or read is None or (read["id"], read["name"]) != (header, call.name):
            raise Inexpressible("kimi_k2", k, f"the id {header!r} does not name {call.name!r}")
    blocks = (f"{CALL}{header}{ARGUMENTS}{c.arguments}{CALL_END}" for header, c in zip(headers, calls, strict=True))
    return SECTION + "".join(blocks) + SECTION_END


def _write(message: Message) -> str:
    return write(
        "kimi_k2",
        message,
        marks=(THINK, THOUGHT, *SECTIONS, *SECTION_ENDS, CALL, CALL_END, *STOPS),
        thinking=lambda text: f"{THINK}{text}{THOUGHT}",
        calls=_write_calls,
        names=NAMES,
        opener=THINK,
    )


DIALECT = Dialect(
    name="kimi_k2",
    title="calls with native ids between control tokens",
    grammar=_grammar,
    writer=_write,
    models=("moonshotai/Kimi-K2*", "moonshotai/Kimi-Linear-*"),
    marks=(SECTION, ARGUMENTS),
    stops=STOPS,
    turns=("<|im_assistant|>assistant<|im_middle|>",),
    native_id=lambda name, index: f"functions.{name}:{index}",
    aliases=("kimi",),
    source="chat template and tokenizer_config.json of Kimi-K2-Instruct; its tool_call_guidance.md",
    examples=(
        Example(
            "a thought, a sentence and two calls",
            "<think>Two cities.</think>Let me look.<|tool_calls_section_begin|>"
            '<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>'
            '<|tool_call_begin|>functions.get_weather:1<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|>'
            "<|tool_calls_section_end|><|im_end|>",
            Message(
                "assistant",
                (
                    ThinkingPart("Two cities."),
                    TextPart("Let me look."),
                    ToolCall("get_weather", '{"city": "Paris"}', "functions.get_weather:0"),
                    ToolCall("get_weather", '{"city": "Oslo"}', "functions.get_weather:1"),
                ),
            ),
        ),
        Example("an answer", "It is sunny.<|im_end|>", Message("assistant", (TextPart("It is sunny."),))),
    ),
)
