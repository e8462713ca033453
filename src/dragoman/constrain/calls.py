"""Calls of given tools, as rules: what the dialect writes around names and arguments, and what schemas allow there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from json import dumps

from msgspec import Struct

from ..emit.book import Book
from ..emit.patterns import pattern
from ..emit.raw import Ending
from ..emit.rules import EMPTY, AnyOrder, Chars, Choice, Expr, Member, Ref, Repeat, Scan, Text, choice, sequence
from ..emit.rules import Sequence as Row
from ..emit.schema import Lowering, Members
from ..grammar.schema import Shape
from ..types import JSON, Tool
from .layout import Layout, beginning, native_call
from .syntax import KEY, NUMBER, Frame, call_text, syntax_of

__all__ = ["CallBody", "Calls", "layout_text", "parameters_of"]

ANY_OBJECT: Mapping[str, JSON] = {"type": "object"}
"""The arguments of a tool that declares none, or whose declaration does not count."""

_WHOLE = '{"qkey": "qvalue"}'


def parameters_of(tool: Tool, *, strict: bool) -> Mapping[str, JSON]:
    """The schema of a tool's arguments, of any object where its own does not count."""
    return (tool.parameters if strict else None) or ANY_OBJECT


def layout_text(text: str) -> Expr:
    """Text of the layout, which may be made of control tokens."""
    return Text(text, True) if text else EMPTY


class CallBody(Struct, frozen=True):
    """A call of one tool: what is fixed of it before the model chooses a character, and all that comes then.

    Where the arguments stand alone in the text of the layout, as one JSON object, `behind` is what follows them.
    """

    tool: Tool
    opener: str
    rest: Expr
    behind: str | None = None

    @property
    def whole(self) -> Expr:
        """The call."""
        return sequence(layout_text(self.opener), self.rest)


class Calls:
    """Makes the rules of calls in one dialect."""

    def __init__(self, layout: Layout, book: Book, *, any_order: bool, strict: bool) -> None:
        self.layout, self.book = layout, book
        self.syntax = syntax_of(layout)
        if self.syntax.form.strings.mark == "'":
            book.narrowed("string", "", "strings inside of values are written in single quotes, whatever they hold")
        self.any_order, self.strict = any_order, strict

    def body(self, tool: Tool) -> CallBody:
        """A call of this tool; raises `Inexpressible` for a name or key that the dialect can't write."""
        schema = parameters_of(tool, strict=self.strict)
        lowering = Lowering(self.book, schema, tool.name, form=self.syntax.form, any_order=self.any_order)
        if self.syntax.whole:
            before, _, behind = call_text(self.layout, tool.name, _WHOLE).partition(_WHOLE)
            return self.framed(tool, before, lowering.value(schema), behind)
        return _Written(self, tool, lowering).body(schema)

    def framed(self, tool: Tool, before: str, arguments: Expr, behind: str) -> CallBody:
        """A call with its arguments between these texts, one of which may hold its id."""
        given = native_call(self.layout.dialect, tool.name, "{}", NUMBER).id
        head, found, tail = before.partition(given) if given is not None else (before, "", "")
        first = sequence(self._id(tool.name), layout_text(tail)) if found else EMPTY
        last, found_behind, rest = behind.partition(given) if given is not None else (behind, "", "")
        after = (
            sequence(layout_text(last), self._id(tool.name), layout_text(rest)) if found_behind else layout_text(last)
        )
        alone = self.syntax.whole and not found and not found_behind
        return CallBody(tool, head, sequence(first, arguments, after), behind if alone else None)

    def _id(self, name: str) -> Expr:
        dialect = self.layout.dialect
        self.book.narrowed("id", "", "ids are such as the dialect's models write")
        if dialect.ids:
            return self.book.rule("call-id", pattern(f"^(?:{dialect.ids})$"))
        start, low, high, end = _counted(self.layout, name)
        return sequence(start, Repeat(Chars(((48, 57),)), low, high), end)


