"""Calls as JSON that little or nothing marks: an object or an array where the output or a line begins.

What no marker announces is a call only where its beginning is whole: the bracket, the brace, the name, and the key of
the arguments. All other JSON is an answer, and stays text.
"""

from __future__ import annotations

from json import dumps

from ..grammar import build as b
from ..grammar.nodes import Node
from ..types import ToolCall
from .calls import Calls
from .json_calls import LIKE, json_calls, json_members

__all__ = ["array_calls", "bare_array", "bare_json", "call_beginning"]


def call_beginning() -> Node:
    """A call's members up to the value of its arguments, with nothing else before or between: too much for a chance."""
    name = '"name"' + b.space() + ":" + b.space() + b.name(b.json_string(), decode=b.Decoding.JSON)
    return name + b.space() + "," + b.space() + b.choice('"arguments"', '"parameters"') + b.space() + ":"


def bare_json(tag: str, stopping: tuple[str, ...], *, arguments: str = "parameters") -> Calls:
    """A JSON object without markers but an optional `tag`: a call where it begins the output or a line.

    It counts only if its beginning is whole, name and arguments' key; other JSON is text.
    """
    kind = b.optional('"type"', b.space(), ":", b.space(), '"function"', b.space(), ",", b.space())
    start = "{" + b.space() + kind + b.peek(call_beginning()) + b.commit()

    def parts(resume: tuple[str, ...]) -> tuple[Node, Node, Node]:
        after = (tag, *resume)
        object_ = b.call(start + json_members(), resume=after)
        tagged = b.call(tag + b.space() + "{" + b.commit() + json_members(), resume=after)
        more = b.zero_or_more(b.space(), b.optional(";", b.space()), object_)
        return object_, tagged, more

    def reader(resume: tuple[str, ...]) -> Node:
        object_, tagged, more = parts(resume)
        return (tagged + more) | ("\n" + object_ + more)

    def bare(resume: tuple[str, ...]) -> Node:
        object_, tagged, more = parts(resume)
        ending = b.optional(b.space(), ";", b.peek(b.space(), b.choice(*stopping) | b.end()))
        return (tagged | object_) + more + ending

    return Calls(
        kind="bare JSON",
        reader=reader,
        bare=bare,
        openers=(tag, "\n{"),
        closers=(tag,),
        one=lambda call, index: f'{{"name": {dumps(call.name)}, "{arguments}": {call.arguments}}}',
        between="; ",
        lead="\n",
        marks=(tag,),
        like=r'(?m)^\s*\{\s*"(?:name|type)"',
        final=True,
    )


def bare_array(resume: tuple[str, ...]) -> Node:
    """Calls as an array without a marker, if its beginning is whole; its bracket ends it."""
    start = b.peek("[", b.space(), "{", b.space(), call_beginning())
    return json_calls(start, ("]",), resume)


def array_calls(markers: tuple[str, ...], pairs: tuple[tuple[str, str], ...], *, fence: str = "```") -> Calls:
    """An array of JSON objects: bare where the turn begins or behind a thought, elsewhere fenced or behind a marker.

    `markers` have no closer, `pairs` have one. Written are the bare array and, behind text, the first marker.
    """
    openers = (*markers, *(opener for opener, _ in pairs))
    closers = tuple(closer for _, closer in pairs)

    def reader(resume: tuple[str, ...]) -> Node:
        after = (*openers, *resume)
        array = bare_array(after)
        fenced = b.choice(f"{fence}json", fence) + b.space() + array + b.optional(b.space(), fence)
        marked = [b.literal(marker) + b.space() + json_calls(b.peek("["), ("]",), after) for marker in markers]
        paired = [json_calls(b.literal(opener), (closer,), after) for opener, closer in pairs]
        return b.choice(*marked, *paired, fenced)

    def one(call: ToolCall, index: int) -> str:
        return f'{{"name": {dumps(call.name)}, "arguments": {call.arguments}}}'

    return Calls(
        kind="bare JSON",
        reader=reader,
        bare=lambda resume: bare_array((*openers, *resume)),
        openers=(*openers, fence),
        closers=closers,
        one=one,
        begin="[",
        between=", ",
        end="]",
        lead=markers[0],
        marks=(*openers, *closers),
        like=rf"{LIKE}|\A\s+{fence}",  # layout before a fence is the layout before a call
    )
