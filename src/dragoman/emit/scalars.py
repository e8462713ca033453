"""What a schema says of strings and numbers, and notes on the keywords that no rule enforces."""

from __future__ import annotations

from decimal import Decimal

from ..types import JSON
from .book import Book
from .classes import ANY
from .formats import FORMATS, format_rule
from .merging import NUMBER, STRING, Schema
from .numbers import DIGITS, Bounds
from .patterns import Unsupported, pattern
from .regular import COUNT_LIMIT, of_length
from .rules import Expr, Repeat

__all__ = ["Scalars"]

_NEVER = {
    "not": "what must not be is not enforced",
    "contains": "items are constrained all alike",
    "uniqueItems": "items are not compared",
    "propertyNames": "keys that no schema names are not constrained",
    "dependentRequired": "members are constrained each by itself",
    "dependentSchemas": "members are constrained each by itself",
    "dependencies": "members are constrained each by itself",
    "multipleOf": "digits are not divided",
    "unevaluatedItems": "not enforced",
    "unevaluatedProperties": "not enforced",
}
_NOTHING: dict[str, tuple[JSON, ...]] = {
    "uniqueItems": (False,),
    "unevaluatedProperties": (False, True, {}),  # members that no schema names are not written
    "unevaluatedItems": (True, {}),
    "propertyNames": (True, {}),
    "not": (False,),
    "contains": (True, {}),
}
"""Values of these keywords with which there is nothing to enforce."""


class Scalars:
    """Reads what schemas say of single values, and reports to the book what is lost."""

    def __init__(self, book: Book) -> None:
        self.book = book

    def texts(self, plain: Schema, where: str) -> Expr | None:
        """The texts that the schema allows; ``None`` for all."""
        if not plain.keys() & STRING:
            return None
        low, high = self.counts(plain, "minLength", "maxLength", COUNT_LIMIT, where)
        found = self._shaped(plain, where)
        if found is None:
            return Repeat(ANY, low, high) if (low, high) != (0, None) else None
        sized = of_length(found, low, high)
        if sized is None:
            for word in plain.keys() & {"minLength", "maxLength"}:
                self.book.relaxed(word, where, "beside a pattern or a format")
        return sized if sized is not None else found

    def _shaped(self, plain: Schema, where: str) -> Expr | None:
        """What the pattern or the format asks for."""
        shape, source = plain.get("format"), plain.get("pattern")
        if isinstance(source, str):
            try:
                found = pattern(source)
            except Unsupported as why:
                self.book.relaxed("pattern", where, str(why))
            else:
                if shape is not None:
                    self.book.relaxed("format", where, "beside a pattern")
                return found
        if isinstance(shape, str) and shape in FORMATS:
            return format_rule(shape)
        if shape is not None:
            self.book.relaxed("format", where, f"{shape!r} is not among the formats that are enforced")
        return None

    def counts(self, plain: Schema, low: str, high: str, limit: int, where: str) -> tuple[int, int | None]:
        """A least and a greatest count, as far as they are kept track of."""
        least, most = plain.get(low, 0), plain.get(high)
        least = int(least) if isinstance(least, (int, float)) else 0
        most = int(most) if isinstance(most, (int, float)) else None
        if least > limit:
            self.book.relaxed(low, where, f"counted up to {limit}")
        if most is not None and most > limit:
            self.book.relaxed(high, where, f"counted up to {limit}")
        return min(least, limit), most if most is None or most <= limit else None

    def bounds(self, plain: Schema, where: str) -> Bounds:
        """The bounds of numbers."""
        if not plain.keys() & NUMBER:
            return Bounds()
        low, above = self._bound(plain, "minimum", "exclusiveMinimum", where, 1)
        high, below = self._bound(plain, "maximum", "exclusiveMaximum", where, -1)
        return Bounds(low, high, above, below)

    def _bound(self, plain: Schema, word: str, exclusive: str, where: str, sign: int) -> tuple[Decimal | None, bool]:
        """The bound on one side, and whether it is left out itself; in draft 4 a boolean says that."""
        bound, edge = plain.get(word), plain.get(exclusive)
        values = [
            (Decimal(str(value)), out)
            for value, out in ((bound, edge is True), (edge, True))
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        ]
        if any(not value.is_finite() or abs(value) >= 10**DIGITS for value, _ in values):
            self.book.relaxed(word, where, f"bounds have at most {DIGITS} digits")
            return None, False
        return max(values, key=lambda pair: (pair[0] * sign, pair[1])) if values else (None, False)

    def unenforced(self, plain: Schema, where: str) -> None:
        """Report the keywords that no rule enforces."""
        for word in plain.keys() & _NEVER.keys():
            value = plain[word]
            idle = any(value is one or (value == one and type(value) is type(one)) for one in _NOTHING.get(word, ()))
            single = word == "uniqueItems" and plain.get("maxItems") in (0, 1)
            whole = word == "multipleOf" and value == 1 and plain.get("type") == "integer"
            if not (idle or single or whole):
                self.book.relaxed(word, where, _NEVER[word])
        if "if" in plain and plain.keys() & {"then", "else"}:
            self.book.relaxed("if", where, "conditions are not enforced")
