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

from ..dialect import Dialect, Example
from ..errors import Inexpressible
from ..grammar import build as b
from ..idioms import HARMONY, harmony_grammar, harmony_speller, written_by
from ..types import Message, TextPart, ThinkingPart, ToolCall

_raw = b.arguments(b.until(*HARMONY.ends), raw=True)
_json = (b.peek("{") + b.commit() + b.arguments(b.json())) | b.peek(b.choice(*HARMONY.ends)) | _raw


def _write_call(call: ToolCall) -> str:
    if call.name.startswith("functions."):
        raise Inexpressible("harmony", 0, "the namespace is not part of a name")
    recipient = call.name if call.name == "python" or call.name.startswith("browser.") else f"functions.{call.name}"
    return f"<|channel|>commentary to={recipient} <|constrain|>json<|message|>{call.arguments}"


_speller = harmony_speller("harmony", _write_call)

DIALECT = Dialect(
    name="harmony",
    doc=__doc__,
    grammar=harmony_grammar(
        ({"name": ".+", "type": "(?!json).+"}, HARMONY.addressed(_raw)),
        ({"name": ".+"}, HARMONY.addressed(b.space() + _json)),
        namespace=r"functions\.",
    ),
    writer=written_by(_speller),
    speller=_speller,
    kind="messages with headers",
    marks=("<|channel|>", "<|message|>"),
    stops=HARMONY.stops,
    turns=(HARMONY.begin,),
    others=(HARMONY.start,),
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
