r"""Muse: messages to recipients, where tools get XML-like calls; Muse Glimmer and Spark.

     to=self<|message|>Two cities.<|eom|>\
    <|start|>assistant to=user<|message|>Let me look.<|eom|>\
    <|start|>assistant to=get_weather<|message|><atem:function_calls>
    <atem:invoke name="get_weather">
    <atem:parameter name="city">Paris</atem:parameter>
    <atem:parameter name="days">2</atem:parameter>
    </atem:invoke>
    </atem:function_calls><|eom|>\
    <|start|>assistant to=get_weather<|message|><atem:function_calls>
    <atem:invoke name="get_weather">
    <atem:parameter name="city">Oslo</atem:parameter>
    </atem:invoke>
    </atem:function_calls><|eot|>

The prompt ends with ``<|start|>assistant``. What the model says to itself is thought, what it says to the user, or to
nobody, is text; a message to a tool holds its calls. A value is raw text, typed by the tool's schema, and is not
stripped. Models write the name of a tool that has no namespace twice (``f.f``): it is read as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..dialect import Dialect
from ..grammar import build as b
from ..idioms import Row, Sign, Tag, drawn, sample, tagged_values, written_by
from ..segments import Segment
from ..types import Message, ToolCall

ROW = Row(
    begin="<|start|>assistant",
    start="<|start|>",
    end="<|eom|>",
    stops=("<|eot|>",),
    parts=("<|message|>",),
    words=("assistant", "to="),
)
CALLS = tagged_values(
    (("<atem:function_calls>", "</atem:function_calls>"),),
    Tag('<atem:invoke name="', (Sign('">'),), "</atem:invoke>", pattern=r"(?P<name>.+?)(?:\.(?P=name))?"),
    Tag('<atem:parameter name="', (Sign('">'),), "</atem:parameter>", lead="", tail=""),
    several=True,
    lead="",
)


def _to(recipient: str) -> str:
    return f" to={recipient}<|message|>"


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> list[str]:
    one = CALLS.write
    return [f"{ROW.begin}{_to(call.name)}{one([call], False, False)[0]}{ROW.end}" for call in calls]


def _spell(message: Message, strict: bool) -> list[Segment]:
    return ROW.spell(
        "muse",
        message,
        strict,
        thinking=_to("self"),
        text=lambda channel: "" if channel else _to("user"),
        calls=_write_calls,
        names=r"(?!self$|user$|(.+)\.\1$)[^\s<>\"]{1,128}",
    )


DIALECT = Dialect(
    name="muse",
    kind="messages with headers",
    doc=__doc__,
    grammar=ROW.grammar(
        ROW.header(
            "<|message|>",
            {"to": r"\bto=([^\s<]+)"},
            ({"to": "self"}, ROW.text(b.reasoning)),
            ({"to": "user"}, ROW.text(b.content)),
            ({"to": ".+"}, ROW.calls(CALLS)),
            ({}, ROW.calls(CALLS, expected=False)),
        )
    ),
    writer=written_by(_spell),
    speller=_spell,
    models=("meta-models/Muse-*",),
    marks=("<|message|>", "<atem:function_calls>"),
    stops=ROW.stops,
    turns=(ROW.begin,),
    others=(ROW.start,),
    aliases=("muse_atem", "muse_glimmer", "musespark1x"),
    signatures=(("<atem:function_calls>", "<atem:invoke"),),
    templates=("6cd0e94d9b489fdb",),
    source="chat template of Muse-Glimmer-30B (in muse.cpp, models/templates/muse-glimmer.jinja)",
    examples=drawn(__doc__, sample()),
)
