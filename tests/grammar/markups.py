"""Small dialects whose calls have keys and raw values, each in the way of a family of models."""

from __future__ import annotations

from dragoman import Dialect
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar, Node

__all__ = ["TAG", "dsml", "kimi", "minimax", "own"]


def own(name: str, calls: Node, *breaks: str) -> Dialect:
    """Text with calls in it; a break that begins none is text."""
    turn = b.zero_or_more(b.choice(calls, b.content(b.until(*breaks, low=1)), *(b.content(text) for text in breaks)))
    return Dialect(
        name=name,
        doc="",
        grammar=Grammar(turn),
        writer=lambda message: message.text,
        models=(),
        marks=breaks,
        stops=(),
        source="the test",
        examples=(),
    )


# DeepSeek's: an attribute says whether a value is a string or JSON.


def dsml() -> Dialect:
    end, close = "</parameter>", "</invoke>"
    raw = b.value(end, kinds=("string",))
    typed = b.choice(
        ' string="true">' + raw,
        ' string="false">' + b.value(end, kinds=b.ANY_JSON),
        ">" + b.value(end, kinds=("string", *b.ANY_JSON)),
    )
    parameter = '<parameter name="' + b.key(b.chars('^"\n', 1, 128)) + '"' + b.commit() + typed + end
    members = b.argument_members(
        b.zero_or_more(b.space(), parameter), b.peek(b.space(), close), unwrap=("arguments", "input")
    )
    body = b.space() + (b.arguments(b.peek("{") + b.json()) | members)
    call = b.call(
        '<invoke name="' + b.name(b.chars('^"\n', 1, 128)) + '">' + b.commit() + body,
        close=b.space() + close,
        closers=(close,),
        resume=("<invoke",),
    )
    return own("dsml", call, "<invoke")


# Kimi K3's: an attribute names the type, and attributes have entities.


def kimi() -> Dialect:
    sep, close = "<|sep|>", "<|close|>call<|sep|>"
    name = b.chars('^"', 1, 128)
    typed = b.choice(
        *(f'{kind}"{sep}' + b.value("<|close|>", kinds=(kind,)) for kind in ("string", "number", "boolean", "null")),
        *(f'{kind}"{sep}' + b.value("<|close|>", kinds=(kind,)) for kind in ("object", "array")),
    )
    key = b.key(name, decode=b.Decoding.ENTITIES)
    argument = '<|open|>argument key="' + key + '" type="' + typed + f"<|close|>argument{sep}"
    head = b.begin(
        b.field_name(name, decode=b.Decoding.ENTITIES) + '" index="' + b.call_id(name, decode=b.Decoding.ENTITIES)
    )
    call = b.call(
        '<|open|>call tool="' + head + f'"{sep}' + b.commit() + b.argument_members(b.zero_or_more(argument)),
        close=b.literal(close),
        closers=(close,),
        resume=("<|open|>call",),
    )
    return own("kimi", call, "<|open|>call")


# MiniMax M3's: a tree of elements, each tag behind a token.

TAG = "]<]minimax[>["


def minimax() -> Dialect:
    opening = b.space() + TAG + "<" + b.negate("/") + b.commit()
    nested = b.argument_members(b.one_or_more(opening, b.ref("element")), b.space(), item="item")
    inside = b.peek(opening_ahead()) + b.commit() + nested | b.value(TAG)
    element = b.rule("element", b.key(b.chars("^<>/", 1, 128)) + ">" + inside + TAG + "</" + b.until(">") + ">")
    members = b.argument_members(b.zero_or_more(opening, element), b.peek(b.space(), TAG + "</invoke"), item="item")
    close = TAG + "</invoke>"
    call = b.call(
        TAG + '<invoke name="' + b.name(b.chars('^"', 1, 128)) + '">' + b.commit() + members,
        close=b.space() + close,
        closers=(close,),
        resume=(TAG + "<invoke",),
    )
    return own("minimax", call, TAG + "<invoke")


def opening_ahead() -> Node:
    """An opening tag, behind layout."""
    return b.space() + TAG + "<" + b.one("^/")
