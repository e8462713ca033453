"""Calls whose arguments stand in tags as raw text: typed by the tool's schema, or by what the tag says.

A value is never escaped, so one that holds its own closing tag ends at the one that something legal follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from json import loads

from ..errors import Inexpressible
from ..grammar import build as b
from ..grammar.nodes import Node
from ..grammar.notation import PYTHON
from ..types import ToolCall
from .calls import Calls
from .json_calls import arguments_json, json_calls
from .tags import Shell, Sign, Tag
from .writing import members_of

__all__ = [
    "ANY_VALUE",
    "JSON_VALUE",
    "function_tags",
    "python_text",
    "raw_text",
    "tagged_arguments",
    "tagged_values",
    "write_arguments",
]

JSON_VALUE = b.ANY_JSON
"""The kinds of a value that is written as JSON."""

ANY_VALUE = (*b.ANY_JSON, "string")
"""The kinds of a value of which the markup says nothing."""


def raw_text(json: str) -> str:
    """A value as raw text: a string's own characters, all else as JSON."""
    return str(loads(json)) if json.startswith('"') else json


def python_text(json: str) -> str:
    """A value as Python's str() prints it, digits as they are."""
    return raw_text(json) if json.startswith('"') else _scalars(_as_python, json)


_scalars = partial(re.sub, r'"(?:[^"\\]|\\.)*"|true|false|null')


def _as_python(found: re.Match[str]) -> str:
    return repr(loads(found.group()))


def tagged_values(
    sections: tuple[tuple[str, str], ...],
    function: Tag,
    parameter: Tag,
    *,
    several: bool = False,
    lead: str = "\n",
    shell: Shell | None = None,
    text_of: Callable[[str], str] = raw_text,
    unwrap: tuple[str, ...] = (),
) -> Calls:
    """Calls as a tag with the name and a tag for each argument, within a section's two tags or without one.

    The first of the `sections` is written, around each call or around all of them (`several`); `lead` divides it from
    text. Models leave out a section's opener or write it twice, put several calls into one, stop
    before the function's closer, or write the arguments, or the whole call, as JSON: all that is read. With a `shell`,
    all markers but the tags are control tokens, and mean nothing alone. An object that is the only argument is all of
    them where its name is in `unwrap` and no argument's. `text_of` writes a value, given as JSON.
    """
    begins, ends = tuple(opener for opener, _ in sections), tuple(closer for _, closer in sections)
    framed = tuple(lead[k:] + opener for k in range(len(lead) + 1) for opener in begins)
    shells = (shell.opener,) if shell is not None else ()
    closers = (function.closer if shell is None else shell.closer, *ends)
    openers = (*begins, *shells, *function.heads)
    inside = function.lead if begins else ""
    line = inside if lead else ""

    def reader(resume: tuple[str, ...]) -> Node:
        call = _function(function, parameter, (function.closer, *closers, *openers, *resume), unwrap)
        call = shell.before(call) if shell is not None else call
        behind = b.optional(b.space(), shell.closer) if shell is not None else b.sequence()
        close = b.space() + function.closer + behind
        follow = (*openers, *ends, *resume)
        apart = b.space() + b.optional(shell.divider, b.space()) if shell is not None else b.space()

        def calls(before: Node) -> Node:
            whole = b.call(before + call, close=close, closers=closers, resume=follow)
            if not function.alone:
                return whole
            empty = function.closed(lambda name: b.name(name, decode=function.decoding))
            return whole | b.call(before + empty, closers=closers, resume=follow)

        further = calls(b.sequence())
        if not begins:
            return further + b.zero_or_more(apart, further)
        ending = b.chars("\n", 0, 1) if line else b.sequence()
        opening = b.choice(*framed) + b.space() + b.optional(b.choice(*begins), b.space())
        first = calls(opening) | further
        rest = b.zero_or_more(apart, further) + b.optional(b.space(), b.choice(*ends)) + ending
        return (first + rest) | (json_calls(b.choice(*framed), ends, (*begins, *resume)) + ending)

    def one(call: ToolCall, index: int) -> str:
        written = function.write(call.name, write_arguments(parameter, call, index, text_of), shell=shell)
        return written if several or not begins else f"{begins[0]}{inside}{written}{ends[0]}"

    alone = (*begins, shell.divider, shell.closer) if shell is not None else ()
    return Calls(
        kind="values in tags",
        reader=reader,
        openers=(*framed, *shells, *function.heads),
        closers=(*ends, function.closer, parameter.closer, *alone),
        one=one,
        begin=f"{begins[0]}{inside}" if several else "",
        between="" if several else line,
        end=ends[0] if several else "",
        lead=lead,
        trail=line,
        names=rf"[{function.inside}]{{1,128}}",
        marks=(*begins, *ends, *shells, *function.heads, function.closer, parameter.closer, *alone),
    )


