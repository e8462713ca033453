r"""Inkling: messages whose header says what they hold; Thinking Machines' models.

    <|content_thinking|>Two cities.<|end_message|>\
    <|message_model|><|content_text|>Let me look.<|end_message|>\
    <|message_model|>get_weather<|content_invoke_tool_json|>\
    {"name": "get_weather", "args": {"city": "Paris", "days": 2}}<|end_message|>\
    <|message_model|>get_weather<|content_invoke_tool_json|>\
    {"name": "get_weather", "args": {"city": "Oslo"}}<|end_message|><|content_model_end_sampling|>

The prompt ends with ``<|message_model|>``. The name between the two markers is that of the tool; the one in the JSON
counts. A tool that takes text (``<|content_invoke_tool_text|>``) is named there only, and gets its body as it is.
``<|content_tool_error|>`` is content, and reported. Where a message does not end, the next marker ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps

from ..dialect import Dialect
from ..events import ProblemKind
from ..grammar import build as b
from ..idioms import Row, drawn, json_members, sample, written_by
from ..segments import Segment
from ..types import Message, ToolCall

TEXT, THINKING = "<|content_text|>", "<|content_thinking|>"
JSON, RAW, ERROR = "<|content_invoke_tool_json|>", "<|content_invoke_tool_text|>", "<|content_tool_error|>"
KINDS = (TEXT, THINKING, JSON, RAW, ERROR)
ROW = Row(
    begin="<|message_model|>",
    start="<|message_model|>",
    end="<|end_message|>",
    stops=("<|content_model_end_sampling|>",),
    heads=KINDS,
    breaks=KINDS,
    ended_too=True,
)

_name = b.optional(ROW.begin) + b.chars("^<>", 0, 200)
_named = b.optional(ROW.begin) + b.optional(b.name(b.chars("^<>", 1, 200)))
_json = _name + JSON + b.commit() + b.space() + "{" + json_members(arguments=("args", "arguments", "parameters"))
_raw = _named + RAW + b.commit() + b.arguments(b.until(*ROW.ends), raw=True)
_cut = b.report(ProblemKind.MALFORMED_HEADER, detail="the input ended inside a header")
_final, _reasoning = ROW.text(b.content), ROW.text(b.reasoning)
_message = b.choice(
    _name + TEXT + _final,
    _name + THINKING + _reasoning,
    ROW.call(_json),
    ROW.call(_raw),
    _name + ERROR + ROW.unknown(),
    ROW.begin + _cut + b.malformed(b.chars("^<>", 0, 200)) + b.end(),
)


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> list[str]:
    return [
        f'{ROW.begin}{call.name}{JSON}{{"name": {dumps(call.name)}, "args": {call.arguments}}}{ROW.end}'
        for call in calls
    ]


def _spell(message: Message, strict: bool) -> list[Segment]:
    return ROW.spell(
        "inkling",
        message,
        strict,
        thinking=THINKING,
        text=lambda channel: "" if channel else TEXT,
        calls=_write_calls,
        names=r"[^<>]{1,200}",
    )


DIALECT = Dialect(
    name="inkling",
    kind="messages with headers",
    doc=__doc__,
    grammar=ROW.grammar(_message, reasoning=_reasoning, final=_final),
    writer=written_by(_spell),
    speller=_spell,
    models=("thinkingmachines/Inkling*",),
    marks=(JSON, THINKING),
    stops=ROW.stops,
    turns=(ROW.begin,),
    others=("<|message_user|>", "<|message_tool|>", "<|message_system|>"),
    tokens=("<|content_invoke_tool_json|>", "<|content_thinking|>", "<|end_message|>"),
    signatures=(("<|content_invoke_tool_json|>", "<|content_text|>"),),
    source="vLLM rust/src/chat/src/renderer/inkling and vllm/parser/inkling.py; SGLang inkling_detector.py",
    examples=drawn(__doc__, sample()),
)
