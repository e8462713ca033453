"""Mistral: calls behind [TOOL_CALLS], named or as an array; v3 to v13 tokenizers, Magistral, Devstral, Ministral.

    [THINK]The user wants the weather.[/THINK]Let me look.[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}</s>
    [TOOL_CALLS]get_weather[CALL_ID]a1b2c3d4e[ARGS]{"city": "Paris"}</s>
    [TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Paris"}, "id": "a1b2c3d4e"}]</s>

The first form is v13 (repeated for several calls), the second v11, the third older. ``[ARGS]`` may be missing
before the brace. Written is the first form, or the second for a call that has an id.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dialect import Dialect, Example
from ..grammar import build as b
from ..idioms import arguments_json, conversation, json_members, write
from ..types import Message, TextPart, ThinkingPart, ToolCall

THINK, THOUGHT, CALLS, CALL_ID, ARGS = "[THINK]", "[/THINK]", "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"
NAME = r"^\[\]{}\s"
NAMES = rf"[{NAME}]{{1,128}}"
STOPS = ("</s>",)

_resume = (CALLS, *STOPS)
_ends = b.peek(b.space(), b.choice(",", "]", "{"))
_object = "{" + b.commit() + json_members()
_first = b.call(CALLS + b.space() + "[" + b.space() + _object, close=_ends, closers=("]",), resume=_resume)
_further = b.call(_object, close=_ends, closers=("]",), resume=_resume)
_array = _first + b.zero_or_more(b.space(), b.optional(",", b.space()), _further) + b.optional(b.space(), "]")
_id = b.optional(CALL_ID, b.call_id(b.chars("A-Za-z0-9_-", 1, 64)))
_name = b.field_name(b.chars(NAME, 1, 128))
_head = b.begin(_name, b.space(), _id, b.optional(ARGS), b.space(), b.peek(b.one('{"')))
_named = b.call(CALLS + b.space() + _head + b.commit() + arguments_json(), resume=_resume)
_none = CALLS + b.space() + "[" + b.space() + "]"
_grammar = conversation(
    (THINK, THOUGHT),
    _named | _array | _none,
    breaks=(CALLS,),
    orphans=(CALLS, ARGS, CALL_ID),
    stopping=STOPS,
    frame=0,
    prose=False,
)


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    ids = [f"{CALL_ID}{c.id}" if c.id is not None else "" for c in calls]
    return "".join(f"{CALLS}{c.name}{id_}{ARGS}{c.arguments}" for c, id_ in zip(calls, ids, strict=True))


def _write(message: Message) -> str:
    return write(
        "mistral",
        message,
        marks=(THINK, THOUGHT, CALLS, CALL_ID, ARGS, *STOPS),
        thinking=lambda text: f"{THINK}{text}{THOUGHT}",
        calls=_write_calls,
        names=NAMES,
        opener=THINK,
    )


DIALECT = Dialect(
    name="mistral",
    title="calls behind [TOOL_CALLS], named or as a JSON array",
    grammar=_grammar,
    writer=_write,
    models=("mistralai/*",),
    marks=(CALLS, ARGS),
    stops=STOPS,
    turns=("[/INST]", "[/TOOL_RESULTS]"),
    native_id=lambda name, index: f"a1b2c3d4{index}",
    aliases=("mistral_pre_v11",),
    source="mistral-common, tokens/tokenizers/instruct.py; chat templates of Ministral-3 and Mistral-Small-3.2",
    examples=(
        Example(
            "a thought, a sentence and two named calls",
            "[THINK]Two cities.[/THINK]Let me look."
            '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}</s>',
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
        Example(
            "an array of two calls, one with an id",
            '[TOOL_CALLS][{"name": "f", "arguments": {"x": 1}, "id": "a1b2c3d4e"}, {"name": "g", "arguments": {}}]</s>',
            Message("assistant", (ToolCall("f", '{"x": 1}', "a1b2c3d4e"), ToolCall("g", "{}"))),
        ),
    ),
)
