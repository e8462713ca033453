"""Calls whose tags begin with control tokens: trees of elements, and arguments that tell their types."""

from __future__ import annotations

import re
from functools import partial
from json import loads

from ..errors import Inexpressible
from ..grammar import build as b
from ..grammar.nodes import Node
from ..types import ToolCall
from .calls import Calls
from .json_calls import arguments_json
from .writing import members_of
from .xml_calls import raw_text

__all__ = ["element_tree", "typed_arguments"]

TYPES = ("string", "number", "integer", "boolean", "null", "object", "array")


def element_tree(prefix: str, block: str = "tool_call", *, item: str = "item") -> Calls:
    """MiniMax M3's calls: an element for each argument, nested ones for objects and arrays, all tags behind a prefix.

    A leaf is text, typed by the schema where it stands. An element with elements inside is an object, or an array where
    the schema says so or its first element is called `item`. A closing tag closes the innermost element, whatever its
    name; only that of the call or of the block breaks an open element. The name of a call stands in double quotes,
    single ones or none.
    """
    opener, closer, head, end = (
        f"{prefix}<{block}>",
        f"{prefix}</{block}>",
        f"{prefix}<invoke name=",
        f"{prefix}</invoke>",
    )

    def reader(resume: tuple[str, ...]) -> Node:
        follow = (opener, head, closer, *resume)
        start = prefix + b.space() + "<" + b.negate(b.choice("/", "invoke name=", f"{block}>"))
        stop = prefix + b.space() + "</" + b.negate(b.choice("invoke>", f"{block}>"))
        opening = b.space() + start + b.commit()
        nested = b.argument_members(b.one_or_more(opening, b.ref("element")), b.space(), item=item)
        inside = (b.peek(b.space(), start) + b.commit() + nested) | b.value(prefix)
        tag = b.key(b.chars("^<>/\n", 1, 128)) + ">"
        element = b.rule("element", tag + inside + stop + b.chars("^<>\n", 1, 128) + ">")
        ended = b.peek(b.space(), b.choice(end, *follow, b.end(stopped=True)))
        members = b.argument_members(b.zero_or_more(opening, element), ended, item=item)
        name = b.choice(
            *(quote + b.name(b.chars(f"^<>{quote}\n", 1, 128)) + quote for quote in "\"'"),
            b.name(b.chars("^<>\"'\n", 1, 128)),
        )
        return _block(opener, head + name + ">" + b.commit() + members, end, closer, follow)

    def element(key: str, value: object, index: int) -> str:
        if not re.fullmatch(r"[^<>/\n]{1,128}", key) or key in ("invoke", block) or key.startswith("invoke name="):
            raise Inexpressible("", index, f"no element can have the name {key!r}")
        match value:
            case dict() if value and next(iter(value)) != item:
                inside = "".join(element(name, inner, index) for name, inner in value.items())
            case list() if value:
                inside = "".join(element(item, inner, index) for inner in value)
            case str():
                inside = value
            case bool():
                inside = str(value).lower()
            case _:
                raise Inexpressible("", index, f"there is no way to write {value!r} as an element")
        if prefix in inside and isinstance(value, str):
            raise Inexpressible("", index, f"the value of {key!r} holds {prefix}")
        return f"{prefix}<{key}>{inside}{prefix}</{key}>"

    def one(call: ToolCall, index: int) -> str:
        values = "".join(element(key, _value(json), index) for key, json in members_of(call.arguments))
        return f'{head}"{call.name}">{values}{end}\n'

    return Calls(
        kind="elements",
        reader=reader,
        openers=(opener, head),
        closers=(closer, end),
        one=one,
        begin=f"{opener}\n",
        end=closer,
        names=r"[^<>\"'\n]{1,128}",
        marks=(prefix,),
    )


class _Digits(str):
    """A number as it is written."""


_value = partial(loads, parse_int=_Digits, parse_float=_Digits)


def typed_arguments(opening: str = "<|open|>", closing: str = "<|close|>", sep: str = "<|sep|>") -> Calls:
    """Kimi K3's calls: tags between control tokens, whose attributes tell a call's index and an argument's type.

    Attributes are escaped and stand in any order, values are not: one that holds its own closing tag ends at the one
    that something legal follows. Without a type, the schema tells it. The arguments may stand in one tag, as JSON.
    """
    opener, closer = f"{opening}tools{sep}", f"{closing}tools{sep}"
    head, end = f'{opening}call tool="', f"{closing}call{sep}"
    argument, ended = f'{opening}argument key="', f"{closing}argument{sep}"
    numbered, typed = f'{opening}call index="', f'{opening}argument type="'
    attribute = b.chars('^"<\n', 1, 200)

    def reader(resume: tuple[str, ...]) -> Node:
        follow = (opener, head, numbered, closer, *resume)

        def value(*kinds: str) -> Node:
            then = (argument, typed, end, *follow)
            return f'"{sep}' + b.commit() + b.value(ended, then=then, kinds=kinds or None) + ended

        key, name, number = (role(attribute, decode=b.Decoding.ENTITIES) for role in (b.key, b.field_name, b.call_id))
        one = argument + key + b.choice(*(f'" type="{kind}' + value(kind) for kind in TYPES), value())
        other = typed + b.choice(*(f'{kind}" key="' + key + value(kind) for kind in TYPES))
        stopped = b.peek(b.space(), b.choice(end, *follow, b.end(stopped=True)))
        members = b.argument_members(b.zero_or_more(b.space(), one | other), stopped)
        json = f"{opening}json" + b.optional(' type="object"') + sep
        whole = json + b.commit() + arguments_json() + f"{closing}json{sep}"
        first = head + b.begin(name, b.optional('" index="', number)) | numbered + b.begin(number, '" tool="', name)
        call = first + f'"{sep}' + b.commit() + b.space() + (whole | members)
        return _block(opener, call, end, closer, follow)

    def one(call: ToolCall, index: int) -> str:
        number = call.id if call.id is not None else str(index + 1)
        values = "".join(_typed(index, argument, ended, sep, *member) for member in members_of(call.arguments))
        return f'{head}{_attribute(call.name)}" index="{_attribute(number)}"{sep}{values}{end}'

    return Calls(
        kind="elements",
        reader=reader,
        openers=(opener, head, numbered),
        closers=(closer, end, ended),
        one=one,
        begin=opener,
        end=closer,
        names=r"[^<\n]{1,128}",
        marks=(opening, closing, sep),
    )


def _typed(index: int, head: str, end: str, sep: str, key: str, json: str) -> str:
    kinds = {'"': "string", "{": "object", "[": "array", "t": "boolean", "f": "boolean", "n": "null"}
    value = raw_text(json)
    if end in value:
        raise Inexpressible("", index, f"the value of {key!r} holds {end}")
    if not re.fullmatch(r"[^<\n]{1,128}", key):
        raise Inexpressible("", index, f"no argument can have the name {key!r}")
    return f'{head}{_attribute(key)}" type="{kinds.get(json[0], "number")}"{sep}{value}{end}'


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")


def _block(opener: str, call: Node, end: str, closer: str, follow: tuple[str, ...]) -> Node:
    """Calls in a block, whose tags models leave out at times; the marks that may `follow` end a call without `end`."""
    close = b.space() + end
    first = b.call(opener + b.space() + call, close=close, closers=(end, closer), resume=follow)
    bare = b.call(call, close=close, closers=(end, closer), resume=follow)
    return (first | bare) + b.zero_or_more(b.space(), bare) + b.optional(b.space(), closer)
