"""Values as raw text up to a closer, as XML-like dialects have them, by schema.

A string stands as it is, everything else as in the form. What is let through has to be read back as a value that the
schema allows: the parser types raw text by the kinds that the schema names (`grammar.value`), so a string that looks
like a value of another one of its kinds is left out where the schema would refuse that value.
"""

from __future__ import annotations

from collections.abc import Iterable
from json import loads
from typing import TYPE_CHECKING

from msgspec import Struct

from ..errors import InvalidTool
from ..grammar.schema import Shape, allowed
from ..grammar.value import sink_for
from ..types import JSON
from .classes import ALL, ANY, Ranges, minus, one_of, ranges_of
from .merging import ARRAY, NUMBER, OBJECT, REF_DEPTH, Schema, spelled_out
from .regular import not_beginning
from .rules import EMPTY, Expr, Lexeme, Repeat, Scan, Text, choice, sequence
from .spelling import spelled

if TYPE_CHECKING:
    from .schema import Lowering

__all__ = ["Ending", "RawValues"]

_FIRSTS = {
    "integer": "-0123456789",
    "number": "-0123456789",
    "boolean": "tTfF",
    "null": "nN",
    "object": "{",
    "array": "[",
}
"""With which characters raw text of a kind begins, behind layout."""

_NARROWING = {"integer": NUMBER, "number": NUMBER, "object": OBJECT, "array": ARRAY}
_LAYOUT = " \t\r\n"


class Ending(Struct, frozen=True):
    """How raw text ends: at the first of the `closers`; `written` is what templates write there, one of them in it.

    `tail` follows the closer, whichever it is. `marks` are the closers that are markers.
    """

    closers: tuple[str, ...]
    written: str
    tail: str = ""
    marks: frozenset[str] = frozenset()

    @property
    def firsts(self) -> str:
        """The characters with which closers begin, which constrained text does without."""
        return "".join(sorted({closer[0] for closer in self.closers}))

    @property
    def framed(self) -> bool:
        """Whether a newline before the closer is one of the template's, which is not part of the text."""
        return self.parts[0].startswith("\n")

    @property
    def scan(self) -> Expr:
        """Any text up to and including the first closer."""
        return Scan(tuple((closer, sequence(self.tail)) for closer in self.closers), marks=self.marks)

    def behind(self, text: Expr) -> Expr:
        """Text of which no closer is a part, up to and including the one that is written."""
        lead, closer = self.parts
        return sequence(text, lead, Text(closer, mark=closer in self.marks), self.tail)

    @property
    def parts(self) -> tuple[str, str]:
        """What is written before the closer, and the closer."""
        found = [(self.written.find(closer), closer) for closer in self.closers if closer in self.written]
        at, closer = min(found)
        return self.written[:at], closer


