"""Calls whose arguments are JSON: objects between tags, arrays of them, and bodies behind a name.

Each builder makes `Calls` from markers. What models write beside their template is read everywhere: ``parameters`` for
``arguments``, arguments before the name or as a JSON string, several objects or an array in one tag, missing closers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from json import dumps

from ..grammar import build as b
from ..grammar.nodes import Node
from ..types import ToolCall
from .calls import Calls, Reader

__all__ = [
    "LIKE",
    "arguments_json",
    "fenced_json",
    "headed_json",
    "json_array",
    "json_calls",
    "json_members",
    "marked_json",
    "tagged_json",
]

NAME = r"^<>\[\]{}`\s"
"""The characters of a name that stands before its arguments."""

LIKE = r'\[\s*\{\s*"name"\s*:'
"""Text that could be taken for an array of calls without a marker."""


def arguments_json() -> Node:
    """Arguments as JSON, or as a JSON string that holds them."""
    return (b.peek('"') + b.commit() + b.arguments(b.quoted_json())) | b.arguments(b.json())


def fenced_json() -> Node:
    """Arguments as JSON, in a Markdown fence or without one."""
    return b.space() + b.optional("```json", b.space()) + arguments_json() + b.optional(b.space(), "```")


def json_members(
    *,
    names: Sequence[str] = ("name",),
    arguments: Sequence[str] = ("arguments", "parameters"),
    ids: Sequence[str] = ("id",),
) -> Node:
    """The members of a call's JSON object and its closing brace, in any order; others are passed over.

    The arguments may be a JSON string that holds the object. An id may stand anywhere.
    """

    def member(key: str, value: Node) -> Node:
        return dumps(key) + b.commit() + b.space() + ":" + b.space() + value

    known = [member(key, b.name(b.json_string(), decode=b.Decoding.JSON)) for key in names]
    known += [member(key, arguments_json()) for key in arguments]
    known += [member(key, b.call_id(b.json_string(), decode=b.Decoding.JSON) | b.json()) for key in ids]
    one = b.choice(*known, b.json_string() + b.space() + ":" + b.space() + b.json())
    more = b.zero_or_more(b.space(), ",", b.commit(), b.space(), one)
    return b.space() + b.optional(one, more) + b.space() + "}"


def json_calls(opening: Node, closers: tuple[str, ...], resume: tuple[str, ...], members: Node | None = None) -> Node:
    """Calls as JSON objects behind one opener: one, several, or an array of them, up to one of the `closers`.

    The opener counts only with the brace behind it. Where only the array's bracket closes, that is the closer.
    """
    ends = b.peek(b.space() + b.choice(*closers, "{", ",", "]"))
    rest = "{" + b.commit() + (members if members is not None else json_members())
    first = b.call(opening + b.space() + b.optional("[", b.space()) + rest, close=ends, closers=closers, resume=resume)
    further = b.call(rest, close=ends, closers=closers, resume=resume)
    bracket = b.optional(b.space(), "]") if "]" not in closers else b.sequence()
    closer = bracket + b.optional(b.space(), b.choice(*closers))
    return first + b.zero_or_more(b.optional(b.space(), ","), b.space(), b.negate(b.choice(*closers)), further) + closer


def tagged_json(
    opener: str = "<tool_call>",
    closer: str = "</tool_call>",
    *,
    lead: str = "\n",
    apart: str = "",
    between: str | None = None,
    inside: str | None = None,
    several: bool = False,
    arguments: str = "arguments",
    marks: tuple[str, ...] = (),
) -> Calls:
    """One JSON object between two tags, with newlines inside and outside (`lead`) or without any.

    `apart` divides calls from text, `between` one from the next and `inside` the object from its tags, where that is
    not `lead`. With `several`, one pair of tags is written around all calls of a group, each on a line of its own.
    """
    inner = lead if inside is None else inside
    spelled = b.framed(opener) if lead else (opener,)
    openers = (f"{apart}{opener}", *spelled) if apart else spelled

    def reader(resume: tuple[str, ...]) -> Node:
        line = b.chars("\n", 0, 1) if lead else b.sequence()
        return json_calls(b.choice(*openers), (closer,), (opener, *resume)) + line

    def one(call: ToolCall, index: int) -> str:
        written = f'{{"name": {dumps(call.name)}, "{arguments}": {call.arguments}}}'
        return written if several else f"{opener}{inner}{written}{inner}{closer}"

    return Calls(
        kind="JSON in tags",
        reader=reader,
        openers=openers,
        closers=(closer,),
        one=one,
        begin=f"{opener}{lead}" if several else "",
        between=lead if between is None else between,
        end=f"{lead}{closer}" if several else "",
        lead=apart or lead,
        trail=lead,
        marks=(opener, closer, *marks),
    )


def json_array(
    opener: str,
    closer: str,
    *,
    name: str = "name",
    arguments: str = "arguments",
    call_id: str = "",
    id_last: bool = False,
    openers: tuple[str, ...] = (),
    fence: str = "",
    lead: str = "",
    inner: str = "",
    member: str = "",
    bare: Reader | None = None,
) -> Calls:
    """An array of JSON objects between two tags; `openers` are further spellings.

    Without a `closer`, the bracket ends it. With `fence`, the opener is a plain word: it counts where the fence and the
    array follow, and the closer is the fence's end. `bare` reads an array without its opener, where the turn begins.
    `name`, `arguments` and `call_id` are the members' keys, as written. With `call_id`, each call has one; with
    `id_last`, one that has an id is written with it, behind the arguments. `inner` is the layout before each object, a
    newline with its indentation, and `member` that before each of its members.
    """
    spelled = (opener, *openers)
    begins = b.framed(*spelled) if lead else spelled
    opening = b.choice(*begins) + b.space() + fence + b.space() + b.peek("[") if fence else b.choice(*begins)
    ending = b.chars("\n", 0, 1) if lead else b.sequence()
    divider = f",{member or ' '}"
    members = json_members(
        names=tuple(dict.fromkeys((name, "name"))),
        arguments=tuple(dict.fromkeys((arguments, "arguments", "parameters"))),
        ids=tuple(dict.fromkeys((call_id or "id", "id"))),
    )

    def reader(resume: tuple[str, ...]) -> Node:
        calls = json_calls(opening, (closer or "]",), (*spelled, *resume), members)
        none = opening + b.space() + "[" + b.space() + "]" + (b.space() + closer if closer else b.sequence())
        return (calls | none) + ending

    def one(call: ToolCall, index: int) -> str:
        written = [f'"{call_id}": {dumps(call.id if call.id is not None else str(index))}'] if call_id else []
        written += [f'"{name}": {dumps(call.name)}', f'"{arguments}": {call.arguments}']
        written += [f'"id": {dumps(call.id)}'] if id_last and call.id is not None else []
        return f"{{{member}{divider.join(written)}{inner if member else ''}}}"

    return Calls(
        kind="an array of JSON",
        reader=reader,
        openers=begins,
        closers=(closer,) if closer and not fence else (),
        one=one,
        begin=f"{opener}\n{fence}\n[{inner}" if fence else f"{opener}[{inner}",
        between=f",{inner or ' '}",
        end=f"{inner.rstrip(' ')}]{closer}",
        lead=lead,
        trail=lead,
        marks=() if fence else (*spelled, closer) if closer else spelled,
        bare=bare,
        like=rf"{re.escape(opener)}\s*{re.escape(fence)}\s*\[" if fence else LIKE if bare is not None else "",
    )


def headed_json(
    opener: str,
    separator: str,
    closer: str,
    *,
    prefix: str = "",
    suffix: str = "",
    sections: tuple[str, ...] = (),
    section_ends: tuple[str, ...] = (),
    between: str = "",
    fenced: bool = False,
    plain: bool = False,
    name: Node | None = None,
    names: str = rf"[{NAME}]{{1,128}}",
    header: Callable[[ToolCall, int], str] | None = None,
) -> Calls:
    """A name and a JSON body between control tokens, in a section that may be missing.

    `prefix` stands between opener and name, `suffix` between body and closer, where it may be missing; `name` reads the
    fields of a header other than a plain name, and `header` writes it. `fenced` bodies stand in a Markdown fence. Where
    the markers are `plain` text, a call begins only if all is there up to the body's brace. A name counts where what
    divides it from the body is there too: one that is cut off is none.
    """
    divider = separator + b.space() if separator else b.sequence()
    body = fenced_json() if fenced else divider + arguments_json()
    lead = b.space() + prefix if prefix else b.sequence()
    field = name if name is not None else b.field_name(b.chars(NAME, 1, 128))
    follows = divider + "{" if plain else separator or b.space() + b.one('`{"')
    head = b.begin(field, b.peek(follows))
    begin = head + divider + b.commit() + arguments_json() if plain else b.commit() + lead + head + body
    tail = b.optional(b.space(), suffix) if suffix else b.sequence()

    def reader(resume: tuple[str, ...]) -> Node:
        one = b.call(
            opener + begin,
            close=tail + b.space() + closer,
            closers=(closer,),
            resume=(opener, *sections, *section_ends, *resume),
        )
        opening = b.optional(b.choice(*sections), b.space()) if sections else b.sequence()
        ending = b.optional(b.space(), b.choice(*section_ends)) if section_ends else b.sequence()
        return opening + one + b.zero_or_more(b.space(), one) + ending

    def write(call: ToolCall, index: int) -> str:
        head = header(call, index) if header is not None else call.name
        body = f"\n```json\n{call.arguments}\n```" if fenced else f"{separator}{call.arguments}"
        return f"{opener}{prefix}{head}{body}{suffix}{closer}"

    return Calls(
        kind="a name, then JSON",
        reader=reader,
        openers=(*sections, opener),
        closers=(*sections, *section_ends, *((suffix,) if suffix else ()), closer),
        one=write,
        begin=sections[0] if sections else "",
        between=between,
        end=section_ends[0] if section_ends else "",
        names=names,
        marks=(*sections, *section_ends, opener, closer),
    )


def marked_json(marker: str, id_marker: str, body_marker: str, *, array: bool = False) -> Calls:
    """Mistral's three ways: a name (perhaps with an id) and a body behind each marker, or one array behind it.

    All are read, and a single object too. With `array` that is written, else named calls, with an id for those that
    have one. The body's marker may be missing before a brace. A marker is the beginning of a call where a bracket or a
    name with a bracket follows, or a name that the input's end cuts off.
    """

    def reader(resume: tuple[str, ...]) -> Node:
        after = (marker, *resume)
        word = b.chars(NAME, 1, 128)
        call_id = b.optional(b.space(), id_marker, b.space(), b.call_id(b.chars("A-Za-z0-9_-", 1, 64)))
        follows = b.space() + b.choice(body_marker, b.one('{"'))
        opened = b.one(r'\[{"')
        likely = b.peek(opened | word + b.space() + b.choice(id_marker, body_marker, opened, b.end()))
        head = b.begin(b.field_name(word), call_id, b.peek(follows))
        body = b.space() + b.optional(body_marker) + b.space() + arguments_json()
        named = b.call(marker + b.space() + likely + b.commit() + head + body, resume=after)
        return json_array(marker, "").reader(resume) | named

    def one(call: ToolCall, index: int) -> str:
        if array:
            given = f', "id": {dumps(call.id)}' if call.id is not None else ""
            return f'{{"name": {dumps(call.name)}, "arguments": {call.arguments}{given}}}'
        given = f"{id_marker}{call.id}" if call.id is not None else ""
        return f"{marker}{call.name}{given}{body_marker}{call.arguments}"

    return Calls(
        kind="an array of JSON" if array else "a name, then JSON",
        reader=reader,
        openers=(marker,),
        closers=(marker, body_marker, id_marker),
        one=one,
        begin=f"{marker}[" if array else "",
        between=", " if array else "",
        end="]" if array else "",
        names=rf"[{NAME}]{{1,128}}",
        marks=(marker, id_marker, body_marker),
    )
