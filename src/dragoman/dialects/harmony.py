"""Harmony: messages with a header, on channels; gpt-oss.

    <|channel|>analysis<|message|>The user wants the weather.<|end|>
    <|start|>assistant<|channel|>commentary<|message|>Let me look.<|end|>
    <|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>
    {"city": "Paris"}<|call|>

(on one line). The prompt ends with ``<|start|>assistant``, so the first header has no such beginning. ``analysis`` is
reasoning, ``final`` the answer; ``commentary`` without a recipient is visible text, a preamble, and keeps its channel's
name. A message with a recipient is a call, on whatever channel, with its recipient before or behind the channel
and ``<|constrain|>`` or not; ``functions.`` is taken off its name, built-in recipients (``browser.search``,
``python``) stay whole. A body that is no JSON (content type ``code``) is handed over as it is. ``<|return|>`` and
``<|call|>`` stop.

What models also write: stray text between messages, a header without ``<|message|>``, unknown channels. It is kept as
content and reported. The end of a message may also be the next one's beginning.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dialect import Dialect, Example
from ..errors import Inexpressible
from ..events import ProblemKind
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from ..idioms import stops, write
from ..types import Message, TextPart, ThinkingPart, ToolCall

START, CHANNEL, MESSAGE, CONSTRAIN, END = "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>"
STOPS = ("<|return|>", "<|call|>")
ENDS = (END, START, *STOPS)
NAMES = r"[^\s<]{1,200}"
HEADS = (START, CHANNEL, MESSAGE, CONSTRAIN, "assistant", "to=")


def _text(node: Node) -> Node:
    return b.commit() + node


def _call(body: Node) -> Node:
    ends = b.peek(b.space(), b.choice(*ENDS))
    return b.call(b.commit(), b.begin(), body, close=ends, resume=ENDS, stops=True)


_raw = b.arguments(b.until(*ENDS), raw=True)
_json = (b.peek("{") + b.commit() + b.arguments(b.json())) | b.peek(b.choice(*ENDS)) | _raw
_bodies = (
    b.case(_call(_raw), name=".+", type="(?!json).+"),
    b.case(_call(b.space() + _json), name=".+"),
    b.case(_text(b.reasoning(b.until(*ENDS))), channel="analysis"),
    b.case(_text(b.content(b.until(*ENDS), channel="commentary")), channel="commentary"),
    b.case(_text(b.content(b.until(*ENDS))), channel="final"),
    b.case(_text(b.report(ProblemKind.UNKNOWN_CHANNEL) + b.content(b.until(*ENDS)))),
)
_message = b.header(
    MESSAGE,
    *_bodies,
    start=HEADS,
    abort=ENDS[:1] + STOPS,
    fields={
        "channel": r"<\|channel\|>\s*([A-Za-z_][\w-]*)",
        "name": r"\bto=(?:functions\.)?([^\s<]+)",
        "type": r"(?:<\|constrain\|>\s*|\s)([\w./+-]+)\s*$",
    },
)
_end = b.optional(END | b.peek(b.choice(START, *STOPS)))
_broken = b.report(ProblemKind.MALFORMED_HEADER, detail="a header without <|message|>")
_stray = b.report(ProblemKind.MALFORMED_HEADER, detail="text outside a message")
_headless = b.choice(
    CHANNEL + "analysis" + b.commit() + _broken + b.reasoning(b.until(*ENDS)) + _end,
    b.choice(CHANNEL, START, MESSAGE, CONSTRAIN) + b.commit() + _broken + b.content(b.until(*ENDS)) + _end,
    b.report(ProblemKind.ORPHAN_MARKER, END, detail="the end of a message that did not begin"),
    b.markup(b.chars(" \\t\\r\\n", 1, 64)) + b.peek(b.choice(*ENDS, CHANNEL)),
    b.peek(b.any()) + b.commit() + _stray + b.content(b.until(*ENDS, CHANNEL, MESSAGE, low=1)),
)
_messages = b.zero_or_more(stops(*STOPS) | (_message + _end) | _headless)
_reasoning = b.reasoning(b.until(*ENDS)) + _end
_final = b.content(b.until(*ENDS)) + _end


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    if len(calls) > 1 or more:
        raise Inexpressible("harmony", 0, "a call ends the output, so there can be only one, at the end")
    (call,) = calls
    if call.name.startswith("functions."):
        raise Inexpressible("harmony", 0, "the namespace is not part of a name")
    recipient = call.name if call.name == "python" or call.name.startswith("browser.") else f"functions.{call.name}"
    return f"{START}assistant{CHANNEL}commentary to={recipient} {CONSTRAIN}json{MESSAGE}{call.arguments}"


def _write_text(part: TextPart) -> str:
    return f"{START}assistant{CHANNEL}{part.channel or 'final'}{MESSAGE}{part.text}{END}"


def _write(message: Message) -> str:
    text = write(
        "harmony",
        message,
        marks=(*ENDS, CHANNEL, MESSAGE),
        channels=_write_text,
        thinking=lambda text: f"{START}assistant{CHANNEL}analysis{MESSAGE}{text}{END}",
        calls=_write_calls,
        names=NAMES,
    )
    # The prompt has written the first beginning; a stop marker, not <|end|>, ends the last message.
    return text.removeprefix(f"{START}assistant").removesuffix(END)


DIALECT = Dialect(
    name="harmony",
    doc=__doc__,
    grammar=Grammar(_messages, (("reasoning", _reasoning + _messages), ("final", _final + _messages))),
    writer=_write,
    kind="messages on channels",
    marks=(CHANNEL, MESSAGE),
    stops=STOPS,
    turns=(f"{START}assistant",),
    others=(START,),
    models=("openai/gpt-oss-*",),
    aliases=("gpt_oss", "openai", "openai_gptoss"),
    tokens=("<|channel|>", "<|message|>", "<|constrain|>", "<|call|>"),
    signatures=(("<|channel|>", "<|message|>", "<|call|>"),),
    templates=("a4c9919cbbd4acdd", "f8d9255777615591"),
    source="openai/harmony docs/format.md; openai_harmony 0.0.8; chat template of gpt-oss-120b",
    examples=(
        Example(
            "analysis, a preamble and a call",
            "<|channel|>analysis<|message|>Look it up.<|end|>"
            "<|start|>assistant<|channel|>commentary<|message|>Let me look.<|end|>"
            "<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
            '{"city": "Paris"}<|call|>',
            Message(
                "assistant",
                (
                    ThinkingPart("Look it up."),
                    TextPart("Let me look.", "commentary"),
                    ToolCall("get_weather", '{"city": "Paris"}'),
                ),
            ),
        ),
        Example(
            "two thoughts and an answer",
            "<|channel|>analysis<|message|>One.<|end|><|start|>assistant<|channel|>analysis<|message|>Two.<|end|>"
            "<|start|>assistant<|channel|>final<|message|>Three.<|return|>",
            Message("assistant", (ThinkingPart("One."), ThinkingPart("Two."), TextPart("Three."))),
        ),
    ),
)
