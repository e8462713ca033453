"""JSON Schema as rules: what a value may be, written in a form.

`Lowering` covers types, members, items, alternatives, references (recursive ones too), enumerations, bounds, patterns
and formats. What it can't enforce it relaxes, and what would be legal but is never let through it narrows: each time
with a note in the book, so that callers know what is left to check. How schemas are combined is in `merging`, raw text
in `raw`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations

from msgspec import Struct

from ..errors import InvalidTool
from ..grammar.schema import allowed
from ..types import JSON
from .book import Book
from .forms import JSON as JSON_FORM
from .forms import Form
from .merging import ARRAY, KEYWORDS, NUMBER, OBJECT, REF_DEPTH, STRING, Schema, Schemas, common, kind_of, spelled_out
from .numbers import Bounds, integer, number
from .raw import Ending, RawValues
from .regular import COUNT_LIMIT
from .rules import EMPTY, Expr, Lexeme, Member, Ref, Repeat, choice, sequence
from .scalars import Scalars
from .values import Values

__all__ = ["Lowering", "Members", "Property"]


class Property(Struct, frozen=True):
    """A member that a schema names."""

    key: str
    schema: JSON
    required: bool = False


class Members(Struct, frozen=True):
    """An object's members: the named ones in order, and the schema of all others; ``None``: there are no others."""

    named: tuple[Property, ...]
    others: JSON | None


