"""The nodes of a grammar: frozen values that can be walked, compared, hashed and printed.

A grammar is a tree of nodes. It does nothing by itself: `machine` runs it, `analyze` checks it, `show` prints
it, and constraint emitters read it. Authors write nodes with the functions of `build`, which check their
arguments; the classes here are for those who walk a grammar.

The first group is the vocabulary of parsing expression grammars (Ford 2004, "Parsing Expression Grammars: a
recognition-based syntactic foundation"); the second says what the matched text means.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from ..events import ProblemKind
from .notation import Notation

__all__ = [
    "Arguments",
    "Begin",
    "Call",
    "Case",
    "Chars",
    "Choice",
    "Commit",
    "Decoding",
    "End",
    "Field",
    "Gate",
    "Grammar",
    "Header",
    "Json",
    "JsonForm",
    "Label",
    "Literal",
    "Meaning",
    "Members",
    "Negate",
    "Node",
    "Nodes",
    "Notated",
    "Peek",
    "Ref",
    "Repeat",
    "Report",
    "Role",
    "Rule",
    "Schema",
    "Sequence",
    "StopMark",
    "Tag",
    "Trigger",
    "Until",
    "Value",
    "Wrapper",
]


class Node(Struct, frozen=True, cache_hash=True):
    """A grammar; ``a + b`` is a sequence, ``a | b`` an ordered choice, ``~a`` a negative lookahead,
    ``a << b`` a sequence that allows layout whitespace between. A plain string is a literal."""

    def __add__(self, other: Node | str) -> Node:
        return Sequence((*_items(self, Sequence), *_items(other, Sequence)))

    def __radd__(self, other: str) -> Node:
        return Sequence((Literal(other), *_items(self, Sequence)))

    def __or__(self, other: Node | str) -> Node:
        return Choice((*_items(self, Choice), *_items(other, Choice)))

    def __ror__(self, other: str) -> Node:
        return Choice((Literal(other), *_items(self, Choice)))

    def __lshift__(self, other: Node | str) -> Node:
        return Sequence((*_items(self, Sequence), LAYOUT, *_items(other, Sequence)))

    def __rlshift__(self, other: str) -> Node:
        return Sequence((Literal(other), LAYOUT, *_items(self, Sequence)))

    def __invert__(self) -> Node:
        return Negate(self)

    def children(self) -> Nodes:
        """The nodes directly inside this one, in order."""
        return ()

    def walk(self) -> Iterator[Node]:
        """This node and all below it, parents first; references are not followed."""
        pending: list[Node] = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed(node.children()))


Nodes: TypeAlias = tuple[Node, ...]


class Wrapper(Node, frozen=True, cache_hash=True):
    """A node with one node inside."""

    item: Node

    def children(self) -> Nodes:
        return (self.item,)


class Literal(Node, frozen=True, cache_hash=True):
    """These characters; with `special`, the control token so spelled where tokens are known."""

    text: str
    special: bool = False


class Chars(Node, frozen=True, cache_hash=True):
    """From `low` to `high` characters of a class, written as between the brackets of a regular expression."""

    cls: str
    low: int = 1
    high: int | None = 1


class Sequence(Node, frozen=True, cache_hash=True):
    """All items in order; no items match the empty text."""

    items: Nodes

    def children(self) -> Nodes:
        return self.items


class Choice(Node, frozen=True, cache_hash=True):
    """The first item that matches."""

    items: Nodes

    def children(self) -> Nodes:
        return self.items


class Repeat(Wrapper, frozen=True, cache_hash=True):
    """The item as often as it matches, from `low` to `high` times."""

    low: int = 0
    high: int | None = None


class Peek(Wrapper, frozen=True, cache_hash=True):
    """Succeeds where the item matches; reads nothing."""


class Negate(Wrapper, frozen=True, cache_hash=True):
    """Succeeds where the item does not match; reads nothing."""


class Until(Node, frozen=True, cache_hash=True):
    """The text up to the first delimiter, or to the end of the input; the delimiter is not read.

    With `low` 1 it does not match where a delimiter stands. With `then`, a delimiter counts only if one of
    these (or the end of the input) follows it, after at most `gap` characters of layout whitespace. In `prose`, a
    delimiter does not count inside Markdown code (unless the option ``code`` is switched off), but for one of the
    `finals` (which are delimiters too) where nothing comes behind it but layout and others of them.
    """

    delimiters: tuple[str, ...]
    low: int = 0
    then: tuple[str, ...] = ()
    gap: int = 0
    prose: bool = False
    finals: tuple[str, ...] = ()


class JsonForm(StrEnum):
    """Which JSON a `Json` node takes."""

    VALUE = "value"
    STRING = "string"
    QUOTED = "quoted"
    """A JSON string that holds a JSON object: its text is published decoded."""


class Json(Node, frozen=True, cache_hash=True):
    """One JSON value, validated as it passes."""

    form: JsonForm = JsonForm.VALUE


class Notated(Node, frozen=True, cache_hash=True):
    """One value of another notation, published as JSON: under `Arguments` all of them, else that of a `Field` key."""

    notation: Notation


class Rule(Wrapper, frozen=True, cache_hash=True):
    """The item, under a name by which a `Ref` may call it."""

    name: str


class Ref(Node, frozen=True, cache_hash=True):
    """The rule of that name, defined anywhere in the same grammar."""

    name: str


class End(Node, frozen=True, cache_hash=True):
    """The end of the input; with `stopped`, only if the engine says that the model itself ended it."""

    stopped: bool = False


class Commit(Node, frozen=True, cache_hash=True):
    """Reads nothing; gives up every alternative that is still open, so that what was held is published."""


class Meaning(StrEnum):
    """What the characters under a `Label` are."""

    CONTENT = "content"
    REASONING = "reasoning"
    MARKUP = "markup"
    MALFORMED = "malformed"


class Label(Wrapper, frozen=True, cache_hash=True):
    """What the item's characters mean, where no inner label says otherwise."""

    meaning: Meaning
    channel: str | None = None


