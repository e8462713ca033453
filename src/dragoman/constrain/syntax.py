"""How a dialect writes a call's arguments, measured: as one JSON object, or each between markers of its own.

As in `layout`, the dialect's writer is asked. A value of each JSON type is written as the only argument; what stands
before and behind it, and what became of its characters, tells how such values are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps

from msgspec import Struct

from ..dialect import Dialect
from ..emit.forms import JSON, PYTHON, Form, Strings
from ..errors import Inexpressible, InvalidDialect
from ..grammar.nodes import Notated, Value
from ..types import Message
from .layout import CALL, END, START, Layout, beginning, native_call

__all__ = ["KEY", "NUMBER", "Frame", "Syntax", "call_text", "syntax_of"]

NUMBER = 90817
"""A number of a call that no name has in it by chance, to know its id by."""

KEY, OTHER, STRING, LEAF = "qkey", "zother", "qvalue", "qleaf"

_PROBES = {
    "number": ("987654321",),
    "boolean": ("true", "True"),
    "null": ("null", "None"),
}
"""What values of the simple types may look like, JSON first."""

_AWKWARD = ("q\"v'v", "q\\v")
"""Text that only raw text holds as it is."""

_OBJECT = '{"qin": "qleaf", "qnone": null, "qyes": true, "qno": false}'


class Frame(Struct, frozen=True):
    """What stands between an argument's key and its value, and behind the value: both are the layout's own."""

    before: str
    behind: str


class Syntax(Struct, frozen=True):
    """The arguments of a call.

    Where they are a `whole`, they are one JSON object, the same as the call's own text. Else each argument is `lead`,
    its key, and a value in the `frames` of its type (``string``, ``number``, ``boolean``, ``null``, ``object``,
    ``array``; one that can't be written is missing), with `between` between two of them. Values are in the `form`;
    strings that are arguments are `raw` text, which one of the `closers` ends. `other` frames text that would not fit
    into the plain one. Arguments that are a `tree` write objects and arrays as arguments again, the items of an array
    under the key `item`.
    """

    whole: bool = True
    lead: str = ""
    between: str = ""
    frames: Mapping[str, Frame] = {}
    form: Form = JSON
    raw: bool = False
    closers: tuple[str, ...] = ()
    other: Frame | None = None
    tree: bool = False
    item: str = ""


def call_text(layout: Layout, name: str, arguments: str) -> str:
    """A call alone, from its name or id to where what follows it may differ; raises `Inexpressible`."""
    dialect = layout.dialect
    written = dialect.render(Message("assistant", (native_call(dialect, name, arguments, NUMBER),)))
    before, behind = layout.between[START, CALL], layout.between[CALL, END]
    return written[len(before) : len(written) - len(behind)]


def syntax_of(layout: Layout) -> Syntax:
    """How the dialect of this layout writes arguments; raises `InvalidDialect` where that can't be told."""
    whole = '{"qkey": {"qin": ["qleaf"]}}'
    if whole in call_text(layout, "qname", whole):
        return Syntax()
    measured = _Measured(layout)
    form = _form(layout, measured)
    raw = measured.raw and not form.bare
    frames = measured.frames if raw else measured.frames | {"string": measured.frames["number"]}
    return Syntax(
        whole=False,
        lead=measured.lead,
        between=measured.between,
        frames=frames,
        form=form,
        raw=raw,
        closers=measured.closers if raw else (),
        other=measured.other(),
        tree=measured.tree,
        item=measured.item,
    )


class _Measured:
    """The pieces around the arguments of one dialect."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        alone = self._call(f'"{KEY}": "{STRING}"')
        both = self._call(f'"{KEY}": "{STRING}", "{OTHER}": "{LEAF}"')
        start, close = alone.split(STRING)
        middle, _ = both.removeprefix(start + STRING).split(LEAF)
        before = start[start.index(KEY) + len(KEY) :]
        opened = start[: start.index(KEY)]
        divided = middle[: middle.index(OTHER)]
        self.raw = all(text in self._call(f'"{KEY}": {dumps(text)}') for text in _AWKWARD)
        self.closers = _closers(layout.dialect, close) if self.raw else ()
        behind = beginning([close, divided])
        if self.closers:
            behind = next(close[: close.index(closer) + len(closer)] for closer in self.closers)
        if KEY in close:
            behind = close[: close.index(KEY) + len(KEY)] + before
        apart = divided.removeprefix(behind)
        self.lead = beginning([opened[::-1], apart[::-1]])[::-1]
        self.head, self.tail = opened.removesuffix(self.lead), close.removeprefix(behind)
        self.between = apart.removesuffix(self.lead)
        self.frames = {"string": Frame(before, behind)}
        self.tree, self.item = False, ""
        for kind, spelled in _PROBES.items():
            self._measure(kind, spelled[0], spelled)
        self._nested()

    def _call(self, members: str) -> str:
        return call_text(self.layout, "qname", f"{{{members}}}")

    def inside(self, json: str) -> str:
        """What stands between an argument's key and the end of the call's own text behind it, for this value."""
        written = self._call(f'"{KEY}": {json}').removeprefix(self.head + self.lead + KEY)
        return written.removesuffix(self.tail)

    def written(self, kind: str, json: str) -> str:
        """The text of a value in the frame of its type."""
        frame = self.frames[kind]
        return self.inside(json).removeprefix(frame.before).removesuffix(frame.behind)

    def _measure(self, kind: str, json: str, spelled: tuple[str, ...]) -> None:
        """The frame of a type, told by a value of it that may be spelled in these ways."""
        try:
            inside = self.inside(json)
        except Inexpressible:
            return
        for text in spelled:
            at = inside.rfind(text)
            if at >= 0:
                self.frames[kind] = Frame(inside[:at], inside[at + len(text) :])
                return
        raise InvalidDialect(self.layout.dialect.name, f"a {kind} argument written as one of {spelled}", repr(inside))

    def _nested(self) -> None:
        """The frames of objects and arrays, or that they are written as trees."""
        inner = self.inside(f'{{"{OTHER}": "{STRING}"}}')
        strings = self.frames["string"]
        member = f"{self.lead}{OTHER}{strings.before}{STRING}{strings.behind}"
        member = member if OTHER in inner else ""
        if member and member.replace(OTHER, KEY) in self.inside(f'{{"{KEY}": "{STRING}"}}') and "{" not in inner:
            self.tree = True
            listed = self.inside(f'["{STRING}"]')
            at = listed.index(self.lead) + len(self.lead)
            self.item = listed[at : listed.index(strings.before, at)]
            return
        for kind, json, ends in (("object", _OBJECT, "{}"), ("array", f'["{LEAF}"]', "[]")):
            inside = self.inside(json)
            first, last = _brackets(inside, ends)
            self.frames[kind] = Frame(inside[:first], inside[last:])

    def other(self) -> Frame | None:
        """The frame of text with markup and newlines in it, if that is another one."""
        text = "q<v&q\nq"
        try:
            inside = self.inside(dumps(text))
        except Inexpressible:
            return None
        frame = self.frames["string"]
        before, found, behind = inside.partition(text)
        return Frame(before, behind) if found and (before, behind) != (frame.before, frame.behind) else None


def _brackets(text: str, ends: str) -> tuple[int, int]:
    """Where the outermost pair of brackets around the leaf begins and ends."""
    first = text.rindex(ends[0], 0, text.index(LEAF))
    last = text.index(ends[1], text.index(LEAF)) + 1
    return first, last


def _form(layout: Layout, measured: _Measured) -> Form:
    """The notation of values inside of others, and of all that are no raw text."""
    if measured.tree or "object" not in measured.frames:
        return JSON
    written = measured.written("object", _OBJECT)
    if written == _OBJECT:
        return JSON
    marks = {
        node.notation.quotes[0].mark
        for node in layout.dialect.grammar.walk()
        if isinstance(node, Notated) and not node.notation.quotes[0].copied
    }
    strings = [Strings(), PYTHON.strings, *(Strings(mark, "", special=True) for mark in sorted(marks))]
    for each in strings:
        for true, false, null in (("true", "false", "null"), ("True", "False", "None"), ("true", "false", "None")):
            form = Form(true, false, null, each, bare=not each.escaped)
            if written == _spelled(form):
                return form
    raise InvalidDialect(layout.dialect.name, "an object in a notation that is known", repr(written))


def _spelled(form: Form) -> str:
    """The probe of objects as a notation writes it."""
    mark = form.strings.mark
    key = "" if form.bare else mark
    members = {"qin": f"{mark}qleaf{mark}", "qnone": form.null, "qyes": form.true, "qno": form.false}
    return "{" + ", ".join(f"{key}{name}{key}: {value}" for name, value in members.items()) + "}"


def _closers(dialect: Dialect, behind: str) -> tuple[str, ...]:
    """The delimiters of raw text that the parser would see where the writer ends it; none that ends in another.

    None at all where nothing in the grammar reads raw text that this ends.
    """
    found = {
        closer
        for node in dialect.grammar.walk()
        if isinstance(node, Value) and any(behind.startswith(each) for each in node.until.delimiters)
        for closer in node.until.delimiters
    }
    return tuple(sorted(one for one in found if not any(one != other and one.endswith(other) for other in found)))
