"""Generic: JSON calls and thoughts between markers that the user names; for models that no other dialect fits.

    <think>
    Two cities.
    </think>

    Let me look.
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
    </tool_call>
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    </tool_call>

The layout is that of Hermes, with any markers and no stop marker unless one is given. Markup in Markdown code is
text, as everywhere. ``generic(call=("<call>", "</call>"))`` makes a dialect of one's own.
"""

from __future__ import annotations

from ..dialect import Dialect, Example
from ..idioms import Think, define, tagged_json
from ..types import Message, TextPart


def generic(
    think: tuple[str, str] = ("<think>", "</think>"),
    call: tuple[str, str] = ("<tool_call>", "</tool_call>"),
    stops: tuple[str, ...] = (),
    name: str = "generic",
    turns: tuple[str, ...] = (),
) -> Dialect:
    """A dialect with these markers; raises `DelimiterError` if they can't be told apart."""
    quoted = f"Write `{call[0]}` or\n```\n{call[0]}{{}}{call[1]}\n```\n"
    doc = __doc__
    for marker, own in zip(("<think>", "</think>", "<tool_call>", "</tool_call>"), (*think, *call), strict=True):
        doc = doc.replace(marker, own)
    dialect = define(
        doc,
        name=name,
        think=Think.tags(*think),
        calls=tagged_json(*call),
        stops=stops,
        turns=turns,
        source="the user; the layout is that of Hermes",
        examples=(Example("markup in code is text", quoted, Message("assistant", (TextPart(quoted),))),),
    )
    dialect.program()
    return dialect


DIALECT = generic()