class Tag(Wrapper, frozen=True, cache_hash=True):
    """The item's characters, reported under a user's own name."""

    name: str


class Schema(Wrapper, frozen=True, cache_hash=True):
    """The item, which must also satisfy a JSON Schema (as JSON text) where decoding is constrained."""

    schema: str


class Trigger(Wrapper, frozen=True, cache_hash=True):
    """The item, at which a lazily constrained engine should begin to constrain."""


class Gate(Wrapper, frozen=True, cache_hash=True):
    """The item, unless this option is switched off when the grammar is compiled; then it never matches."""

    option: str


class Role(StrEnum):
    """What a `Field` captures."""

    NAME = "name"
    ID = "id"
    KEY = "key"
    """The name of an argument, inside `Members`."""


class Decoding(StrEnum):
    """How the text of a `Field` is written."""

    NONE = "none"
    JSON = "json"
    """As a JSON string, in its quotes."""
    ENTITIES = "entities"
    """With XML's entities: ``&amp;``, ``&lt;``, ``&gt;``, ``&quot;``, ``&apos;`` and numeric ones."""


class Field(Wrapper, frozen=True, cache_hash=True):
    """The item's text is captured, not published.

    With `pattern`, its named groups `name` and `id` say which parts of it are which, once `decode` is undone.
    """

    role: Role
    pattern: str | None = None
    decode: Decoding = Decoding.NONE


class Begin(Wrapper, frozen=True, cache_hash=True):
    """A call's name, and perhaps id, are known when the item has matched; the call is published.

    `name` is one that the text does not tell.
    """

    name: str = ""


class Arguments(Wrapper, frozen=True, cache_hash=True):
    """The item's characters are the call's arguments, as JSON text; with `raw`, whatever text it is."""

    raw: bool = False