class RawValues:
    """Writes the values of one lowering as raw text with one ending."""

    def __init__(self, lowering: Lowering, ending: Ending) -> None:
        self.ending, self.book = ending, lowering.book
        self.inner = lowering.without(ending.closers)

    def value(self, schema: JSON, where: str) -> Expr:
        """A value up to and including its closer; raises `InvalidTool` for a schema that nothing satisfies."""
        plain = self.inner.schemas.plain(schema, where)
        leaves = list(self._leaves(plain, where, 0))
        kinds = Shape(self.inner.root, (schema,), {}).kinds or frozenset(["string"])
        avoid = "".join(_FIRSTS[kind] for kind in sorted(kinds - {"string"}) if self._refused(kind, leaves))
        ways: dict[Expr, None] = {}
        for leaf, place in leaves:
            ways.update(dict.fromkeys(self._leaf(leaf, kinds, avoid, place)))
        if not ways:
            raise InvalidTool(where, "a schema that something satisfies as raw text", schema, tool=self.inner.where)
        if self.ending.scan in ways:  # any text at all: the other ways are among it
            return self.ending.scan
        return choice(*ways)

    def _leaves(self, plain: Schema, where: str, depth: int) -> Iterable[tuple[Schema, str]]:
        if depth > REF_DEPTH:
            raise InvalidTool(where, "a schema whose references lead to an end", plain, tool=self.inner.where)
        for leaf, place in self.inner.leaves(plain, where):
            if "$ref" in leaf:
                yield from self._leaves(self.inner.schemas.plain(leaf, place), place, depth + 1)
            else:
                yield leaf, place

    def _refused(self, kind: str, leaves: list[tuple[Schema, str]]) -> bool:
        """Whether the schema refuses some values of this kind."""
        for leaf, where in leaves:
            named = self.inner.schemas.kinds(leaf, where)
            if (named is None or kind in named) and not leaf.keys() & (_NARROWING.get(kind, frozenset()) | {"enum"}):
                return False
        return True

    def _leaf(self, leaf: Schema, kinds: frozenset[str], avoid: str, where: str) -> Iterable[Expr]:
        named = self.inner.schemas.kinds(leaf, where)
        self.inner.scalars.unenforced(leaf, where)
        if "enum" in leaf:
            yield from self._listed(leaf, named, kinds, where)
            return
        for kind in sorted(kinds) if named is None else self.inner.kinds(leaf, named):
            if kind == "string":
                yield from self._string(leaf, avoid, where)
            elif allowed(kinds, kind):
                value = self.inner.typed(kind, leaf, where)
                if value is not None:
                    yield self.ending.behind(value)

    def _listed(self, leaf: Schema, named: frozenset[str] | None, kinds: frozenset[str], where: str) -> Iterable[Expr]:
        """The values of an enumeration that are read as themselves."""
        ways: list[Expr] = []
        values = self.inner.enumerated(leaf, named, where)
        for value in values:
            way = Text(value) if isinstance(value, str) else self.inner.values.literal(value)
            if way is not None and (not isinstance(value, str) or self._is_read(value, kinds)):
                ways.append(way)
        if len(ways) < len(values):
            self.book.narrowed("enum", where, "some values would be read as others")
        if ways:
            yield self.ending.behind(choice(*ways))

    def _is_read(self, text: str, kinds: frozenset[str]) -> bool:
        """Whether this text, written as it is, comes back as the string that it is."""
        lead, _ = self.ending.parts
        whole = text + self.ending.written
        first = min(found for closer in self.ending.closers if (found := whole.find(closer)) >= 0)
        framed = self.ending.framed or not (text.startswith("\n") or text.endswith("\n"))
        sink = sink_for(kinds)
        json = sink.open() + sink.feed(text) + (sink.close() or "")
        return first == len(text) + len(lead) and framed and spelled_out(loads(json)) == spelled_out(text)

    def _string(self, leaf: Schema, avoid: str, where: str) -> Iterable[Expr]:
        """Strings that begin with none of the characters to `avoid`."""
        texts = self.inner.scalars.texts(leaf, where)
        if avoid:
            self.book.narrowed("string", where, "none that begins like a value of another type")
        if texts is None:
            yield from self._free(avoid)
        elif isinstance(texts, Repeat) and texts.item == ANY and texts.high is None:
            self.book.narrowed("minLength", where, f"none of the first characters is one of {self.ending.firsts!r}")
            yield self._at_least(texts.low, avoid)
        else:
            yield from self._constrained(texts, avoid, where)

    def _constrained(self, texts: Expr, avoid: str, where: str) -> Iterable[Expr]:
        lead, closer = self.ending.parts
        banned = self.ending.firsts if self.ending.framed else f"{self.ending.firsts}\n"
        begun = not_beginning(texts, ranges_of(avoid + _LAYOUT)) if avoid else texts
        if begun is None:
            return
        written = spelled(begun, None, banned, closers=self.ending.closers)
        if written is None:
            self.book.relaxed("pattern", where, f"nothing of it can be written without {banned!r}")
            yield from self._free(avoid)
            return
        if written != texts:
            self.book.narrowed("string", where, f"without {banned!r}, with which its end begins")
        if closer in self.ending.marks:
            yield sequence(Lexeme(sequence(written, lead)), Text(closer, mark=True), self.ending.tail)
        else:
            yield sequence(Lexeme(sequence(written, lead, closer)), self.ending.tail)

    def _free(self, avoid: str) -> Iterable[Expr]:
        """Any strings, but for those that begin so."""
        return (self.ending.behind(EMPTY), self._at_least(1, avoid)) if avoid else (self.ending.scan,)

    def _at_least(self, low: int, avoid: str) -> Expr:
        """Strings with so many characters before a closer can begin; a newline does not count at their end."""
        inside = minus(ALL, ranges_of(self.ending.firsts))
        edge = minus(inside, ranges_of("\n"))
        first = minus(inside if self.ending.framed and low > 1 else edge, ranges_of(avoid + _LAYOUT) if avoid else ())
        middle = [Repeat(_one(inside), low - 2, low - 2)] if low > 2 else []
        last = [_one(edge)] if low > 1 else []
        return sequence(_one(first), *middle, *last, self.ending.scan)


def _one(ranges: Ranges) -> Expr:
    found = one_of(ranges)
    assert found is not None  # of all characters, some are left
    return found
