"""Values of which no schema says more than the type: the rules that all constraints in a book share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from json import dumps

from ..types import JSON
from .book import Book
from .forms import Form
from .numbers import INTEGER, NUMBER
from .rules import EMPTY, AnyOrder, Expr, Lexeme, Member, Ref, Repeat, Text, chars, choice, sequence
from .spelling import Spelling

__all__ = ["Values"]

INDENT_LIMIT = 40
"""Characters of a line's indent: ten levels of four."""

FORMS_LIMIT = 256
"""Forms of which what is always the same is kept."""

_INTEGER, _NUMBER = Lexeme(INTEGER), Lexeme(NUMBER)
_SPACE = choice(EMPTY, " ", sequence("\n", Repeat(chars(" \t"), 0, INDENT_LIMIT)))


class Values:
    """Writes values in one form into one book; no text in them holds one of the `closers`."""

    def __init__(self, book: Book, form: Form, closers: tuple[str, ...] = ()) -> None:
        self.book, self.form, self.closers = book, form, closers
        self.spelling = _spelling(form, closers)
        self.space = book.rule("space", _SPACE) if form.layout else EMPTY
        self.comma = _spaced(self.space, "," if form.layout else form.comma)
        self.colon = _spaced(self.space, ":" if form.layout else form.colon)
        self.null = Text(form.null)
        self.boolean = choice(form.true, form.false)

    @property
    def string(self) -> Ref:
        """Any string."""
        return self.book.rule("string", self.spelling.string)

    @property
    def integer(self) -> Ref:
        """Any integer."""
        return self.book.rule("integer", _INTEGER)

    @property
    def number(self) -> Ref:
        """Any number."""
        return self.book.rule("number", _NUMBER)

    @property
    def anything(self) -> Ref:
        """Any value."""
        return self._recursive("value")

    @property
    def object(self) -> Ref:
        """Any object."""
        return self._recursive("object")

    @property
    def array(self) -> Ref:
        """Any array."""
        return self._recursive("array")

    def _recursive(self, which: str) -> Ref:
        shared, key = self.book.shared, (self.form, self.closers)
        if (which, key) not in shared:
            names = {name: self.book.name(name) for name in ("value", "object", "array")}
            shared.update({(name, key): Ref(given) for name, given in names.items()})
            anything = shared["value", key]
            scalars = (self.string, self.number, self.boolean, self.null)
            self.book.define(names["value"], choice(shared["object", key], shared["array", key], *scalars))
            member = self.book.rule("member", sequence(self.spelling.any_key, self.colon, anything))
            self.book.define(names["object"], self.braces((), member))
            self.book.define(names["array"], self.brackets(self.listed(anything, 0, None)))
        return shared[which, key]

    def braces(self, members: tuple[Member, ...], extra: Expr | None = None, *, declared: bool = False) -> Expr:
        """An object."""
        if not members and extra is None:
            return sequence("{", self.space, "}")
        return sequence("{", self.space, AnyOrder(members, self.comma, extra, declared), self.space, "}")

    def brackets(self, items: Expr) -> Expr:
        """An array."""
        return sequence("[", self.space, items, self.space, "]")

    def listed(self, item: Expr, low: int, high: int | None) -> Expr:
        """Items with commas between them."""
        if high == 0:
            return EMPTY
        more = Repeat(sequence(self.comma, item), max(low - 1, 0), None if high is None else high - 1)
        some = sequence(item, more) if high != 1 else item
        return some if low > 0 else Repeat(some, 0, 1)

    def literal(self, value: JSON) -> Expr | None:
        """This very value, in any layout, its members in any order; ``None`` if there is no way to write it."""
        match value:
            case bool():
                return Text(self.form.true if value else self.form.false)
            case None:
                return self.null
            case str():
                return self.spelling.literal(value)
            case int() | float():
                whole = isinstance(value, float) and value.is_integer() and abs(value) < 1 << 53
                return choice(dumps(value), str(int(value))) if whole else Text(dumps(value))
            case Mapping():
                pairs = [(self.spelling.key(key), self.literal(item)) for key, item in value.items()]
                members = [Member(sequence(key, self.colon, item)) for key, item in pairs if key and item]
                return self.braces(tuple(members)) if len(members) == len(pairs) else None
            case _:
                items = [item for part in value if (item := self.literal(part)) is not None]
                parts = [part for item in items for part in (self.comma, item)][1:]
                return self.brackets(sequence(*parts)) if len(items) == len(value) else None


@lru_cache(FORMS_LIMIT)
def _spaced(space: Expr, text: str) -> Expr:
    return sequence(space, text, space)


@lru_cache(FORMS_LIMIT)
def _spelling(form: Form, closers: tuple[str, ...]) -> Spelling:
    return Spelling(form, closers)
