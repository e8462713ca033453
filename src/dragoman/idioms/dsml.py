"""DeepSeek's markup language: tags that begin with a control token and tell whether a value is text or JSON."""

from __future__ import annotations

from .calls import Calls
from .xml_calls import ANY_VALUE, JSON_VALUE, Sign, Tag, tagged_values

__all__ = ["dsml"]

SECTIONS = ("tool_calls", "function_calls", "toolcalls", "tool", "calls")
"""What models call the block, be it theirs or not."""


def dsml(
    section: str = "tool_calls", *, token: str = "｜DSML｜", blank: str = "", lead: str = "\n\n", line: str = "\n"
) -> Calls:
    """Calls as ``<｜DSML｜invoke name="…">`` tags in a block called `section`; tags are divided by `line`.

    In some versions a `blank` follows the token. A parameter's tag says ``string="true"`` before text and ``"false"``
    before JSON; where it says nothing, JSON is tried first. Models put all arguments into one called ``arguments`` or
    ``input``, or write their object instead of parameters: both are read.
    """
    sections = tuple(
        (f"<{token}{gap}{word}>", f"</{token}{gap}{word}>")
        for word in dict.fromkeys((section, *SECTIONS))
        for gap in dict.fromkeys((blank, "", " "))
    )
    signs = (Sign('" string="true">', ("string",)), Sign('" string="false">', JSON_VALUE), Sign('">', ANY_VALUE))
    return tagged_values(
        sections,
        Tag(f'<{token}{blank}invoke name="', (Sign('">'),), f"</{token}{blank}invoke>", lead=line, after=line),
        Tag(f'<{token}{blank}parameter name="', signs, f"</{token}{blank}parameter>", lead="", tail="", after=line),
        several=True,
        lead=lead,
        unwrap=("arguments", "input"),
    )
