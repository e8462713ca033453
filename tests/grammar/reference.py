"""A parsing expression interpreter as short as the literature's: the oracle for the machine.

It has the whole text, recurses, and returns where a node ends and which tags it saw, or ``None``.
"""

from __future__ import annotations

import re
from json import JSONDecoder

from dragoman.grammar import nodes as n

Tags = tuple[tuple[str, str], ...]
Outcome = tuple[int, Tags] | None
_decode = JSONDecoder().raw_decode


def match(node: n.Node, text: str, at: int, rules: dict[str, n.Node], tag: str | None = None) -> Outcome:
    """Where the node ends if it matches at `at`, and the (tag, text) pieces of what it read."""
    match node:
        case n.Literal(text=word):
            return _read(text, at, at + len(word), tag) if text.startswith(word, at) else None
        case n.Chars(cls=cls, low=low, high=high):
            found = re.compile(f"[{cls}]{{{low},{'' if high is None else high}}}").match(text, at)
            return _read(text, at, found.end(), tag) if found else None
        case n.Sequence(items=items):
            return _in_order(items, text, at, rules, tag)
        case n.Choice(items=items):
            return next((out for item in items if (out := match(item, text, at, rules, tag))), None)
        case n.Repeat():
            return _repeated(node, text, at, rules, tag)
        case n.Peek(item=item):
            return (at, ()) if match(item, text, at, rules) else None
        case n.Negate(item=item):
            return None if match(item, text, at, rules) else (at, ())
        case n.Until(delimiters=delimiters, low=low):
            ends = [found for word in delimiters if (found := text.find(word, at)) >= 0]
            end = min(ends, default=len(text))
            return _read(text, at, end, tag) if end - at >= low else None
        case n.Json(form=form):
            return _json(form, text, at, tag)
        case n.Rule(name=name) | n.Ref(name=name):
            return match(rules[name], text, at, rules, tag)
        case n.End():
            return (at, ()) if at == len(text) else None
        case n.Tag(item=item, name=name):
            out = match(item, text, at, rules, name)
            return (out[0], (*out[1], (name, "\0"))) if out else None
        case n.Label(item=item):
            return match(item, text, at, rules, None)
    raise TypeError(node)


def _read(text: str, at: int, end: int, tag: str | None) -> Outcome:
    return end, ((tag, text[at:end]),) if tag is not None and end > at else ()


def _in_order(items: n.Nodes, text: str, at: int, rules: dict[str, n.Node], tag: str | None) -> Outcome:
    tags: Tags = ()
    for item in items:
        out = match(item, text, at, rules, tag)
        if out is None:
            return None
        at, tags = out[0], tags + out[1]
    return at, tags


def _repeated(node: n.Repeat, text: str, at: int, rules: dict[str, n.Node], tag: str | None) -> Outcome:
    tags: Tags = ()
    count = 0
    while node.high is None or count < node.high:
        out = match(node.item, text, at, rules, tag)
        if out is None:
            return None if count < node.low else (at, tags)
        count += 1
        tags += out[1]
        if out[0] == at:
            break
        at = out[0]
    return at, tags


def _json(form: n.JsonForm, text: str, at: int, tag: str | None) -> Outcome:
    first = text[at : at + 1]
    if first in ("", " ", "\n", "\t") or (form is n.JsonForm.STRING and first != '"'):
        return None
    try:
        _, end = _decode(text, at)
    except ValueError:
        return None
    return _read(text, at, end, tag)
