"""A grammar laid out for readers: in rules with names, in lines that fit a page.

What a grammar holds several times over, since its words were used more than once, becomes a rule of its own. The
notation is that of `show`, with ``_`` for layout.
"""

from __future__ import annotations

import re

from . import nodes as n
from .nodes import Grammar
from .show import ebnf_node

__all__ = ["grammar_text", "laid_out", "named_rules"]

WIDTH = 110
"""Characters of a line; only a single item that can't be broken is longer."""

_LAYOUT = r"[ \t\r\n]{0,64}"
_REPEATED = 36
"""Characters from which on a part that comes more than once gets a name."""

_ATOM = re.compile(r'"(?:[^"\\]|\\.)*"|\[(?:[^\]\\]|\\.)*\]|=/.*?/(?= )|[()]|[^"\[()=]+|.', re.DOTALL)


def grammar_text(grammar: Grammar) -> str:
    """The whole grammar, its root first."""
    rules = named_rules(grammar)
    return "\n\n".join(f"{name} ::=\n  {laid_out(text, '  ')}" for name, text in rules)


def named_rules(grammar: Grammar) -> list[tuple[str, str]]:
    """The grammar as rules; what would be written out several times is a rule of its own."""
    rules = [("root", _text(grammar.root)), *((f"from {name}", _text(node)) for name, node in grammar.entries)]
    rules += [(name, _text(node)) for name, node in grammar.rules().items()]
    candidates = {text: node for node in dict.fromkeys(grammar.walk()) if not _enclosed(text := _text(node))}
    taken: dict[str, int] = {}
    for text, node in sorted(candidates.items(), key=lambda item: (-len(item[0]), item[0])):
        if len(text) < _REPEATED or sum(body.count(text) for _, body in rules) < 2:
            continue
        name = _name(node)
        taken[name] = taken.get(name, 0) + 1
        name = f"{name}_{taken[name]}" if taken[name] > 1 else name
        rules = [(rule, body.replace(text, name)) for rule, body in rules]
        rules.append((name, text))
    # Only now, as it makes the texts differ from those of the nodes.
    names = "|".join(name for name, _ in rules)
    return [(name, _bare(body.replace(_LAYOUT, "_"), names)) for name, body in rules]


def _enclosed(text: str) -> bool:
    """Whether brackets stand around all of it."""
    return text.startswith("(") and len(_divided(text[1:-1] + " ", " ")) > 1 and _divided(text, " ")[0] == text


def _bare(text: str, names: str) -> str:
    """Without the brackets around a single name."""
    while True:
        found = re.sub(rf"(?<![\w-])\(({names})\)", r"\1", text)
        if found == text:
            return text
        text = found


def _text(node: n.Node) -> str:
    return ebnf_node(node, limit=1 << 30)


def _name(node: n.Node) -> str:
    """A name for a part of a grammar, by what it does."""
    inside = list(node.walk())
    if isinstance(node, n.Call):
        return "call"
    if any(isinstance(item, n.Call) for item in inside):
        thinking = any(isinstance(item, n.Label) and item.meaning is n.Meaning.REASONING for item in inside)
        stopping = any(isinstance(item, n.StopMark) for item in inside)
        if stopping:
            return "turn"
        return "calls" if not thinking else "thoughts" if isinstance(node, n.Repeat) else "thought"
    for kind, name in ((n.StopMark, "stops"), (n.Members, "members"), (n.Begin, "head"), (n.Arguments, "body")):
        if any(isinstance(item, kind) for item in inside):
            both = kind is n.Begin and any(isinstance(item, n.Arguments) for item in inside)
            return ("members" if isinstance(node, n.Sequence) else "member") if both else name
    if any(isinstance(item, n.Report) for item in inside):
        return "close"
    if all(isinstance(item, (n.Choice, n.Literal)) for item in inside):
        return "markers"
    if any(isinstance(item, n.Label) and item.meaning is n.Meaning.CONTENT for item in inside):
        return "text"
    return "part"


def laid_out(text: str, indent: str, first: int = 0) -> str:
    """An expression in lines of at most `WIDTH` characters, broken at alternatives, else between items."""
    if first + len(indent) + len(text) <= WIDTH:
        return text
    alternatives = _divided(text, " | ")
    if len(alternatives) > 1:
        return f"\n{indent}| ".join(laid_out(item, indent + "  ", 2) for item in alternatives)
    cases = _divided(text, "; ")
    if len(cases) > 1:
        return f";\n{indent}".join(laid_out(item, indent + "  ") for item in cases)
    items = [_broken(item, indent) for item in _divided(text, " ")]
    lines = [items[0]]
    for item in items[1:]:
        last = lines[-1].rsplit("\n", 1)[-1]
        if "\n" in item or "\n" in lines[-1] or len(indent) + len(last) + len(item) + 3 > WIDTH:
            lines.append(item)
        else:
            lines[-1] += f" {item}"
    return f"\n{indent}".join(lines)


def _broken(item: str, indent: str) -> str:
    """One item: what stands in its brackets is set below it if it is long."""
    at = item.find("(")
    if len(indent) + len(item) <= WIDTH or at < 0 or item.startswith(('"', "[")):
        return item
    end = item.rindex(")")
    return f"{item[: at + 1]}\n{indent}    {laid_out(item[at + 1 : end], indent + '    ')}\n{indent}{item[end:]}"


def _divided(text: str, divider: str) -> list[str]:
    """The pieces between dividers that stand in no brackets and no quotes."""
    pieces, depth = [""], 0
    for atom in _ATOM.findall(text):
        depth += (atom == "(") - (atom == ")")
        if depth or atom[:1] in '"[':
            pieces[-1] += atom
        else:
            head, *others = atom.split(divider)
            pieces[-1] += head
            pieces += others
    return pieces
