"""A grammar as text: the EBNF that documents and error messages show.

Notation: ``"text"`` and ``special("text")`` literals, ``[class]``, ``a b`` in order, ``a | b`` ordered choice,
``? * + {m,n}``, ``&a`` and ``!a`` lookahead, ``^`` commit, ``until("x")`` text up to a delimiter, ``name(a)`` for what
a part means.
"""

from __future__ import annotations

from . import nodes as n
from .nodes import Grammar, Node

__all__ = ["ebnf", "ebnf_node"]


def ebnf(grammar: Grammar | Node) -> str:
    """The grammar as EBNF, one rule a line, its root first; linear in its size."""
    whole = grammar if isinstance(grammar, Grammar) else Grammar(grammar)
    lines = [f"root ::= {_text(whole.root, 0)}"]
    lines += [f"{name} ::= {_text(node, 0)}   (* entry *)" for name, node in whole.entries]
    lines += [f"{name} ::= {_text(node, 0)}" for name, node in whole.rules().items()]
    return "\n".join(lines)


def ebnf_node(node: Node, limit: int = 160) -> str:
    """One node as EBNF, cut to `limit` characters."""
    text = _text(node, 0)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _quoted(text: str) -> str:
    return '"' + _visible(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _visible(text: str) -> str:
    """The text with what can't be seen written as escapes."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _text(node: Node, level: int) -> str:
    """The text of a node inside one that binds as tightly as `level`: 0 choice, 1 sequence, 2 suffix."""
    match node:
        case n.Literal(text=text, special=special):
            return f"special({_quoted(text)})" if special else _quoted(text)
        case n.Chars(cls=cls, low=low, high=high):
            shown = "." if cls == r"\s\S" else f"[{cls}]"
            return _grouped(_visible(shown) + _times(low, high), level, 3 if (low, high) == (1, 1) else 2)
        case n.Sequence(items=(item,)) | n.Choice(items=(item,)):
            return _text(item, level)
        case n.Sequence(items=items):
            return _grouped(" ".join(_text(item, 2 if len(items) > 1 else level) for item in items) or '""', level, 1)
        case n.Choice(items=items):
            return _grouped(" | ".join(_text(item, 1) for item in items) or '!""', level, 0)
        case n.Repeat(item=item, low=low, high=high):
            return _grouped(_text(item, 3) + _times(low, high), level, 2)
        case n.Peek(item=item):
            return _grouped("&" + _text(item, 2), level, 2)
        case n.Negate(item=item):
            return _grouped("!" + _text(item, 2), level, 2)
        case n.Until(delimiters=delimiters, low=low, then=then, prose=prose, finals=finals):
            shown = ", ".join(_quoted(text) + ("$" if text in finals else "") for text in delimiters)
            if then:
                shown += f" then {' | '.join(map(_quoted, then))}"
            return f"{'prose' if prose else f'until{low or str()}'}({shown})"
        case n.Json(form=form):
            return {"value": "json", "string": "json_string", "quoted": "quoted_json"}[form.value]
        case n.Notated(notation=notation):
            return f"notated({notation.name})"
        case n.Rule(name=name) | n.Ref(name=name):
            return name
        case n.End():
            return "end"
        case n.Commit():
            return "^"
        case _:
            return _named(node)


def _named(node: Node) -> str:
    match node:
        case n.Label(item=item, meaning=n.Meaning.MARKUP):
            return _text(item, 2)
        case n.Label(item=item, meaning=meaning, channel=channel):
            return f"{meaning.value}{f'@{_visible(channel)}' if channel else ''}({_text(item, 0)})"
        case n.Tag(item=item, name=name):
            return f"{name}({_text(item, 0)})"
        case n.Field(item=item, role=role):
            return f"{role.value}({_text(item, 0)})"
        case n.Begin(item=n.Field() as field):
            return _text(field, 0)
        case n.Begin(item=item):
            return f"begin({_text(item, 0)})"
        case n.Arguments(item=item):
            return f"arguments({_text(item, 0)})"
        case n.Members(item=item):
            return f"arguments({_text(item, 0)})"
        case n.Value(until=until, kinds=kinds, notation=notation):
            told = f"@{'|'.join(kinds)}" if kinds else ""
            return f"value{told}({_text(until, 0)}{f' in {notation.name}' if notation else ''})"
        case n.Call(item=item, close=close):
            return f"call({_text(item, 2)} {_text(close, 2)})"
        case n.Header(stop=stop, cases=cases):
            then = "; ".join(_case(case) for case in cases)
            return f"header({_quoted(stop)}: {then})"
        case n.StopMark(item=item):
            return f"stop({_text(item, 0)})"
        case n.Report(item=item, kind=kind):
            return f"problem-{kind.value}({_text(item, 0)})"
        case n.Schema(item=item) | n.Trigger(item=item) | n.Gate(item=item):
            return _text(item, 2)
        case _:
            raise TypeError(f"not a node: {node!r}")


def _case(case: n.Case) -> str:
    wanted = " ".join(f"{name}=/{pattern}/" for name, pattern in case.fields) or "else"
    return f"{wanted} -> {_text(case.then, 0)}"


def _grouped(text: str, level: int, own: int) -> str:
    return f"({text})" if level > own else text


def _times(low: int, high: int | None) -> str:
    match low, high:
        case 1, 1:
            return ""
        case 0, 1:
            return "?"
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case _:
            return f"{{{low},{'' if high is None else high}}}" if low != high else f"{{{low}}}"