class Members(Wrapper, frozen=True, cache_hash=True):
    """The call's arguments as keys (`Field` with `Role.KEY`) and `Value`s, published as one JSON object.

    In place of a `Value` may stand `Members` again, an object or array. With `element` they are a tree: that key makes
    an array of what the schema doesn't declare, and an empty value is an object or array where the schema says so.
    Where the first key is one of `unwrap`, and no argument of the tool, and its value is an object, that is the
    arguments.
    """

    element: str | None = None
    unwrap: tuple[str, ...] = ()


class Value(Node, frozen=True, cache_hash=True):
    """An argument written as raw text up to a delimiter, published as JSON.

    Its type is one of `kinds`, where ``quoted`` is a string written as JSON; ``None``: the tool's schema decides.
    Objects and arrays are read as JSON, or as what this `notation` says.
    """

    until: Until
    kinds: tuple[str, ...] | None = None
    notation: Notation | None = None

    def children(self) -> Nodes:
        return (self.until,)


class Call(Wrapper, frozen=True, cache_hash=True):
    """A call: the item with its opening marker and body, then what closes it.

    A call whose item has matched is complete but for its closer. Once it has passed a `Commit`, what breaks its grammar
    ends the call instead of being read in another way: at one of the `resume` markers as if it were closed, else as
    malformed text up to the next of the `closers` (read) or `resume` markers (not read). Where a stop marker closes it
    (`stops`), which engines may keep to themselves, its absence at the end is no problem.
    """

    close: Node = Sequence(())
    closers: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    stops: bool = False

    def children(self) -> Nodes:
        return (self.item, self.close)


class Case(Struct, frozen=True, cache_hash=True):
    """What follows a header in which every field of `fields` fully matches its pattern."""

    fields: tuple[tuple[str, str], ...]
    then: Node


class Header(Node, frozen=True, cache_hash=True):
    """A short text up to `stop`, whose fields stand in any order and decide what follows.

    It must begin with one of `start` and hold none of the `abort` markers within `limit` characters. `fields` are
    (name, pattern with one group) pairs, searched anywhere in it; the one called ``name`` names the call of an
    empty `Begin`. The first of the `cases` whose fields all match goes on.
    """

    stop: str
    start: tuple[str, ...]
    abort: tuple[str, ...]
    fields: tuple[tuple[str, str], ...]
    cases: tuple[Case, ...]
    limit: int

    def children(self) -> Nodes:
        return tuple(case.then for case in self.cases)


class StopMark(Wrapper, frozen=True, cache_hash=True):
    """The item is a marker that ends the output."""


class Report(Wrapper, frozen=True, cache_hash=True):
    """A `Problem` whose characters are the item's."""

    kind: ProblemKind
    detail: str


class Grammar(Struct, frozen=True, cache_hash=True):
    """A root, and further entries (by name) at which a parse may start; rules are shared by all of them."""

    root: Node
    entries: tuple[tuple[str, Node], ...] = ()

    def walk(self) -> Iterator[Node]:
        """All nodes, the root's first."""
        yield from self.root.walk()
        for _, entry in self.entries:
            yield from entry.walk()

    def rules(self) -> dict[str, Node]:
        """The rules by name; the first definition of a name counts."""
        found: dict[str, Node] = {}
        for node in self.walk():
            if isinstance(node, Rule):
                found.setdefault(node.name, node.item)
        return found


LAYOUT_LIMIT = 64
"""Characters of layout whitespace that may stand where a grammar says `space()`."""

LAYOUT = Label(Chars(r" \t\r\n", 0, LAYOUT_LIMIT), Meaning.MARKUP)


def _items(value: Node | str, kind: type[Sequence] | type[Choice]) -> Nodes:
    node = Literal(value) if isinstance(value, str) else value
    return node.items if isinstance(node, kind) else (node,)
