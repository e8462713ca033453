r"""Functionary v3.2: recipients on lines of their own; functionary-medium and -small v3.2.

    all
    Let me look.>>>get_weather
    {"city": "Paris", "days": 2}>>>get_weather
    {"city": "Oslo"}<|eot_id|>

The prompt ends with ``>>>``, so the first recipient has none before it. ``all`` is the user; any other recipient is a
tool if an object stands on the line behind it, else all of it is text, such as a Python prompt. ``python`` gets its
body as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from ..dialect import Dialect
from ..errors import Inexpressible
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from ..idioms import drawn, sample, spell, stops, turn, written_by
from ..segments import Segment
from ..types import Message, TextPart, ToolCall

OPEN, ALL = ">>>", "all\n"
STOPS = ("<|eot_id|>", "<|end_of_text|>", "<|eom_id|>")


def _message(opening: Node) -> Node:
    """Text to the user, code, or a call, behind what opens it."""
    ended = b.peek(b.space(), b.choice(OPEN, *STOPS))
    code = opening + b.name(b.literal("python")) + "\n" + b.commit() + b.arguments(b.until(OPEN, *STOPS), raw=True)
    head = opening + b.name(b.chars("A-Za-z0-9_.-", 1, 64)) + "\n" + b.peek(b.space(), "{") + b.commit()
    bodies = (code, head << b.arguments(b.json()))
    calls = (b.call(body, close=ended, resume=(OPEN, *STOPS), stops=True) + b.space() for body in bodies)
    return b.choice(opening + ALL, *calls)


def _write_calls(calls: Sequence[ToolCall], after_text: bool, more: bool) -> list[str]:
    return [f"{OPEN}{call.name}\n{call.arguments}" for call in calls]


def _spell(message: Message, strict: bool) -> list[Segment]:
    for k, part in enumerate(message.parts):
        if isinstance(part, TextPart) and part.channel:
            raise Inexpressible("functionary_v32", k, "there are no channels")
    written = spell(
        "functionary_v32",
        message,
        marks=(OPEN, *STOPS),
        channels=lambda part: f"{OPEN}{ALL}{part.text}",
        calls=_write_calls,
        names=r"(?!(?:all|python)$)[A-Za-z0-9_.-]{1,64}",
        prose=True,
        strict=strict,
    )
    if written:
        written[0] = replace(written[0], text=written[0].text.removeprefix(OPEN))
    return written


_body = turn(
    b.content(">") + b.peek(OPEN),
    _message(b.literal(OPEN)),
    stops(*STOPS),
    delimiters=(OPEN,),
    stopping=STOPS,
    orphans=(),
)

DIALECT = Dialect(
    name="functionary_v32",
    kind="a name, then JSON",
    doc=__doc__,
    grammar=Grammar(b.optional(_message(b.sequence())) + _body),
    writer=written_by(_spell),
    speller=_spell,
    signatures=((">>>all", "tool_calls"),),
    models=("meetkai/functionary-*-v3.2*",),
    marks=(OPEN,),
    stops=STOPS,
    turns=("<|start_header_id|>assistant<|end_header_id|>\n\n",),
    templates=("5c7c96c27cfecf34",),
    source="chat template of functionary-medium-v3.2 (llama.cpp models/templates)",
    examples=drawn(__doc__, sample(thinks=False)),
)
