"""Declared fields as a grammar: regions between delimiters, and what is left between them.

Where a declaration leaves open what happens in a stream, this decides: a region that breaks loses nothing, JSON ends
where it ends and not at a closer within a string, and newlines at the edges of a text that is to be stripped are
layout, other whitespace is not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from ..events import ProblemKind
from ..grammar import build as b
from ..grammar.nodes import Grammar, Node
from ..grammar.notation import bare_dict
from ..idioms import json_calls, json_members, stops
from ..idioms.turns import QUOTES
from .declaration import Declaration, Field, refused
from .patterns import Either, Many, OneOf, Piece, Row, Text, Unreadable, begins, behind, literals, node_of
from .shapes import Shape, TagShape, shape_of, tag_of

__all__ = ["CALLS", "CONTENT", "THOUGHTS", "closers_of", "delimiters", "grammar_of", "stops_of"]

THOUGHTS = ("thinking", "reasoning_content", "reasoning")
CONTENT = "content"
CALLS = "tool_calls"

NOTHING: Mapping[str, Callable[[Node], Node]] = {}
ANYTHING = frozenset([""])

EDGE = 2
"""Newlines at an edge of a text that are layout."""


def delimiters(markers: Iterable[str]) -> tuple[str, ...]:
    """Markers to look for: where one holds another, both are found at the shorter one."""
    found = sorted(set(markers), key=lambda text: (len(text), text))
    while True:
        kept: list[str] = []
        for marker in found:
            for other in kept:
                at = marker.find(other)
                marker = marker[: at + len(other)] if at >= 0 else marker
            if marker not in kept:
                kept.append(marker)
        if kept == found:
            return tuple(kept)
        found = sorted(kept, key=lambda text: (len(text), text))


def stops_of(declaration: Declaration) -> tuple[str, ...]:
    """What ends the text that no field claims; it ends the turn."""
    field = declaration.implicit
    return closers_of(field) if field is not None else ()


def closers_of(field: Field) -> tuple[str, ...]:
    """The literals that close a field; raises `InvalidTemplate` where they are none."""
    found = literals(field.close) if field.close is not None else ()
    if found is None:
        raise refused(
            f"{field.where}.close_pattern", "a few literals for such a field", "a pattern", "give them as close"
        )
    return found


def grammar_of(declaration: Declaration, stopping: tuple[str, ...]) -> Grammar:
    """The turn, which may also begin inside a thought; raises `InvalidTemplate`."""
    return _Regions(declaration, stopping).grammar()


def _edge(field: Field | None) -> Node:
    return b.chars("\n", 0, EDGE) if field is not None and field.strips else b.sequence()


def _behind_edge(piece: Piece, field: Field | None) -> Piece:
    most = EDGE if field is not None and field.strips else 0
    return Either((*(behind("\n" * k, piece) for k in range(most, 0, -1)), piece)) if most else piece


def _framed(markers: Iterable[str], field: Field | None) -> tuple[str, ...]:
    most = EDGE if field is not None and field.strips else 0
    return tuple("\n" * k + marker for marker in markers for k in range(most + 1))


class _Regions(Struct, frozen=True):
    declaration: Declaration
    stopping: tuple[str, ...]

    def grammar(self) -> Grammar:
        fields = sorted(self.declaration.fields, key=lambda field: (-max(map(len, self.heads(field))), field.name))
        implicit = self.declaration.implicit
        blocks = [self.block(field) + _edge(implicit) for field in fields]
        rest = self.rest(blocks)
        rest = _edge(implicit) + rest
        thoughts = [self.region(field, b.sequence()) for field in fields if field.name in THOUGHTS]
        return Grammar(rest, tuple(("reasoning", thought + rest) for thought in thoughts[:1]))

    def heads(self, field: Field) -> frozenset[str]:
        """The literals with which the field begins."""
        assert field.open is not None
        found = begins(field.open)
        if "" in found:
            raise refused(f"{field.where}.open_pattern", "a pattern that begins with a literal", "one that does not")
        return found

    def rest(self, blocks: list[Node]) -> Node:
        """Regions, and what is between them, until the input ends."""
        heads = [head for field in self.declaration.fields for head in self.heads(field)]
        implicit = self.declaration.implicit
        stop = [stops(*self.stopping)] if self.stopping else []
        ends = {end for field in self.declaration.fields for end in literals(field.close or Text("")) or ()}
        orphans = sorted(ends - {"", *heads, *self.stopping})
        closing = b.choice(*orphans) + b.negate(b.one(QUOTES))
        lost = [b.report(ProblemKind.ORPHAN_MARKER, closing, detail="a closing marker with nothing open")]
        blocks = [*blocks, *stop, *(lost if orphans else [])]
        if implicit is not None:
            marks = delimiters((*_framed(heads, implicit), *orphans, *self.stopping))
            label = _label(implicit)
            text = label(b.until(*marks, low=1))
            return b.zero_or_more(b.choice(*blocks, text, *([label(b.choice(*marks))] if marks else [])))
        anchors = begins(self.declaration.anchor) - {""}
        marks = delimiters((*heads, *anchors, *orphans, *self.stopping))
        anchor = self.node("response_template", self.declaration.anchor)
        stray = b.report(ProblemKind.MALFORMED_HEADER, detail="text outside of all fields")
        layout = b.markup(b.chars(" \\t\\r\\n", 1, 64)) + (b.peek(b.choice(*marks)) | b.end())
        text = b.peek(b.any()) + b.commit() + stray + b.content(b.optional(b.choice(*marks)), b.until(*marks))
        return b.zero_or_more(b.choice(*blocks, b.markup(anchor), layout, text))

    def block(self, field: Field) -> Node:
        assert field.open is not None
        if field.name == CALLS:
            return self.calls(field)
        if field.content not in ("text", "int", "float", "bool") and field.name in (*THOUGHTS, CONTENT):
            raise refused(f"{field.where}.content", "text", field.content)
        opening = self.opening(field)
        once = b.optional(opening, _edge(field)) if field.name in THOUGHTS else b.sequence()
        return self.region(field, opening + b.commit() + _edge(field) + once)

    def opening(self, field: Field, captured: Mapping[str, Callable[[Node], Node]] = NOTHING) -> Node:
        """What opens a field, perhaps behind newlines that belong to it."""
        assert field.open is not None
        return self.node(field.where, _behind_edge(field.open, self.declaration.implicit), captured)

    def region(self, field: Field, opening: Node) -> Node:
        """A region of text: what opens it, its text, and what closes it, be it only the end."""
        label = _label(field)
        close = field.close
        ends = begins(close) - {""} if close is not None else frozenset()
        if close is not None and "" in begins(close):
            raise refused(f"{field.where}.close_pattern", "a pattern that begins with a literal", "one that does not")
        marks = delimiters((*_framed(ends, field), *self.stopping))
        text = label(b.until(*marks, low=1))
        closing = [self.node(field.where, _behind_edge(close, field))] if close is not None else []
        stopped = [b.peek(b.choice(*self.stopping)) + _unclosed(field)] if self.stopping else []
        ended = b.choice(*closing, *stopped, b.end() + _unclosed(field))
        if close is None or literals(close) is not None:
            return opening + b.commit() + b.optional(text) + ended
        begun = b.negate(b.choice(*marks)) + b.peek(b.any()) + b.commit()
        other = b.negate(b.choice(*closing, *self.stopping)) + b.peek(b.any()) + b.commit()
        piece = (begun + text) | (other + label(b.any()))
        return opening + b.commit() + b.zero_or_more(piece) + ended

    def node(
        self,
        where: str,
        piece: Piece,
        captured: Mapping[str, Callable[[Node], Node]] = NOTHING,
        after: frozenset[str] = ANYTHING,
    ) -> Node:
        """What reads a piece, before what begins as `after`."""
        try:
            return node_of(piece, captured, after)
        except Unreadable as error:
            raise refused(where, error.expected, error.found, "write it as literals, or with bounds") from None

    # Calls

    def calls(self, field: Field) -> Node:
        """A group of calls."""
        closers = closers_of(field)
        others = [head for other in self.declaration.fields for head in self.heads(other)]
        markers = delimiters((*closers, *others, *self.stopping))
        resume = tuple(marker for marker in markers if marker not in closers)
        if field.content not in ("json", "xml-inline"):
            raise refused(f"{field.where}.content", "json or xml-inline", field.content)
        shape = shape_of(field)
        assert field.open is not None
        captured: dict[str, Callable[[Node], Node]] = {}
        if shape.name.group is not None:
            captured[shape.name.group] = b.name
        if shape.id is not None and shape.id.group is not None:
            captured[shape.id.group] = b.call_id
        opening = self.opening(field, captured)
        if field.content == "json" and not shape.arguments.whole:
            return self.objects(field, shape, opening, closers, resume)
        close = b.space() + b.choice(*closers) if closers else b.sequence()
        body = self.body(field, closers)
        return b.call(opening + b.commit() + body, close=close, closers=closers, resume=resume)

    def objects(
        self, field: Field, shape: Shape, opening: Node, closers: tuple[str, ...], resume: tuple[str, ...]
    ) -> Node:
        """Calls as JSON objects with the name and the arguments in them, or an array of such."""
        if field.args.get("unquoted_keys") or field.args.get("string_delims"):
            raise refused(f"{field.where}.content_args", "JSON where the call's name is in it", "another notation")
        ids = (shape.id.key,) if shape.id is not None and shape.id.key else ("id",)
        members = json_members(names=(str(shape.name.key),), arguments=(str(shape.arguments.key),), ids=ids)
        if closers:
            return json_calls(opening, closers, resume, members)
        rest = "{" + b.commit() + members
        first = b.call(opening + b.space() + b.optional("[", b.space()) + rest, resume=resume)
        more = b.zero_or_more(b.space(), b.optional(","), b.space(), b.call(rest, resume=resume))
        return first + more + b.optional(b.space(), "]")

    def body(self, field: Field, closers: tuple[str, ...]) -> Node:
        """The arguments, which are all of the content."""
        if field.content == "xml-inline":
            return self.tags(field, tag_of(field), closers)
        marks = field.args.get("string_delims")
        if marks or field.args.get("unquoted_keys"):
            return b.space() + b.arguments(b.notated(bare_dict(_mark(field, marks))))
        if not field.args.get("allow_non_json"):
            return b.space() + b.arguments(b.json())
        raw = b.arguments(b.until(*delimiters((*closers, *self.stopping))), raw=True)
        return b.space() + ((b.peek("{") + b.commit() + b.arguments(b.json())) | raw)

    def tags(self, field: Field, tag: TagShape, closers: tuple[str, ...]) -> Node:
        """Arguments as tags; closing tags of others may stand between the last of them and the closer."""
        where = f"{field.where}.content_args.tag_pattern"
        heads = begins(tag.head) - {""}
        if not heads:
            raise refused(where, "a pattern that begins with a literal", tag.pattern)
        ends = begins(tag.tail)
        head = self.node(where, tag.head)
        key = self.node(where, tag.key, after=begins(tag.middle))
        items = tag.middle.items if isinstance(tag.middle, Row) else (tag.middle,)
        padded = isinstance(items[-1], Many) and items[-1].item == OneOf(r"\s")
        middle = self.node(where, Row(items[:-1]) if padded else tag.middle)
        loose = padded or tag.strips
        framed = delimiters(b.framed(*ends) if loose else ends)
        value = b.value(*framed, kinds=tag.kinds)
        closing = (b.chars("\n", 0, 1) if loose else b.sequence()) + self.node(where, tag.tail)
        lead = b.chars("\n", 0, 1) if loose else b.sequence()
        one = head + b.key(key) + middle + b.commit() + lead + value + closing
        other = b.chars(" \\t\\r\\n", 1, 64) | "</" + b.chars("^<>", 1, 64) + ">"
        layout = b.negate(b.choice(*closers)) + other
        return b.argument_members(b.zero_or_more(b.space(), one)) + b.zero_or_more(layout)


def _label(field: Field) -> Callable[[Node], Node]:
    if field.name == CONTENT:
        return b.content
    if field.name in THOUGHTS:
        return b.reasoning
    return lambda node: b.tag(field.name, node)


def _unclosed(field: Field) -> Node:
    if field.name not in THOUGHTS or field.close is None:
        return b.sequence()
    return b.report(ProblemKind.UNCLOSED_REASONING, detail="the thought is not closed")


def _mark(field: Field, marks: object) -> str:
    """The mark around the strings of another notation."""
    if not marks:
        return "'"
    match marks:
        case [[str(opening), str(closing)]] if opening == closing and opening:
            return opening
    raise refused(f"{field.where}.content_args.string_delims", "one pair of equal marks", marks)
