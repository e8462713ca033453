"""Calls whose arguments are no JSON: Python's call expressions, and dicts with bare keys.

What models write beside their template is read: JSON's words among Python's, reserved words as names of arguments, a
comma too many, all arguments as one dict. A value without a name makes a call malformed, as nothing tells what it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from json import dumps, loads

from msgspec.structs import replace

from ..errors import Inexpressible
from ..grammar import build as b
from ..grammar.nodes import Node
from ..grammar.notation import PYTHON, Notation, bare_dict
from ..types import ToolCall
from .calls import Calls
from .json_calls import json_calls
from .writing import members_of

__all__ = ["call_dict", "call_expressions", "single_quoted"]

HEAD, NAME = r"^\W\d", r"\w.:/-"
"""The characters of a call's name, the first and the others, as classes."""

KEY = r"\w.$-"
"""Those of an argument's name: more than Python's, as there are tools that have such."""

DICT_NAME = r"^\s{}()\[\]<>\"',|"
"""The characters of a name before a dict: namespaces are divided by colons."""

_NAMES = rf"[{HEAD}][{NAME}]{{0,127}}"
_WHOLE = re.compile(rf"(?m)^\s*\[\s*{_NAMES}\s*\(\s*(?:[{KEY}]+\s*=|\))").pattern
_TOKENS = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|true|false|null')


def single_quoted(json: str) -> str:
    """A JSON string as one of Python's in single quotes."""
    return f"'{re.sub(_OTHERWISE, lambda found: _SINGLE[found.group()], json[1:-1])}'"


_SINGLE = {"'": "\\'", '\\"': '"', "\\/": "/", "\\\\": "\\\\"}
_OTHERWISE = r"""'|\\["/\\]"""


# Python's call expressions


def call_expressions(
    openers: tuple[str, ...],
    closer: str,
    *,
    string: Callable[[str], str] = str,
    listed: bool = True,
    bare: bool = False,
    control: bool = False,
    lead: str = "",
) -> Calls:
    """Python's call expressions between two tags: a list, or one on each line where they are not `listed`.

    With `bare`, a list without tags is written; it is read where the output or a line begins with it, if its beginning
    is whole: the bracket, a name, ``(``, and an argument's name with ``=`` or the end of the call. With `control`, the
    tags are control tokens: all behind one is a call, or a broken one. Between tags, calls may be JSON objects; a
    list's brackets and commas may be missing, and so may a last ``)`` before the closer, which is reported. `string`
    writes a JSON string, which is one of Python's as it is.
    """
    notation = replace(PYTHON, quotes=tuple(replace(quote, then=quote.then + closer[0]) for quote in PYTHON.quotes))
    begins = b.framed(*openers) if lead else openers
    line = b.chars("\n", 0, 1) if lead else b.sequence()

    def group(opening: Node, comma: Node, ends: tuple[str, ...], after: tuple[str, ...]) -> Node:
        body = _call(notation, closer)
        first = b.call(opening + body, close=")", closers=ends, resume=after)
        more = b.zero_or_more(b.call(b.space() + comma + b.space() + body, close=")", closers=ends, resume=after))
        return first + more + b.optional(b.space(), b.optional(",", b.space()), "]") + b.optional(b.space(), closer)

    def unmarked(after: tuple[str, ...]) -> Node:
        one = group("[" + b.space() + _begins_whole(), b.literal(","), (")]", closer), after)
        return one + b.zero_or_more(b.space(), one) + line

    def reader(resume: tuple[str, ...]) -> Node:
        after = (*openers, closer, *resume)
        opening = b.choice(*begins) + b.space()
        listing = group(opening + b.optional("[", b.space()), b.optional(b.one(",;")), (closer,), after)
        objects = json_calls(b.choice(*begins), (closer,), (*openers, *resume))
        nothing = opening + b.optional("[", b.space(), "]", b.space()) + closer
        ways = [listing, objects, nothing]
        if control:
            nowhere = b.negate(b.sequence())
            ways.append(b.call(opening + b.commit() + nowhere, closers=(closer,), resume=(*openers, *resume)))
        marked = b.choice(*ways) + line
        return (marked | ("\n" + unmarked(after))) if bare else marked

    def one(call: ToolCall, index: int) -> str:
        members = (_argument(index, key, json, string) for key, json in members_of(call.arguments))
        return f"{call.name}({', '.join(members)})"

    return Calls(
        kind="Python calls",
        reader=reader,
        bare=(lambda resume: unmarked((*openers, closer, *resume))) if bare else None,
        openers=(*begins, "\n[") if bare else begins,
        closers=(closer,),
        one=one,
        begin=("" if bare else openers[0]) + ("[" if listed else ""),
        between=", " if listed else "\n",
        end=("]" if listed else "") + ("" if bare else closer),
        lead=lead,
        trail=lead,
        names=_NAMES,
        marks=(*openers, closer),
        like=_WHOLE if bare else "",
    )