def function_tags(text_of: Callable[[str], str] = raw_text) -> Calls:
    """Calls as ``<function=`` name ``>`` with ``<parameter=`` key ``>`` in it, each in ``<tool_call>`` tags.

    An empty line divides them from text. `text_of` writes a value: JSON or as Python prints it, both are read.
    """
    return tagged_values(
        (("<tool_call>", "</tool_call>"),),
        Tag("<function=", (Sign(">"),), "</function>"),
        Tag("<parameter=", (Sign(">"),), "</parameter>", notation=PYTHON),
        lead="\n\n",
        text_of=text_of,
    )


def _function(function: Tag, parameter: Tag, after: tuple[str, ...], unwrap: tuple[str, ...]) -> Node:
    """A call from its tag up to its closer; `after` is what may stand behind its last argument."""
    body = tagged_arguments(parameter, after, unwrap=unwrap)
    return function.read(
        lambda name: b.name(name, pattern=function.pattern, decode=function.decoding), lambda sign: body
    )


def tagged_arguments(parameter: Tag, after: tuple[str, ...], *, unwrap: tuple[str, ...] = ()) -> Node:
    """Arguments as tags, up to what may come `after` them; or as a JSON object."""
    cut = b.optional("<", b.chars("a-z/", 0, 10)) + b.end(stopped=True)
    ending = b.peek(b.space(), b.choice(*after, cut))
    members = b.argument_members(b.zero_or_more(b.space(), _parameter(parameter, after)), ending, unwrap=unwrap)
    return (b.space() + b.peek("{") + b.commit() + arguments_json()) | members


def write_arguments(parameter: Tag, call: ToolCall, index: int, text_of: Callable[[str], str] = raw_text) -> str:
    """A call's arguments as tags; raises `Inexpressible` for what no tag can hold."""
    return "".join(_written(parameter, text_of, index, key, json) for key, json in members_of(call.arguments))


def _parameter(tag: Tag, after: tuple[str, ...]) -> Node:
    """One argument: its tag, its value, and its closer, which counts only where something legal follows."""
    closers = b.framed(tag.closer) if tag.tail else (tag.closer,)
    lead = b.optional(tag.lead) if tag.lead else b.sequence()

    def ended(sign: Sign, *ends: str) -> Node:
        value = b.value(*ends, then=(*tag.heads, *after), kinds=sign.kinds, notation=tag.notation)
        return value + b.choice(*ends)

    def body(sign: Sign) -> Node:
        plain = ended(sign, *closers)
        if not tag.cdata:
            return lead + plain
        return lead + (("<![CDATA[" + b.commit() + ended(sign, *(f"]]>{closer}" for closer in closers))) | plain)

    return tag.read(lambda name: b.key(name, decode=tag.decoding), body)


def _written(tag: Tag, text_of: Callable[[str], str], index: int, key: str, json: str) -> str:
    value = text_of(json)
    if not re.fullmatch(rf"[{tag.inside}]{{1,128}}", key):
        raise Inexpressible("", index, f"no parameter can have the name {key!r}")
    if tag.closer in value:
        raise Inexpressible("", index, f"the value of {key!r} holds {tag.closer}")
    kind = {'"': "string", "{": "object", "[": "array", "t": "boolean", "f": "boolean", "n": "null"}.get(
        json[0], "number"
    )
    if tag.cdata and kind == "string" and re.search(r"[<&\n]", value):
        value = f"<![CDATA[{value}]]>"
    return tag.write(key, f"{value}{tag.tail}", kind)
