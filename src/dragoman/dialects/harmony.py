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
content and reported. The end of a message may also be the next one's beginning. A header right behind a header takes
its place: models repeat the one that the prompt has written. One that the end of the output cuts is malformed.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dialect import Dialect, Example
from ..errors import Inexpressible
from ..grammar import build as b
from ..idioms import Row
from ..types import Message, TextPart, ThinkingPart, ToolCall

START, CHANNEL, MESSAGE, CONSTRAIN = "<|start|>", "<|channel|>", "<|message|>", "<|constrain|>"
ROW = Row(
    begin=f"{START}assistant",
    start=START,
    end="<|end|>",
    stops=("<|return|>", "<|call|>"),
    heads=(CHANNEL,),
    parts=(MESSAGE, CONSTRAIN),
    words=("assistant", "to="),
)

_raw = b.arguments(b.until(*ROW.ends), raw=True)
_json = (b.peek("{") + b.commit() + b.arguments(b.json())) | b.peek(b.choice(*ROW.ends)) | _raw
_final, _reasoning = ROW.text(b.content), ROW.text(b.reasoning)
_message = ROW.header(
    MESSAGE,
    {
        "channel": r"<\|channel\|>\s*([A-Za-z_][\w-]*)",
        "name": r"\bto=(?:functions\.)?([^\s<]+)",
        "type": r"(?:<\|constrain\|>\s*|\s)([\w./+-]+)\s*$",
    },
    ({"name": ".+", "type": "(?!json).+"}, ROW.call(_raw)),
    ({"name": ".+"}, ROW.call(b.space() + _json)),
    ({"channel": "analysis"}, _reasoning),
    ({"channel": "commentary"}, ROW.text(lambda text: b.content(text, channel="commentary"))),
    ({"channel": "final"}, _final),
    ({}, ROW.unknown()),
)


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> str:
    if len(calls) > 1 or more:
        raise Inexpressible("harmony", 0, "a call ends the output, so there can be only one, at the end")
    (call,) = calls
    if call.name.startswith("functions."):
        raise Inexpressible("harmony", 0, "the namespace is not part of a name")
    recipient = call.name if call.name == "python" or call.name.startswith("browser.") else f"functions.{call.name}"
    return f"{ROW.begin}{CHANNEL}commentary to={recipient} {CONSTRAIN}json{MESSAGE}{call.arguments}"


def _write(message: Message) -> str:
    return ROW.write(
        "harmony",
        message,
        thinking=f"{CHANNEL}analysis{MESSAGE}",
        text=lambda channel: f"{CHANNEL}{channel or 'final'}{MESSAGE}",
        calls=_write_calls,
        names=r"[^\s<]{1,200}",
    )


DIALECT = Dialect(
    name="harmony",
    doc=__doc__,
    grammar=ROW.grammar(_message, (f"{CHANNEL}analysis", b.reasoning), reasoning=_reasoning, final=_final),
    writer=_write,
    models=("openai/gpt-oss-*",),
    marks=(CHANNEL, MESSAGE),
    stops=ROW.stops,
    turns=(ROW.begin,),
    others=(START,),
    aliases=("gpt_oss", "openai", "openai_gptoss"),
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