def _counted(layout: Layout, name: str) -> tuple[str, int, int, str]:
    """An id that counts calls: what stands before its number, how few and many digits that has, what stands behind."""
    native = layout.dialect.native_id
    assert native is not None
    first, second, later = (native(name, index) for index in (0, 1, 12))
    same = len(beginning([first, second]))
    start = len(re.sub(r"[0-9]*\Z", "", first[:same]))
    digits = re.match("[0-9]+", first[start:])
    end = start + (len(digits.group()) if digits is not None else 0)
    fixed = len(first) == len(later)
    return first[:start], end - start if fixed else 1, end - start if fixed else 4, first[end:]


class _Written:
    """A call whose arguments are written one by one."""

    def __init__(self, calls: Calls, tool: Tool, lowering: Lowering) -> None:
        self.calls, self.tool, self.lowering = calls, tool, lowering
        self.syntax, self.book = calls.syntax, calls.book
        self._items: dict[str, Ref] = {}  # items of arrays that are written as trees, by their schema
        self.start = 0  # where in such a call its arguments begin

    def body(self, schema: Mapping[str, JSON]) -> CallBody:
        """The call."""
        layout, syntax = self.calls.layout, self.syntax
        number = syntax.frames["number"]
        alone = call_text(layout, self.tool.name, f'{{"{KEY}": 7}}')
        before, _, rest = alone.partition(f"{syntax.lead}{KEY}{number.before}7")
        behind = rest.removeprefix(number.behind)
        members = self.lowering.members(schema)
        self.start = len(before)
        arguments = self._members(members, self.tool.name)
        if not any(member.required for member in members.named):
            none = call_text(layout, self.tool.name, "{}")
            blank = none.removeprefix(before).removesuffix(behind)
            arguments = choice(arguments, layout_text(blank)) if blank else arguments
        return self.calls.framed(self.tool, before, arguments, behind)

    def _members(self, members: Members, where: str) -> Expr:
        """Arguments, or the members of an object that is written as they are."""
        keys = self._keys([member.key for member in members.named])
        written = tuple(
            Member(
                self.book.rule(f"{where}-{one.key}", self._member(key, one.schema, f"{where}/{one.key}")), one.required
            )
            for key, one in zip(keys, members.named, strict=True)
        )
        further = None
        if members.others is not None and written:
            self.book.narrowed("additionalProperties", where, "arguments that are not declared are not written")
        elif members.others is not None:
            further = self.book.rule(f"{where}-any", self._member(_ANY_KEY, members.others, where))
        between = layout_text(self.syntax.between)
        return AnyOrder(written, between, further, declared=not self.calls.any_order)

    def _argument(self, key: Expr, schema: JSON, where: str) -> Expr:
        return self.book.rule(where, self._member(key, schema, where))

    def _keys(self, keys: Sequence[str]) -> list[Expr]:
        """The keys as they are written."""
        syntax, number = self.syntax, self.syntax.frames["number"]
        values = [f"7{k:04}7" for k in range(len(keys))]
        members = ", ".join(f"{dumps(key)}: {value}" for key, value in zip(keys, values, strict=True))
        written = call_text(self.calls.layout, self.tool.name, f"{{{members}}}")
        found: list[Expr] = []
        at = self.start
        for value in values:
            at += len(syntax.lead)
            ends = written.index(number.before + value, at)
            spelled = written[at:ends]
            at = ends + len(number.before + value + number.behind.replace(KEY, spelled) + syntax.between)
            found.append(Text(spelled))
        return found

    def _member(self, key: Expr, schema: JSON, where: str) -> Expr:
        """An argument: its key, and a value in the frame of its type."""
        syntax = self.syntax
        kinds = self._kinds(schema)
        grouped: dict[Frame, list[str]] = {}
        for kind in kinds:
            if kind in syntax.frames:
                grouped.setdefault(syntax.frames[kind], []).append(kind)
        lost = [kind for kind in kinds if kind not in syntax.frames and not syntax.tree]
        if lost:
            self.book.narrowed("type", where, f"the dialect can't write {', '.join(lost)} here")
        ways = [
            sequence(
                layout_text(frame.before),
                self._value(schema if len(some) == len(kinds) else _only(schema, some), frame, key, where),
            )
            for frame, some in grouped.items()
        ]
        if syntax.other is not None and "string" in kinds:
            ways += self._others(syntax.other, schema, where)
        if syntax.tree:
            ways += self._branches(schema, kinds, key, where)
        return sequence(layout_text(syntax.lead), key, choice(*ways))

    def _kinds(self, schema: JSON) -> tuple[str, ...]:
        """The JSON types that a value may have, an integer as a number."""
        kinds = Shape(self.lowering.root, (schema,), {}).kinds
        return _KINDS if kinds is None else tuple(kind for kind in _KINDS if _names(kinds, kind))

    def _value(self, schema: JSON, frame: Frame, key: Expr, where: str) -> Expr:
        """A value and what stands behind it."""
        behind = frame.behind
        if not self.syntax.raw:
            return sequence(self.lowering.value(schema, where), _behind(behind, key))
        before, _, _ = behind.partition(KEY)
        closer = next(closer for closer in self.syntax.closers if closer in before)
        end = before[: before.index(closer) + len(closer)]
        raw = self.lowering.raw(schema, Ending(self.syntax.closers, end, marks=frozenset(self.syntax.closers)), where)
        if self.syntax.other is not None:
            raw = _not_beginning(raw, self.syntax.other.before.removeprefix(frame.before))
        return sequence(raw, _behind(behind.removeprefix(end), key))

    def _others(self, frame: Frame, schema: JSON, where: str) -> list[Expr]:
        """Text in the frame that holds any, where any may be written."""
        if not self._is_free(schema, where):
            self.book.narrowed("string", where, "without what is written in a frame of its own: markup, newlines")
            return []
        behind = frame.behind
        return [sequence(layout_text(frame.before), Scan(((behind, EMPTY),), marks=frozenset((behind,))))]

    def _is_free(self, schema: JSON, where: str) -> bool:
        """Whether an argument may be any text."""
        ending = Ending(self.syntax.closers, self.syntax.closers[0])
        return isinstance(self.lowering.raw(_only(schema, ["string"]), ending, where), Scan)

    def _branches(self, schema: JSON, kinds: Sequence[str], key: Expr, where: str) -> list[Expr]:
        """An object or array, written as arguments are."""
        syntax = self.syntax
        frame = syntax.frames["string"]
        end = _behind(frame.behind, key)
        ways: list[Expr] = []
        if "object" in kinds:
            members = self.lowering.members(_only(schema, ["object"]), where)
            if members.named:
                ways.append(sequence(layout_text(frame.before), self._members(members, where), end))
        if "array" in kinds:
            items = self.lowering.schemas.plain(_only(schema, ["array"]), where).get("items", True)
            ways.append(sequence(layout_text(frame.before), Repeat(self._item(items, where), 1), end))
        return ways

    def _item(self, schema: JSON, where: str) -> Ref:
        """An item of an array, which may hold others of its kind."""
        key = dumps(schema, sort_keys=True)
        known = self._items.get(key)
        if known is None:
            name = self.book.name(f"{where}-item")
            known = self._items[key] = Ref(name)
            self.book.define(name, self._member(Text(self.syntax.item), schema, f"{where}/items"))
        return known


