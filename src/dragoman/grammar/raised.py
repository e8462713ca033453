"""Control tokens in text: raised, so that nothing spelled in ordinary characters can be taken for one.

Where token ids are known, a control token and the same characters as text are different things. A machine reads text,
so a control token is fed to it with each character *raised* to a lone surrogate, which no decoded text has; and the
grammar is rewritten so that its markers are raised too. Raised text is as long as its spelling, so positions stay what
they are. Events carry text that is lowered again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from ..errors import GrammarError
from . import nodes as n
from .nodes import Grammar, Node
from .notation import Notation

__all__ = ["UP", "has_raised", "literals", "lowered", "raised", "raised_grammar"]

FIRST = 0xDB00
"""The first of the surrogates in use. Alone, these 256 stand for nothing, and decoders mark bytes with others."""

_up: dict[int, int] = {}
_down: dict[int, int] = {}

ROOM = 256
"""Different characters that all markers together can have."""

UP = r"\udb00-\udbff"
"""The raised characters, in a class of a regular expression."""

has_raised = re.compile(f"[{UP}]").search
"""Finds a raised character in a text."""


def raised(text: str) -> str:
    """The text with every character raised; at most 256 different characters can be, of all markers that exist."""
    for code in set(map(ord, text)):
        if code not in _up:
            if len(_up) == ROOM:
                raise GrammarError("the markers", f"more than {ROOM} different characters", "read them as text")
            _up[code] = FIRST + len(_up)
            _down[_up[code]] = code
    return text.translate(_up)


def lowered(text: str) -> str:
    """The text with its raised characters as they are spelled."""
    return text.translate(_down)


def literals(grammar: Grammar) -> Iterator[str]:
    """All that the grammar reads literally: where its markers are."""
    for node in grammar.walk():
        match node:
            case n.Literal(text=text):
                yield text
            case n.Until(delimiters=delimiters, then=then):
                yield from (*delimiters, *then)
            case n.Call(closers=closers, resume=resume):
                yield from (*closers, *resume)
            case n.Header(stop=stop, start=start, abort=abort):
                yield from (stop, *start, *abort)
            case n.Notated(notation=notation) | n.Value(notation=Notation() as notation):
                yield from (*(quote.mark for quote in notation.quotes), *notation.ends)
            case _:
                pass


def raised_grammar(grammar: Grammar, tokens: tuple[str, ...], control: re.Pattern[str]) -> Grammar:
    """The grammar with these control tokens raised in it, as `control` finds them.

    What guesses from the text whether a marker is meant falls away for raised ones: code does not quote them, and what
    stands behind does not make them a mention.
    """
    raising = _Raising(tokens, control)
    return Grammar(raising.node(grammar.root), tuple((name, raising.node(entry)) for name, entry in grammar.entries))


class _Raising:
    """Rewrites nodes; each node once, since they are shared."""

    def __init__(self, tokens: tuple[str, ...], control: re.Pattern[str]) -> None:
        self._control = control
        self._escaped = {re.escape(token): raised(token) for token in tokens}  # as regular expressions spell them
        self._done: dict[Node, Node] = {}

    def node(self, node: Node) -> Node:
        known = self._done.get(node)
        if known is None:
            known = self._done[node] = self._rewritten(node)
        return known

    def _rewritten(self, node: Node) -> Node:
        match node:
            case n.Sequence(items=items):
                return n.Sequence(self._sequence([self.node(item) for item in items]))
            case n.Choice(items=items):
                return n.Choice(tuple(map(self.node, items)))
            case n.Chars(cls=cls):
                return replace(node, cls=_class(cls))
            case n.Field(item=item, pattern=pattern):
                return replace(node, item=self.node(item), pattern=pattern and self._pattern(pattern))
            case n.Value(until=until, notation=notation):
                return replace(node, until=self.node(until), notation=notation and self._notation(notation))
            case n.Notated(notation=notation):
                return replace(node, notation=self._notation(notation))
            case n.Call(item=item, close=close):
                return replace(self._literals(node), item=self.node(item), close=self.node(close))
            case n.Header(fields=fields, cases=cases):
                return replace(
                    self._literals(node),
                    fields=tuple((name, self._pattern(pattern)) for name, pattern in fields),
                    cases=tuple(
                        n.Case(tuple((name, self._pattern(like)) for name, like in case.fields), self.node(case.then))
                        for case in cases
                    ),
                )
            case n.Wrapper(item=item):
                return replace(node, item=self.node(item))
            case _:
                return self._literals(node)

    def _literals(self, node: Node) -> Node:
        """The node with the markers raised that it names itself."""
        match node:
            case n.Literal(text=text):
                return replace(node, text=self._text(text))
            case n.Until(delimiters=delimiters, then=then, prose=prose, finals=finals):
                ends = self._texts(delimiters)
                guessed = prose and not all(map(has_raised, ends))
                finals = self._texts(finals) if guessed else ()
                return replace(node, delimiters=ends, then=self._texts(then), prose=guessed, finals=finals)
            case n.Call(closers=closers, resume=resume):
                return replace(node, closers=self._texts(closers), resume=self._texts(resume))
            case n.Header(stop=stop, start=start, abort=abort):
                return replace(node, stop=self._text(stop), start=self._texts(start), abort=self._texts(abort))
            case _:
                return node

    def _sequence(self, items: list[Node]) -> tuple[Node, ...]:
        """Without what asks behind a control token whether it was only mentioned."""
        return tuple(
            item
            for before, item in zip([None, *items], items, strict=False)
            if not (isinstance(item, n.Negate) and isinstance(item.item, n.Chars) and _is_raised(before))
        )

    def _notation(self, notation: Notation) -> Notation:
        quotes = tuple(replace(quote, mark=self._text(quote.mark)) for quote in notation.quotes)
        return replace(notation, quotes=quotes, ends=self._texts(notation.ends))

    def _texts(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(self._text, texts)))

    def _text(self, text: str) -> str:
        return self._control.sub(lambda found: raised(found.group()), text)

    def _pattern(self, pattern: str) -> str:
        for escaped, up in self._escaped.items():
            pattern = pattern.replace(escaped, up)
        return pattern.replace("[^", f"[^{UP}")


def _class(chars: str) -> str:
    """A class that leaves out some characters leaves out the raised ones too."""
    return f"^{UP}{chars[1:]}" if chars.startswith("^") else chars


def _is_raised(node: Node | None) -> bool:
    """Whether this reads control tokens only."""
    match node:
        case n.Literal(text=text):
            return has_raised(text) is not None
        case n.Choice(items=items):
            return all(map(_is_raised, items))
        case n.Report(item=item) | n.Label(item=item):
            return _is_raised(item)
        case _:
            return False
