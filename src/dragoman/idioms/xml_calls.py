"""Calls whose arguments stand in tags as raw text: typed by the tool's schema, or by what the tag says.

A value is never escaped, so one that holds its own closing tag ends at the one that something legal follows.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from json import loads

from msgspec import Struct

from ..errors import Inexpressible
from ..grammar import build as b
from ..grammar.nodes import Node
from ..grammar.notation import Notation
from ..types import ToolCall
from .calls import Calls
from .json_calls import arguments_json, json_calls
from .writing import members_of

__all__ = ["ANY_VALUE", "JSON_VALUE", "Sign", "Tag", "python_text", "raw_text", "tagged_values"]

JSON_VALUE = b.ANY_JSON
"""The kinds of a value that is written as JSON."""

ANY_VALUE = (*b.ANY_JSON, "string")
"""The kinds of a value of which the markup says nothing."""


class Sign(Struct, frozen=True):
    """What ends the name in a tag, and the JSON types of the value behind it (``None``: those of the schema)."""

    text: str
    kinds: tuple[str, ...] | None = None


class Tag(Struct, frozen=True):
    """A tag with a name in it, such as ``<function=`` name ``>`` … ``</function>``.

    `signs` end the name: a plain one, or one for each kind of value. `spelled` are other ways to begin the tag, with
    their signs, which are read but not written. `lead` and `tail` are the newlines inside the tag that belong to the
    layout, `after` is what divides it from the next, `empty` is layout where there is nothing else inside. A sign that
    stands `alone` ends the name and the tag at once. With `cdata`, a value may stand in a CDATA section. Objects and
    arrays among the values are in the `notation`, or JSON.
    """

    head: str
    signs: tuple[Sign, ...]
    closer: str
    lead: str = "\n"
    tail: str = "\n"
    after: str = "\n"
    empty: str = ""
    alone: str = ""
    spelled: tuple[tuple[str, tuple[Sign, ...]], ...] = ()
    decoding: b.Decoding = b.Decoding.NONE
    cdata: bool = False
    notation: Notation | None = None

    @property
    def heads(self) -> tuple[str, ...]:
        """All ways to begin the tag."""
        return tuple(dict.fromkeys((self.head, *(head for head, _ in self.spelled))))

    @property
    def inside(self) -> str:
        """The characters that a name may have, however the tag is spelled, as a class."""
        signs = (*self.signs, *(sign for _, signs in self.spelled for sign in signs))
        return rf"^<\n{''.join(dict.fromkeys(re.escape(sign.text[0]) for sign in signs))}"

    def read(self, field: Callable[[Node], Node], body: Callable[[Sign], Node]) -> Node:
        """The tag up to the sign behind its name, the name as a `field`, and the `body` that follows that sign."""
        ways = []
        for head, signs in ((self.head, self.signs), *self.spelled):
            name = field(b.chars(rf"^<\n{''.join(dict.fromkeys(re.escape(s.text[0]) for s in signs))}", 1, 128))
            ways.append(head + name + b.choice(*(sign.text + b.commit() + body(sign) for sign in signs)))
        return b.choice(*ways)

    def write(self, name: str, inside: str, kind: str = "") -> str:
        """The tag around what is already laid out."""
        sign = next((sign for sign in self.signs if sign.kinds is None or kind in sign.kinds), self.signs[0])
        return f"{self.head}{name}{sign.text}{self.lead}{inside or self.empty}{self.closer}{self.after}"


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
    text_of: Callable[[str], str] = raw_text,
    unwrap: tuple[str, ...] = (),
) -> Calls:
    """Calls as a tag with the name and a tag for each argument, within a section's two tags or without one.

    The first of the `sections` is written, around each call or around all of them (`several`), divided from text by
    `lead`. Models leave out a section's opener, put several calls into one, stop before the function's closer, or write
    the arguments, or the whole call, as JSON: all that is read. An object that is the only argument is all of them
    where its name is in `unwrap` and no argument's. `text_of` writes a value, given as JSON.
    """
    begins, ends = tuple(opener for opener, _ in sections), tuple(closer for _, closer in sections)
    framed = tuple(lead[k:] + opener for k in range(len(lead) + 1) for opener in begins)

    def reader(resume: tuple[str, ...]) -> Node:
        after = (function.closer, *ends, *begins, *function.heads, *resume)
        cut = b.optional("<", b.chars("a-z/", 0, 10)) + b.end(stopped=True)
        one = _parameter(parameter, after)
        ending = b.peek(b.space(), b.choice(*after, cut))
        members = b.argument_members(b.zero_or_more(b.space(), one), ending, unwrap=unwrap)
        body = (b.space() + b.peek("{") + b.commit() + arguments_json()) | members
        call = function.read(lambda name: b.name(name, decode=function.decoding), lambda sign: body)
        close = b.space() + function.closer
        closers, follow = (function.closer, *ends), (*begins, *function.heads, *ends, *resume)

        def calls(*opening: Node) -> Node:
            whole = b.call(b.sequence(*opening, call), close=close, closers=closers, resume=follow)
            if not function.alone:
                return whole
            name = b.name(b.chars(rf"^<\n{re.escape(function.alone[0])}", 1, 128), decode=function.decoding)
            empty = b.sequence(*opening, function.head, name, function.alone, b.commit())
            return whole | b.call(empty, close=b.sequence(), closers=closers, resume=follow)

        further = calls()
        if not begins:
            return further + b.zero_or_more(b.space(), further)
        line = b.chars("\n", 0, 1) if function.lead else b.sequence()
        first = calls(b.choice(*framed), b.space()) | further
        rest = b.zero_or_more(b.space(), further) + b.optional(b.space(), b.choice(*ends)) + line
        return (first + rest) | (json_calls(b.choice(*framed), ends, (*begins, *resume)) + line)

    def one(call: ToolCall, index: int) -> str:
        values = "".join(_written(parameter, text_of, index, key, json) for key, json in members_of(call.arguments))
        written = function.write(call.name, values)
        return written if several or not begins else f"{begins[0]}{function.lead}{written}{ends[0]}"

    inside = function.lead if begins else ""
    return Calls(
        kind="values in tags",
        reader=reader,
        openers=(*framed, *function.heads),
        closers=(*ends, function.closer, parameter.closer),
        one=one,
        begin=f"{begins[0]}{inside}" if several else "",
        between="" if several else inside,
        end=ends[0] if several else "",
        lead=lead,
        trail=inside,
        names=rf"[{function.inside}]{{1,128}}",
        marks=(*begins, *ends, *function.heads, function.closer, parameter.closer),
    )


def _parameter(tag: Tag, after: tuple[str, ...]) -> Node:
    """One argument: its tag, its value, and its closer, which counts only where something legal follows."""
    closers = b.framed(tag.closer) if tag.tail else (tag.closer,)
    lead = b.optional(tag.lead) if tag.lead else b.sequence()

    def body(sign: Sign) -> Node:
        value = b.value(*closers, then=(*tag.heads, *after), kinds=sign.kinds, notation=tag.notation)
        plain = lead + value + b.choice(*closers)
        if not tag.cdata:
            return plain
        ending = "]]>" + tag.closer
        wrapped = "<![CDATA[" + b.commit() + b.value(ending, then=(*tag.heads, *after), kinds=sign.kinds) + ending
        return wrapped | plain

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
