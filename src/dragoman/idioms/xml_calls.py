"""Calls whose arguments stand in tags as raw text: typed by the tool's schema, or by what the tag says.

A value is never escaped, so one that holds its own closing tag ends at the one that something legal follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from json import loads

from msgspec import Struct

from ..errors import Inexpressible
from ..grammar import build as b
from ..grammar.nodes import Node
from ..types import ToolCall
from .calls import Calls
from .writing import members_of

__all__ = ["Tag", "raw_text", "tagged_values"]


class Tag(Struct, frozen=True):
    """A tag with a name in it, such as ``<function=`` name ``>`` … ``</function>``.

    `lead` and `tail` are the newlines inside it that belong to the layout, `after` is what divides it from the next.
    """

    head: str
    sign: str
    closer: str
    lead: str = "\n"
    tail: str = "\n"
    after: str = "\n"


def raw_text(json: str) -> str:
    """A value as raw text: a string's own characters, all else as JSON."""
    return str(loads(json)) if json.startswith('"') else json


def tagged_values(
    section: tuple[str, str],
    function: Tag,
    parameter: Tag,
    *,
    several: bool = False,
    text_of: Callable[[str], str] = raw_text,
) -> Calls:
    """Calls as a tag with the name and a tag for each argument, within a section's two tags.

    Models leave out the section's opener, put several calls into one section, or stop before the function's closer:
    all that is read. Written is a section for each call, or one for all of them (`several`). `text_of` writes a value,
    given as JSON.
    """
    opener, closer = section
    openers = (*b.framed(opener), function.head)

    def reader(resume: tuple[str, ...]) -> Node:
        after = (function.closer, closer, opener, *resume)
        ends = _framed(parameter.tail, parameter.closer)
        value = b.value(*ends, then=(parameter.head, *after)) + b.choice(*ends)
        lead = b.optional(parameter.lead) if parameter.lead else b.sequence()
        one = parameter.head + b.key(b.chars("^>\n", 1, 128)) + parameter.sign + b.commit() + lead + value
        cut = b.optional("<", b.chars("a-z/", 0, 10)) + b.end(stopped=True)
        members = b.argument_members(b.zero_or_more(b.space(), one), b.peek(b.space(), b.choice(*after, cut)))
        call = function.head + b.name(b.chars("^>\n<", 1, 128)) + function.sign + b.commit() + members
        close = b.space() + function.closer
        closers, follow = (function.closer, closer), (opener, function.head, closer, *resume)
        opening = (b.choice(*b.framed(opener)) + b.space() + call) | call
        first = b.call(opening, close=close, closers=closers, resume=follow)
        further = b.call(call, close=close, closers=closers, resume=follow)
        return first + b.zero_or_more(b.space(), further) + b.optional(b.space(), closer) + b.chars("\n", 0, 1)

    def one(call: ToolCall, index: int) -> str:
        values = "".join(_written(parameter, text_of, index, key, json) for key, json in members_of(call.arguments))
        written = f"{function.head}{call.name}{function.sign}{function.lead}{values}{function.closer}{function.after}"
        return written if several else f"{opener}{function.lead}{written}{closer}"

    lead = function.lead
    return Calls(
        reader=reader,
        openers=openers,
        closers=(closer, function.closer, parameter.closer),
        one=one,
        begin=f"{opener}{lead}" if several else "",
        between="" if several else lead,
        end=closer if several else "",
        lead=lead,
        trail=lead,
        names=r"[^<>\n]{1,128}",
        marks=(opener, closer, function.head, function.closer, parameter.closer),
    )


def _framed(newline: str, marker: str) -> tuple[str, ...]:
    return b.framed(marker) if newline else (marker,)


def _written(tag: Tag, text_of: Callable[[str], str], index: int, key: str, json: str) -> str:
    value = text_of(json)
    if not re.fullmatch(r"[^>\n]{1,128}", key):
        raise Inexpressible("", index, f"no parameter can have the name {key!r}")
    if tag.closer in value:
        raise Inexpressible("", index, f"the value of {key!r} holds {tag.closer}")
    return f"{tag.head}{key}{tag.sign}{tag.lead}{value}{tag.tail}{tag.closer}{tag.after}"
