"""Calls as a name and pairs of a key and a raw value, each between markers of its own.

A value is never escaped, and its whitespace is data: layout stands only between the markers. One that holds its own
closing marker ends at the one that something legal follows.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ..errors import Inexpressible
from ..events import ProblemKind
from ..grammar import build as b
from ..grammar.nodes import Node
from ..types import ToolCall
from .calls import Calls
from .json_calls import json_members
from .writing import members_of
from .xml_calls import raw_text

__all__ = ["PairLayout", "PairMarks", "paired_values"]

NAME = r"^<>()\[\]{}`\s"
"""The characters of a name."""

KEY = r"^<\n"
"""The characters of a key."""

KINDS = ("string", "integer", "number", "boolean", "array", "object", "null")
"""The types that a marker can tell; others are left to the schema."""

Pair = tuple[str, str]


class PairMarks(Struct, frozen=True):
    """The markers, opening and closing: around a call, a key and a value, perhaps around all calls and a value's type.

    `separator` stands behind the name. Models leave out the section's, the separator and the type.
    """

    call: Pair = ("<tool_call>", "</tool_call>")
    key: Pair = ("<arg_key>", "</arg_key>")
    value: Pair = ("<arg_value>", "</arg_value>")
    section: Pair | None = None
    kind: Pair | None = None
    separator: str = ""

    def suffixed(self, suffix: str) -> PairMarks:
        """The same markers with a suffix before their closing bracket."""

        def pair(marks: Pair) -> Pair:
            return mark(marks[0]), mark(marks[1])

        def mark(text: str) -> str:
            return f"{text[:-1]}{suffix}>" if text else ""

        section, kind = (pair(marks) if marks is not None else None for marks in (self.section, self.kind))
        return PairMarks(pair(self.call), pair(self.key), pair(self.value), section, kind, mark(self.separator))

    @property
    def all(self) -> tuple[str, ...]:
        """Every marker."""
        pairs = (self.call, self.key, self.value, self.section or (), self.kind or ())
        return (*(mark for pair in pairs for mark in pair), *([self.separator] if self.separator else ()))


class PairLayout(Struct, frozen=True, kw_only=True):
    """The newlines that a template writes between the markers; a parser passes over any.

    `lead` stands before calls that follow text, `named`, `keyed` and `valued` behind name, key and value, `closing`
    before a call's closer, `between` calls and within the section's markers, `end` behind the last of them.
    """

    lead: str = ""
    named: str = ""
    keyed: str = ""
    valued: str = ""
    closing: str = ""
    between: str = ""
    end: str = ""

    @classmethod
    def lines(cls, *, lead: str = "", end: str = "") -> PairLayout:
        """Everything on a line of its own."""
        return cls(lead=lead, named="\n", keyed="\n", valued="\n", between="\n", end=end)


GLM = PairMarks()
"""The markers that most of these families have."""

TIGHT = PairLayout()
"""No newline anywhere."""


def paired_values(marks: PairMarks = GLM, layout: PairLayout = TIGHT) -> Calls:
    """Calls as a name and pairs, read in any layout; `layout` is what is written.

    What models write beside their template is read too: a value without its opening marker (reported), doubled key
    markers, missing closers, and JSON where no name or key can be: the arguments behind the name, or an object with
    both in the tag.
    """
    section = marks.section or ()
    begins = (*section[:1], marks.call[0])

    def framed(*spelled: str) -> tuple[str, ...]:
        return b.framed(*spelled) if layout.lead else spelled

    def reader(resume: tuple[str, ...]) -> Node:
        follow = (*begins, *section[1:], *resume)
        pairs = _head(marks, resume) + b.commit() + _body(marks, (marks.call[1], *follow))

        def call(opening: Node) -> Node:
            return b.call(
                opening + b.choice(b.space() + "{" + b.commit() + json_members(), pairs),
                close=b.space() + marks.call[1],
                closers=(marks.call[1], *section[1:]),
                resume=follow,
            )

        sectioned = [b.choice(*framed(section[0])) + b.space() + marks.call[0] + b.commit()] if section else []
        first = call(b.choice(*sectioned, *framed(marks.call[0])))
        ending = b.optional(b.space(), section[1]) if section else b.sequence()
        after = b.chars("\n", 0, 1) if layout.lead or layout.end else b.sequence()
        return first + b.zero_or_more(b.space(), call(b.literal(marks.call[0]))) + ending + after

    def write(call: ToolCall, index: int) -> str:
        pairs = "".join(_written(marks, layout, index, key, json) for key, json in members_of(call.arguments))
        head = f"{marks.call[0]}{call.name}{marks.separator}{layout.named}"
        return f"{head}{pairs}{layout.closing}{marks.call[1]}"

    return Calls(
        kind="keys and values in pairs",
        reader=reader,
        openers=framed(*begins),
        closers=(*section[1:], marks.call[1], marks.key[1], marks.value[1]),
        one=write,
        begin=f"{section[0]}{layout.between}" if section else "",
        between=layout.between,
        end=f"{layout.between}{section[1]}{layout.end}" if section else layout.end,
        lead=layout.lead,
        trail="" if layout.end else layout.lead,
        names=rf"[{NAME}]{{1,128}}",
        marks=marks.all,
    )


def _head(marks: PairMarks, resume: tuple[str, ...]) -> Node:
    """A name, and a look at what shows that it is one; or none at all, where another marker stands in its place.

    Behind a space, where openers are talked about, only a marker shows it. Else so does another format's body, what may
    come after a call, and the end.
    """
    name = b.name(b.chars(NAME, 1, 128))
    cut = b.optional("<", b.chars(r"^<>\s", 0, 40)) + b.end()
    marked = b.space() + b.choice(*marks.all)
    direct = name + b.peek(marked | b.space() + b.choice("{", *resume) | b.literal("(") | cut)
    return direct | b.space() + name + b.peek(marked) | b.peek(marked)


def _body(marks: PairMarks, after: tuple[str, ...]) -> Node:
    """The arguments, up to one of the markers that may come `after` them; where there are none, up to a closer."""
    divider = b.space() + b.optional(marks.separator, b.space()) if marks.separator else b.space()
    doubled = b.optional(b.space(), marks.key[0])
    key = marks.key[0] + b.commit() + doubled + b.key(b.chars(KEY, 1, 128)) + b.one_or_more(marks.key[1])
    one = key + b.space() + _value(marks, (marks.key[0], *after))
    cut = b.optional("<", b.chars(r"^<>\s", 0, 40)) + b.end(stopped=True)
    some = b.one_or_more(b.space(), one) + b.peek(b.space(), b.choice(*after, cut))
    none = b.peek(b.space(), b.choice(marks.call[1], *(marks.section or ())[1:]))
    return divider + b.choice(b.peek("{") + b.arguments(b.json()), b.argument_members(some | none))


def _value(marks: PairMarks, then: tuple[str, ...]) -> Node:
    """A value in its markers, of the type that stands before it, if one does, and else of the schema's."""
    opening, closing = marks.value

    def text(end: Node, *kinds: str) -> Node:
        return b.commit() + b.value(closing, then=then, kinds=kinds or None) + end

    closer = b.literal(closing)
    orphan = b.report(ProblemKind.ORPHAN_MARKER, closing, detail=f"a value without {opening} before it")
    plain = opening + text(closer)
    bare = b.negate(b.choice(*marks.all)) + b.peek(b.any()) + text(orphan)
    if marks.kind is None:
        return plain | bare
    start, stop = marks.kind
    items = b.optional("[", b.chars("^<", 0, 128))
    typed = [kind + items + stop + b.space() + opening + text(closer, kind) for kind in KINDS]
    other = b.chars("^<", 0, 128) + stop + b.space() + plain
    return plain | start + b.choice(*typed, other) | bare


def _written(marks: PairMarks, layout: PairLayout, index: int, key: str, json: str) -> str:
    text = raw_text(json)
    if not re.fullmatch(rf"[{KEY}]{{1,128}}", key):
        raise Inexpressible("", index, f"no argument can have the name {key!r}")
    if re.search(rf"{re.escape(marks.value[1])}\s*<", text):
        raise Inexpressible("", index, f"the value of {key!r} holds {marks.value[1]} with another marker behind it")
    named = f"{marks.key[0]}{key}{marks.key[1]}{layout.keyed}"
    return f"{named}{marks.value[0]}{text}{marks.value[1]}{layout.valued}"
