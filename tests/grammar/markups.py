"""Small dialects whose calls have keys and raw values, each in the way of a family of models."""

from __future__ import annotations

from dragoman import Dialect
from dragoman.grammar import build as b
from dragoman.grammar.nodes import Grammar, Node

__all__ = ["dsml", "kimi", "own"]


def own(name: str, calls: Node, *breaks: str) -> Dialect:
    """Text with calls in it; a break that begins none is text."""
    turn = b.zero_or_more(b.choice(calls, b.content(b.until(*breaks, low=1)), *(b.content(text) for text in breaks)))
    return Dialect(
        name=name,
        title=name,
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
    members = b.argument_members(b.zero_or_more(b.space(), parameter), b.peek(b.space(), close))
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
