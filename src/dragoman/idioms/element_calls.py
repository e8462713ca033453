"""Calls whose tags begin with control tokens: trees of elements, and arguments that tell their types."""

from __future__ import annotations

import re
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

TYPES = ("string", "number", "boolean", "null", "object", "array")


def element_tree(prefix: str, block: str = "tool_call", *, item: str = "item") -> Calls:
    """MiniMax M3's calls: an element for each argument, nested ones for objects and arrays, all tags behind a prefix.

    A leaf is text, typed by the schema where it stands. An element with elements inside is an object, or an array where
    the schema says so or its first element is called `item`. Any closing tag closes the innermost element. The name of
    a call stands in double quotes, single ones or none.
    """
    opener, closer, head, end = (
        f"{prefix}<{block}>",
        f"{prefix}</{block}>",
        f"{prefix}<invoke name=",
        f"{prefix}</invoke>",
    )

    def reader(resume: tuple[str, ...]) -> Node:
        opening = b.space() + prefix + "<" + b.negate("/") + b.commit()
        ahead = b.peek(b.space() + prefix + "<" + b.one("^/"))
        nested = b.argument_members(b.one_or_more(opening, b.ref("element")), b.space(), item=item)
        inside = (ahead + b.commit() + nested) | b.value(prefix)
        tag = b.key(b.chars("^<>/\n", 1, 128)) + ">"
        element = b.rule("element", tag + inside + prefix + "</" + b.chars("^<>\n", 1, 128) + ">")
        ended = b.peek(b.space(), prefix + "</invoke")
        members = b.argument_members(b.zero_or_more(opening, element), ended, item=item)
        name = b.choice(
            *(quote + b.name(b.chars(f"^<>{quote}\n", 1, 128)) + quote for quote in "\"'"),
            b.name(b.chars("^<>\"'\n", 1, 128)),
        )
        call = head + name + ">" + b.commit() + members
        follow = (opener, head, closer, *resume)
        close, closers = b.space() + end, (end, closer)
        first = b.call(opener + b.space() + call, close=close, closers=closers, resume=follow)
        bare = b.call(call, close=close, closers=closers, resume=follow)
        return (first | bare) + b.zero_or_more(b.space(), bare) + b.optional(b.space(), closer)

    def element(key: str, value: object, index: int) -> str:
        if not re.fullmatch(r"[^<>/\n]{1,128}", key):
            raise Inexpressible("", index, f"no element can have the name {key!r}")
        match value:
            case dict() if value and next(iter(value)) != item:
                inside = "".join(element(name, inner, index) for name, inner in value.items())
            case list() if value:
                inside = "".join(element(item, inner, index) for inner in value)
            case str():
                inside = value
            case bool() | int() | float():
                inside = str(value).lower()
            case _:
                raise Inexpressible("", index, f"there is no way to write {value!r} as an element")
        if prefix in inside and isinstance(value, str):
            raise Inexpressible("", index, f"the value of {key!r} holds {prefix}")
        return f"{prefix}<{key}>{inside}{prefix}</{key}>"

    def one(call: ToolCall, index: int) -> str:
        values = "".join(element(key, loads(json), index) for key, json in members_of(call.arguments))
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


def typed_arguments(opening: str = "<|open|>", closing: str = "<|close|>", sep: str = "<|sep|>") -> Calls:
    """Kimi K3's calls: tags between control tokens, whose attributes tell a call's index and an argument's type.

    Attributes are escaped, values are not. The arguments may stand in one tag, as JSON.
    """
    opener, closer = f"{opening}tools{sep}", f"{closing}tools{sep}"
    head, end = f'{opening}call tool="', f"{closing}call{sep}"
    argument, ended = f'{opening}argument key="', f"{closing}argument{sep}"
    attribute = b.chars('^"<\n', 1, 200)

    def reader(resume: tuple[str, ...]) -> Node:
        typed = b.choice(*(f'{kind}"{sep}' + b.commit() + b.value(closing, kinds=(kind,)) for kind in TYPES))
        one = argument + b.key(attribute, decode=b.Decoding.ENTITIES) + '" type="' + typed + ended
        members = b.argument_members(b.zero_or_more(b.space(), one), b.peek(b.space(), closing))
        whole = f'{opening}json type="object"{sep}' + b.commit() + arguments_json() + f"{closing}json{sep}"
        number = b.optional('" index="', b.call_id(attribute, decode=b.Decoding.ENTITIES))
        name = b.begin(b.field_name(attribute, decode=b.Decoding.ENTITIES), number)
        call = head + name + f'"{sep}' + b.commit() + b.space() + (whole | members)
        follow = (opener, head, closer, *resume)
        close, closers = b.space() + end, (end, closer)
        first = b.call(opener + b.space() + call, close=close, closers=closers, resume=follow)
        bare = b.call(call, close=close, closers=closers, resume=follow)
        return (first | bare) + b.zero_or_more(b.space(), bare) + b.optional(b.space(), closer)

    def one(call: ToolCall, index: int) -> str:
        number = call.id if call.id is not None else str(index + 1)
        values = "".join(_typed(index, argument, ended, sep, closing, *member) for member in members_of(call.arguments))
        return f'{head}{_attribute(call.name)}" index="{_attribute(number)}"{sep}{values}{end}'

    return Calls(
        kind="elements",
        reader=reader,
        openers=(opener, head),
        closers=(closer, end, ended),
        one=one,
        begin=opener,
        end=closer,
        names=r"[^<\n]{1,128}",
        marks=(opening, closing, sep),
    )


def _typed(index: int, head: str, end: str, sep: str, closing: str, key: str, json: str) -> str:
    kinds = {'"': "string", "{": "object", "[": "array", "t": "boolean", "f": "boolean", "n": "null"}
    value = raw_text(json)
    if closing in value:
        raise Inexpressible("", index, f"the value of {key!r} holds {closing}")
    if not re.fullmatch(r"[^<\n]{1,128}", key):
        raise Inexpressible("", index, f"no argument can have the name {key!r}")
    return f'{head}{_attribute(key)}" type="{kinds.get(json[0], "number")}"{sep}{value}{end}'


def _attribute(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;")
