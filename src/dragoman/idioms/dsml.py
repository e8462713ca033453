"""DeepSeek's markup language: tags that begin with a control token and tell whether a value is text or JSON."""

from __future__ import annotations

from msgspec import structs

from .calls import Calls
from .tags import Sign, Tag
from .xml_calls import ANY_VALUE, JSON_VALUE, tagged_values

__all__ = ["dsml"]

SECTIONS = ("tool_calls", "function_calls", "toolcalls", "tool", "calls")
"""What models call the block, be it theirs or not."""


def dsml(section: str = "tool_calls", *, token: str = "｜DSML｜", blank: str = "", led: bool = True) -> Calls:
    """Calls as ``<｜DSML｜invoke name="…">`` tags in a block called `section`, a tag on each line.

    In some versions a `blank` follows the token. A parameter's tag says ``string="true"`` before text and ``"false"``
    before JSON; where it says nothing, JSON is tried first. Models put all arguments into one called ``arguments`` or
    ``input``, write their object instead of parameters, or close a tag without any at once: all that is read. Where
    `led`, an empty line stands before the block even if no text does, and one in a call without arguments.
    """
    sections = tuple(
        (f"<{token}{gap}{word}>", f"</{token}{gap}{word}>")
        for word in dict.fromkeys((section, *SECTIONS))
        for gap in dict.fromkeys((blank, "", " "))
    )
    signs = (Sign('" string="true">', ("string",)), Sign('" string="false">', JSON_VALUE), Sign('">', ANY_VALUE))
    invoke = Tag(
        f'<{token}{blank}invoke name="',
        (Sign('">'),),
        f"</{token}{blank}invoke>",
        empty="\n" if led else "",
        alone='"/>',
    )
    parameter = Tag(f'<{token}{blank}parameter name="', signs, f"</{token}{blank}parameter>", lead="", tail="")
    calls = tagged_values(sections, invoke, parameter, several=True, lead="\n\n", unwrap=("arguments", "input"))
    return structs.replace(calls, led=led)
