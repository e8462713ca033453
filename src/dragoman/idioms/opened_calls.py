"""Calls behind an opener that stands alone or in pieces: bare objects, objects with one key, and raw code."""

from __future__ import annotations

from json import dumps

from ..grammar import build as b
from ..grammar.nodes import Node
from .calls import Calls
from .json_calls import arguments_json, json_calls, json_members

__all__ = ["code_calls", "keyed_array", "opened_json"]


def keyed_array(opener: str, closer: str) -> Calls:
    """An array of objects between two tags, each with one key: the name, whose value is the arguments.

    The objects of other families, with the name as a string behind ``name``, are read too.
    """
    name = b.name(b.json_string(), decode=b.Decoding.JSON) + b.space() + ":"
    keyed = b.space() + name + b.space() + arguments_json() + b.space() + "}"
    members = (b.peek(b.space(), '"name"', b.space(), ":", b.space(), '"') + b.commit() + json_members()) | keyed

    def reader(resume: tuple[str, ...]) -> Node:
        calls = json_calls(b.literal(opener), (closer,), (opener, *resume), members)
        return calls | (opener + b.space() + "[" + b.space() + "]" + b.space() + closer)

    return Calls(
        kind="an array of JSON",
        reader=reader,
        openers=(opener,),
        closers=(closer,),
        one=lambda call, index: f"{{{dumps(call.name)}: {call.arguments}}}",
        begin=f"{opener}[",
        between=", ",
        end=f"]{closer}",
        marks=(opener, closer),
    )


def opened_json(
    *openers: tuple[str, ...],
    closer: str = "",
    lead: str = "",
    arguments: str = "arguments",
    marks: tuple[str, ...] = (),
    most: int | None = None,
    prose: bool = False,
) -> Calls:
    """A JSON object behind an opener of control tokens, between which whitespace may stand; `lead` is layout.

    The first of the `openers` is written. Without a `closer` the object's own brace ends the call. With `most`, nothing
    comes behind the calls. In `prose`, an opener is ordinary text, and counts only with the brace behind it.
    """
    heads = tuple(pieces[0] for pieces in openers)
    opening = b.choice(*(_spaced(pieces) for pieces in openers)) + (b.sequence() if prose else b.commit())

    def reader(resume: tuple[str, ...]) -> Node:
        after = tuple(dict.fromkeys((*heads, *resume)))
        if closer:
            return json_calls(opening, (closer,), after)
        one = b.call(opening + b.space() + "{" + b.commit() + json_members(), resume=after)
        return one + b.zero_or_more(b.space(), one)

    first = "".join(openers[0])
    return Calls(
        kind="JSON in tags" if closer else "JSON behind a marker",
        reader=reader,
        openers=heads,
        closers=(closer,) if closer else (),
        one=lambda call, index: f'{first}{lead}{{"name": {dumps(call.name)}, "{arguments}": {call.arguments}}}{closer}',
        marks=(*heads, *((closer,) if closer else ()), *marks),
        final=most is not None,
        most=most,
    )


def _spaced(pieces: tuple[str, ...]) -> Node:
    node: Node = b.literal(pieces[0])
    for piece in pieces[1:]:
        node = node + b.space() + piece
    return node


def code_calls(marker: str, name: str, *, opener: str = "", closer: str = "") -> Calls:
    """Code as it is behind a marker that holds the tool's name, and perhaps behind an opener before that.

    It ends at the `closer`, or where something else begins. For reading beside other calls: raw code is no JSON object,
    so it is never written.
    """
    head, tail = marker.split(name)
    first = opener or marker
    closers = (closer,) if closer else ()

    def reader(resume: tuple[str, ...]) -> Node:
        after = tuple(dict.fromkeys((first, *resume)))
        lead = opener + b.space() + head if opener else b.literal(head)
        body = b.arguments(b.until(*closers, *after), raw=True)
        opening = lead + b.name(name) + tail + b.commit()
        close = b.literal(closer) if closer else b.peek(b.choice(*after))
        return b.call(opening + body, close=close, closers=closers, resume=after, stops=not closer)

    return Calls(
        reader=reader,
        openers=(first,),
        closers=closers,
        one=lambda call, index: call.arguments,
        marks=(first, marker, *closers),
    )