class Lowering:
    """Makes rules of the schemas of one document, its `root`; `where` names it in notes, such as a tool's name.

    Members stand in `any_order`, or in the schema's. Without `strict`, all that is asked of a value is its form. With
    `closers`, no text in a value holds one of them. All methods raise `InvalidTool` for a schema that can't be read or
    that nothing satisfies.
    """

    def __init__(
        self,
        book: Book,
        root: Schema,
        where: str,
        *,
        form: Form = JSON_FORM,
        any_order: bool = True,
        strict: bool = True,
        closers: tuple[str, ...] = (),
    ) -> None:
        self.book, self.root, self.where, self.form = book, root, where, form
        self.any_order, self.strict = any_order, strict
        self.schemas = Schemas(book, root, where)
        self.values = Values(book, form, closers)
        self.scalars = Scalars(book)
        self._known: dict[str, Expr] = {}  # what references lead to
        self._names: dict[str, str | None] = {}  # the references that are being followed: rules that hold themselves
        self._raw: dict[Ending, RawValues] = {}
        self._cut: set[str] = set()  # references that were left out where they lead to themselves at once

    def value(self, schema: JSON, where: str = "") -> Expr:
        """A value in the form."""
        if not self.strict:
            return self.values.anything
        place = where or self.where
        found = self._value(schema, place, ())
        if found is None:
            raise InvalidTool(place, "a schema that something satisfies", schema, tool=self.where)
        return found

    def members(self, schema: JSON, where: str = "") -> Members:
        """The members of an object; alternatives of the whole object are not among what this can say."""
        place = where or self.where
        plain = self.schemas.plain(schema, place)
        for word in ("anyOf", "oneOf", "enum"):
            if word in plain:
                self.book.relaxed(word, place, "members are constrained each by itself")
        return self._members(plain, place)

    def raw(self, schema: JSON, ending: Ending, where: str = "") -> Expr:
        """A value as raw text, up to and including the closer that ends it."""
        if not self.strict:
            return ending.scan
        if ending not in self._raw:
            self._raw[ending] = RawValues(self, ending)
        return self._raw[ending].value(schema, where or self.where)

    def without(self, closers: tuple[str, ...]) -> Lowering:
        """The same for values in which no text holds one of these closers."""
        return Lowering(
            self.book,
            self.root,
            self.where,
            form=self.form,
            any_order=self.any_order,
            strict=self.strict,
            closers=closers,
        )

    # References and alternatives

    def _value(self, schema: JSON, where: str, chain: tuple[str, ...]) -> Expr | None:
        """A value; ``None`` if nothing satisfies the schema. `chain` are the references that lead right here."""
        if isinstance(schema, Mapping) and schema.keys() & KEYWORDS == {"$ref"}:
            ref = schema["$ref"]
            if isinstance(ref, str):
                return self._referred(ref, where, chain)
        plain = self.schemas.plain(schema, where)
        ways = [way for leaf, place in self.leaves(plain, where) if (way := self._leaf(leaf, place, chain)) is not None]
        return choice(*ways) if ways else None

    def leaves(self, plain: Schema, where: str, depth: int = 0) -> Iterable[tuple[Schema, str]]:
        """The alternatives of a plain schema, each with what the schema says beside them."""
        if depth > REF_DEPTH:
            raise InvalidTool(where, "a schema whose references lead to an end", plain, tool=self.where)
        word = "anyOf" if "anyOf" in plain else "oneOf" if "oneOf" in plain else None
        if word is None:
            yield plain, where
            return
        rest = {key: value for key, value in plain.items() if key != word}
        options = self.schemas.listed(plain, word, where)
        if word == "oneOf" and not self._apart(options, where):
            self.book.relaxed(word, where, "more than one may hold")
        for k, option in enumerate(options):
            place = f"{where}/{word}/{k}"
            if not rest and isinstance(option, Mapping) and "$ref" in option:
                yield option, place
            else:
                merged = self.schemas.merge(rest, self.schemas.plain(option, place), place)
                yield from self.leaves(merged, place, depth + 1)

    def _apart(self, options: list[JSON], where: str) -> bool:
        """Whether no value satisfies two of them: types, listed values or those of a required member differ."""
        plains = [self.schemas.plain(option, where) for option in options]
        return all(self._differ(one, other, where) for one, other in combinations(plains, 2))

    def _differ(self, one: Schema, other: Schema, where: str) -> bool:
        both = (one, other)
        if "enum" in one and "enum" in other:
            values = [set(map(spelled_out, self.schemas.listed(plain, "enum", where))) for plain in both]
            return not values[0] & values[1]
        kinds, others = (self.schemas.kinds(plain, where) for plain in both)
        if kinds is None or others is None or not common(kinds, others):
            return kinds is not None and others is not None
        mine, theirs = (self.schemas.mapping(plain, "properties", where) for plain in both)
        needed = [key for key in self.schemas.listed(one, "required", where) if isinstance(key, str)]
        return {*kinds, *others} == {"object"} and any(
            self._differ(self.schemas.plain(mine[key], where), self.schemas.plain(theirs[key], where), where)
            for key in needed
            if key in mine and key in theirs and key in self.schemas.listed(other, "required", where)
        )

    def _referred(self, ref: str, where: str, chain: tuple[str, ...]) -> Expr | None:
        if ref in chain:  # it is one of its own alternatives, which adds nothing to it
            self._cut.add(ref)
            return None
        if ref in self._known:
            return self._known[ref]
        place = ref.rpartition("/")[2] or self.where
        if ref in self._names:  # it is inside itself
            name = self._names[ref] = self._names[ref] or self.book.name(place)
            return Ref(name)
        self._names[ref] = None
        body = self._value(self.schemas.target(ref, where), f"{self.where}/{place}", (*chain, ref))
        name_taken = self._names.pop(ref)
        if name_taken is not None:
            if body is None:
                raise InvalidTool(where, "a schema that something satisfies", ref, tool=self.where)
            body = self.book.define(name_taken, body)
        elif body is not None:
            body = self.book.rule(place, body)
        self._cut.discard(ref)
        if body is not None and not self._cut.intersection(chain):
            self._known[ref] = body
        return body

    # Types

    def _leaf(self, plain: Schema, where: str, chain: tuple[str, ...]) -> Expr | None:
        """A value of a schema without alternatives."""
        if "$ref" in plain:
            return self._value(plain, where, chain)
        if not plain:
            return self.values.anything
        self.scalars.unenforced(plain, where)
        kinds = self.schemas.kinds(plain, where)
        if "enum" in plain:
            return self._listed(plain, kinds, where)
        if kinds is None:
            self.book.narrowed("type", where, "absent: of the types that its keywords speak of")
        ways = [self.typed(kind, plain, where) for kind in self.kinds(plain, kinds)]
        left = [way for way in ways if way is not None]
        return choice(*left) if left else None

    def kinds(self, plain: Schema, kinds: frozenset[str] | None) -> list[str]:
        """The types that are written, in a fixed order: those that are named, or that the keywords speak of."""
        if kinds is None:
            words = (("object", OBJECT), ("array", ARRAY), ("string", STRING), ("number", NUMBER))
            told = [kind for kind, keywords in words if plain.keys() & keywords]
            return told or ["object", "array", "string", "number", "boolean", "null"]
        if "number" in kinds:
            kinds -= {"integer"}
        return sorted(kinds, key=_ORDER.index)

    def typed(self, kind: str, plain: Schema, where: str) -> Expr | None:
        """A value of one type."""
        match kind:
            case "object":
                return self._object(plain, where)
            case "array":
                return self._array(plain, where)
            case "string":
                self._tell_narrowed(where)
                texts = self.scalars.texts(plain, where)
                return self.values.string if texts is None else self._text(texts, where)
            case "boolean":
                return self.values.boolean
            case "null":
                return self.values.null
            case _:
                return self.numeric(kind, plain, where)

    def _tell_narrowed(self, where: str) -> None:
        if self.values.spelling.narrows:
            self.book.narrowed("string", where, "without the character that begins what would end it")
        elif self.values.spelling.numbered:
            why = f"{self.values.spelling.numbered!r}, which begins what would end it, is written by its number"
            self.book.narrowed("string", where, why)

    def _text(self, texts: Expr, where: str) -> Expr | None:
        written = self.values.spelling.texts(texts)
        return self.book.rule(hint(where), written) if written is not None else None

    def numeric(self, kind: str, plain: Schema, where: str) -> Expr | None:
        """A number between its bounds."""
        bounds = self.scalars.bounds(plain, where)
        if bounds == Bounds():
            return self.values.integer if kind == "integer" else self.values.number
        if kind == "number" and not bounds.exponents:
            self.book.narrowed("number", where, "one with bounds is written without an exponent")
        found = integer(bounds) if kind == "integer" else number(bounds)
        return self.book.rule(hint(where), Lexeme(found)) if found is not None else None

    def _listed(self, plain: Schema, kinds: frozenset[str] | None, where: str) -> Expr | None:
        """One of the values of an enumeration."""
        found = self.enumerated(plain, kinds, where)
        ways = [way for value in found if (way := self.values.literal(value)) is not None]
        if len(ways) < len(found):
            self.book.narrowed("enum", where, "some values can't be written")
        return choice(*ways) if ways else None

    def enumerated(self, plain: Schema, kinds: frozenset[str] | None, where: str) -> list[JSON]:
        """The values of an enumeration that are of these types."""
        if plain.keys() & (OBJECT | ARRAY | STRING | NUMBER):
            self.book.relaxed("enum", where, "what is listed is taken to satisfy the rest")
        found = self.schemas.listed(plain, "enum", where)
        return found if kinds is None else [value for value in found if allowed(kinds, kind_of(value))]

    # Objects

    def _object(self, plain: Schema, where: str) -> Expr | None:
        members = self._members(plain, where)
        if not members.named and members.others is True:
            return self.values.object
        written: list[Member] = []
        for named in members.named:
            item = self._member(named, f"{where}/properties/{named.key}")
            if item is not None:
                written.append(Member(item, named.required))
            elif named.required:
                return None
        extra = None
        if members.others is not None:
            value = self._value(members.others, f"{where}/additionalProperties", ())
            key = self.values.spelling.other_key(named.key for named in members.named)
            if not self.form.bare:
                self.book.narrowed("additionalProperties", self.where, "their keys have no escapes")
            if value is not None:
                extra = self.book.rule(hint(f"{where}/other"), sequence(key, self.values.colon, value))
        return self.values.braces(tuple(written), extra, declared=not self.any_order)

    def _member(self, named: Property, where: str) -> Expr | None:
        """A key and its value; ``None`` if there is none, so that the member can't be there."""
        value = self._value(named.schema, where, ())
        key = self.values.spelling.key(named.key)
        if value is None or key is None:
            why = "nothing satisfies it" if value is None else "its key can't be written"
            self.book.narrowed("properties", where, f"never written: {why}")
            return None
        return self.book.rule(hint(where), sequence(key, self.values.colon, value))

    def _members(self, plain: Schema, where: str) -> Members:
        properties = self.schemas.mapping(plain, "properties", where)
        required = self.schemas.listed(plain, "required", where)
        if not all(isinstance(name, str) for name in required):
            raise InvalidTool(f"{where}.required", "a list of names", required, tool=self.where)
        others = self._others(plain, where)
        named = [Property(str(key), schema, key in required) for key, schema in properties.items()]
        missing = [str(name) for name in required if name not in properties]
        if missing and others is None and "additionalProperties" in plain:
            self.book.relaxed("required", where, f"{', '.join(missing)}: not among the properties")
        elif missing:
            schema = others if others is not None else True
            named += [Property(name, schema, True) for name in missing]
        self._counts(plain, len(required), len(named) if others is None else None, where)
        return Members(tuple(named), others)

    def _others(self, plain: Schema, where: str) -> JSON | None:
        """The schema of the members that are not named."""
        others = plain.get("additionalProperties")
        patterns = self.schemas.mapping(plain, "patternProperties", where)
        if patterns:
            self.book.relaxed("patternProperties", where, "any other key may have a value of any of the patterns")
            more = [others] if others is not None and others is not False else []
            return {"anyOf": [*patterns.values(), *more]}
        if others is False:
            return None
        if others is not None:
            return True if others == {} else others
        if "properties" not in plain:
            return True
        self.book.narrowed("additionalProperties", self.where, "absent: members that no schema names are not written")
        return None

    def _counts(self, plain: Schema, least: int, most: int | None, where: str) -> None:
        low, high = plain.get("minProperties"), plain.get("maxProperties")
        if isinstance(low, int) and low > least:
            self.book.relaxed("minProperties", where, "members are not counted")
        if isinstance(high, int) and (most is None or high < most):
            self.book.relaxed("maxProperties", where, "members are not counted")

    # Arrays

    def _array(self, plain: Schema, where: str) -> Expr | None:
        low, high = self.scalars.counts(plain, "minItems", "maxItems", COUNT_LIMIT, where)
        if high is not None and high < low:
            return None
        first, rest = plain.get("prefixItems"), plain.get("items", True)
        if isinstance(rest, (list, tuple)):  # as it was written before 2020
            first, rest = rest, plain.get("additionalItems", True)
        named = enumerate(first) if isinstance(first, (list, tuple)) else ()
        heads = [self._value(item, f"{where}/items/{k}", ()) for k, item in named]
        if heads and rest is True:
            self.book.narrowed("items", where, "absent: nothing is written behind the items that are named")
            rest = False
        if not heads and rest is True and (low, high) == (0, None):
            return self.values.array
        item = self._value(rest, f"{where}/items", ()) if rest is not False else None
        if item is not None and not isinstance(item, Ref):
            item = self.book.rule(hint(f"{where}/item"), item)
        items = self._items(heads, item, low, high)
        return self.values.brackets(items) if items is not None else None

    def _items(self, heads: list[Expr | None], item: Expr | None, low: int, high: int | None) -> Expr | None:
        """The items: first the `heads`, then as many others as there may be."""
        usable = heads[: heads.index(None)] if None in heads else heads
        most = len(usable) if item is None or len(usable) < len(heads) else None
        high = most if high is None or (most is not None and most < high) else high
        if high is not None and high < low:
            return None
        if not heads:
            return self.values.listed(item, low, high) if item is not None else EMPTY
        written: Expr = EMPTY
        if item is not None and (high is None or high > len(usable)):
            more = None if high is None else high - len(usable)
            written = Repeat(sequence(self.values.comma, item), max(low - len(usable), 0), more)
        kept = [head for head in usable if head is not None][:high]
        for k in range(len(kept) - 1, -1, -1):
            written = sequence(self.values.comma if k else EMPTY, kept[k], written)
            if k >= low:
                written = Repeat(written, 0, 1)
        return written


_ORDER = ("string", "integer", "number", "boolean", "null", "object", "array")


def hint(where: str) -> str:
    """A name for the rule of a place."""
    return where.replace("/properties/", "-")
