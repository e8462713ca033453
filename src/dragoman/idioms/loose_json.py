"""Calls as JSON that little or nothing marks: an array at the beginning, and objects behind an opener alone.

What no marker announces is a call only where its beginning is whole: the bracket, the brace, the name, and the key of
the arguments. All other JSON is an answer, and stays text.
"""

from __future__ import annotations

from json import dumps

from ..grammar import build as b
from ..grammar.nodes import Node
from ..types import ToolCall
from .calls import Calls
from .json_calls import LIKE, call_beginning, json_calls, json_members

__all__ = ["array_calls", "bare_array", "prefixed_json"]


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
        like=LIKE,
    )


def prefixed_json(opener: str, *, gap: str = " ") -> Calls:
    """One JSON object behind each opener, which nothing closes but its brace; `gap` stands between."""

    def reader(resume: tuple[str, ...]) -> Node:
        one = b.call(opener + b.space() + "{" + b.commit() + json_members(), resume=(opener, *resume))
        return one + b.zero_or_more(b.space(), one)

    def one(call: ToolCall, index: int) -> str:
        return f'{opener}{gap}{{"name": {dumps(call.name)}, "arguments": {call.arguments}}}'

    return Calls(kind="JSON behind a marker", reader=reader, openers=(opener,), one=one, marks=(opener,))