_KINDS = ("string", "number", "boolean", "null", "object", "array")
_LETTER = Chars(((65, 90), (95, 95), (97, 122)))
_ANY_KEY = sequence(_LETTER, Repeat(Chars(((48, 57), *_LETTER.ranges)), 0, 63))


def _names(kinds: frozenset[str], kind: str) -> bool:
    return kind in kinds or (kind == "number" and "integer" in kinds)


def _only(schema: JSON, kinds: Sequence[str]) -> JSON:
    """The schema for values of these types only."""
    kinds = [*kinds, "integer"] if "number" in kinds else kinds
    return {"allOf": [schema, {"type": list(kinds)}]}


def _not_beginning(raw: Expr, taken: str) -> Expr:
    """Free text that does not begin as another frame of text does."""
    ways = raw.items if isinstance(raw, Choice) else (raw,)
    kept: list[Expr] = []
    for way in ways:
        if isinstance(way, Scan):
            kept.append(Row((Chars(((ord(taken[0]), ord(taken[0])),), negated=True), way)))
            kept += [sequence(layout_text(word), then) for word, then in way.words if then is not None]
        else:
            kept.append(way)
    return choice(*kept)


def _behind(text: str, key: Expr) -> Expr:
    """What stands behind a value, with the key in it where it is named once more."""
    before, found, rest = text.partition(KEY)
    return sequence(layout_text(before), key, layout_text(rest)) if found else layout_text(text)