def _name() -> Node:
    return b.one(HEAD) + b.chars(NAME, 0, 127)


def _begins_whole() -> Node:
    """What a list begins with that counts without tags; a Markdown link may begin with ``[f()](``."""
    key = b.chars(KEY, 1, 128) + b.space() + "="
    end = ")" + b.space() + b.one("],") + b.negate("(")
    return b.peek(_name(), b.space(), "(", b.space(), key | end)


def _call(notation: Notation, closer: str) -> Node:
    """A call up to its last bracket, or to the `closer`: named arguments, or all of them as one dict."""
    one = b.key(b.chars(KEY, 1, 128)) + b.space() + "=" + b.commit() + b.space() + b.notated(notation)
    more = b.zero_or_more(b.space(), ",", b.space(), one) + b.optional(b.space(), ",")
    members = b.argument_members(b.optional(one, more), b.space(), b.peek(b.choice(")", closer)))
    stars = b.optional("**", b.space())
    whole = b.peek(stars, "{") + b.commit() + stars + b.arguments(b.notated(notation)) + b.space()
    return b.name(_name()) + b.space() + "(" + b.commit() + b.space() + (whole | members)


def _argument(index: int, key: str, json: str, string: Callable[[str], str]) -> str:
    if not re.fullmatch(rf"[{KEY}]{{1,128}}", key):
        raise Inexpressible("", index, f"no argument can have the name {key!r}")
    words = {"true": "True", "false": "False", "null": "None"}

    def literal(found: re.Match[str]) -> str:
        token, colon = found.group(), found.group(1) or ""
        return words.get(token) or string(token.removesuffix(colon)) + colon

    return f"{key}={_TOKENS.sub(literal, json)}"


# Dicts with bare keys


def call_dict(opener: str, closer: str, mark: str, *, null: str = "null", typed: bool = False) -> Calls:
    """``call:``, a name and a dict with bare keys between two control tokens, strings between two of the `mark`.

    `null` is how nothing is written. What stands between marks is a string, or what the tool's schema says if `typed`.
    Values in quotes or without any, arguments in round brackets or with ``=``, and missing commas are read too.
    """

    def reader(resume: tuple[str, ...]) -> Node:
        braces = "{" + b.commit() + _members(bare_dict(mark, closer, opener), "}", mark, typed)
        brackets = "(" + b.commit() + _members(bare_dict(mark, closer, opener, ")"), ")", mark, typed)
        name = b.begin(b.field_name(b.chars(DICT_NAME, 1, 128)), b.space(), b.peek(b.one("{(")))
        one = b.call(
            opener + b.commit() + b.space() + b.optional("call:", b.space()) + name + (braces | brackets),
            close=b.one("})"),
            closers=(closer,),
            resume=(opener, closer, *resume),
        )
        ended = one + b.optional(b.space(), closer)
        return ended + b.zero_or_more(b.space(), ended)

    def one(call: ToolCall, index: int) -> str:
        literal = partial(_in_dict, index, mark, null)
        pairs = ((dumps(key) + ":", json) for key, json in members_of(call.arguments))
        members = (_TOKENS.sub(literal, key) + _TOKENS.sub(literal, json) for key, json in pairs)
        return f"{opener}call:{call.name}{{{','.join(members)}}}{closer}"

    return Calls(
        kind="a name, then a dict",
        reader=reader,
        openers=(opener,),
        closers=(closer,),
        one=one,
        names=rf"[{DICT_NAME}]{{1,128}}",
        marks=(opener, closer, mark),
    )


def _members(notation: Notation, last: str, mark: str, typed: bool) -> Node:
    """Arguments up to their last bracket, or to a marker."""
    key = b.choice(
        mark + b.key(b.chars("^<", 0, 128)) + mark,
        b.key(b.json_string(), decode=b.Decoding.JSON),
        b.key(b.chars(r"^\s{}()\[\]<:=,\"'", 1, 128)),
    )
    value = b.notated(notation)
    if typed:
        value = (mark + b.commit() + b.value(mark) + mark) | value
    one = key + b.space() + b.one(":=") + b.commit() + b.space() + value
    many = b.zero_or_more(one, b.space(), b.optional(",", b.space()))
    return b.argument_members(b.space(), many, b.peek(b.choice(last, *notation.ends[:2])))


def _in_dict(index: int, mark: str, null: str, found: re.Match[str]) -> str:
    """A token of JSON in the notation: a key (with its colon), a string or a word."""
    token, colon = found.group(), found.group(1) or ""
    if token[0] != '"':
        return null if token == "null" else token
    text = str(loads(token.removesuffix(colon)))
    if mark in text or (colon and ("<" in text or len(text) > 128)):
        raise Inexpressible("", index, f"there is no way to write {text!r} here")
    return text + colon if colon and re.fullmatch(rf"[{KEY}]+", text) else f"{mark}{text}{mark}{colon}"
