"""The words a grammar is written in: one function a node, with arguments checked and strings taken as literals.

Names follow the literature on parsing expressions, and llama.cpp's builder where that does not hurt. What each
does while its input is still coming is in `docs/grammar.md`; `nodes` has the values that come out.
"""

from __future__ import annotations

import re

from ..errors import GrammarError
from ..events import ProblemKind
from . import nodes as n
from .nodes import Decoding, Node
from .notation import Notation
from .schema import KINDS

__all__ = [
    "ANY_JSON",
    "Decoding",
    "any",
    "argument_members",
    "arguments",
    "begin",
    "call",
    "call_id",
    "case",
    "chars",
    "choice",
    "commit",
    "content",
    "end",
    "field_name",
    "framed",
    "gate",
    "header",
    "json",
    "json_string",
    "key",
    "literal",
    "malformed",
    "markup",
    "name",
    "negate",
    "notated",
    "one",
    "one_or_more",
    "optional",
    "peek",
    "prose",
    "quoted_json",
    "reasoning",
    "ref",
    "repeat",
    "report",
    "rule",
    "schema",
    "sequence",
    "space",
    "special",
    "stop",
    "tag",
    "trigger",
    "until",
    "value",
    "zero_or_more",
]

ANY_JSON = ("object", "array", "quoted", "number", "boolean", "null")
"""The kinds of a `value` that is written as JSON, whatever it is."""

HEADER_LIMIT = 512
"""Characters a header may have: Harmony's longest real ones have about a hundred."""


def _node(item: Node | str) -> Node:
    return n.Literal(item) if isinstance(item, str) else item


def _sequence(items: tuple[Node | str, ...]) -> Node:
    return _node(items[0]) if len(items) == 1 else sequence(*items)


def literal(text: str) -> Node:
    """These characters."""
    return n.Literal(text)


def special(text: str) -> Node:
    """This control token; when only text is known, its characters."""
    if not text:
        raise GrammarError("special('')", "a control token needs characters", "give its spelling")
    return n.Literal(text, special=True)


def _class_problem(cls: str) -> str:
    """Why this can't stand between brackets; nothing if it can."""
    if not re.fullmatch(r"\^?\]?(?:[^\[\]\\]|\\.)*", cls, re.DOTALL):
        return "brackets and backslashes need a backslash before them"
    try:
        re.compile(f"[{cls}]")
    except re.error as error:
        return str(error)
    return ""


def chars(cls: str, low: int = 1, high: int | None = None) -> Node:
    """`low` to `high` (``None``: any number of) characters of a class such as ``a-z0-9`` or ``^\\n>``.

    Raises `GrammarError` if the class or the bounds make no sense.
    """
    problem = _class_problem(cls)
    if problem:
        raise GrammarError(f"chars({cls!r})", f"not a character class ({problem})", "write it as in [..]")
    if low < 0 or (high is not None and high < max(low, 1)):
        raise GrammarError(f"chars({cls!r}, {low}, {high})", "impossible bounds", "give 0 <= low <= high")
    return n.Chars(cls, low, high)


def one(cls: str) -> Node:
    """One character of a class."""
    return chars(cls, 1, 1)


def any() -> Node:
    """One character, whatever it is."""
    return n.Chars(r"\s\S", 1, 1)


def sequence(*items: Node | str) -> Node:
    """All items in order."""
    return n.Sequence(tuple(_node(item) for item in items))


def choice(*items: Node | str) -> Node:
    """The first item that matches; later ones are tried only where earlier ones fail."""
    return n.Choice(tuple(_node(item) for item in items))


def optional(*items: Node | str) -> Node:
    """The items in order, or nothing."""
    return n.Repeat(_sequence(items), 0, 1)


def zero_or_more(*items: Node | str) -> Node:
    """The items in order, as often as they match."""
    return n.Repeat(_sequence(items), 0, None)


def one_or_more(*items: Node | str) -> Node:
    """The items in order, as often as they match and at least once."""
    return n.Repeat(_sequence(items), 1, None)


def repeat(item: Node | str, low: int, high: int | None = None) -> Node:
    """The item at least `low` and at most `high` times."""
    if low < 0 or (high is not None and high < max(low, 1)):
        raise GrammarError(f"repeat(.., {low}, {high})", "impossible bounds", "give 0 <= low <= high")
    return n.Repeat(_node(item), low, high)


def peek(*items: Node | str) -> Node:
    """Succeeds where the items match; reads nothing."""
    return n.Peek(_sequence(items))


def negate(*items: Node | str) -> Node:
    """Succeeds where the items do not match; reads nothing."""
    return n.Negate(_sequence(items))


def until(*delimiters: str, low: int = 0, then: tuple[str, ...] = (), gap: int = n.LAYOUT_LIMIT) -> Node:
    """The text up to the first delimiter (not read) or the end of the input; none means all of it.

    With `low` = 1 at least one character: it fails where a delimiter stands. With `then`, only a delimiter
    that one of these follows (after up to `gap` characters of whitespace) counts.
    """
    return n.Until(delimiters, low, then, gap if then else 0)


def prose(*delimiters: str, finals: tuple[str, ...] = ()) -> Node:
    """At least one character up to the first delimiter that no Markdown code quotes.

    `finals` are delimiters that count in code, too, at the very end of the input.
    """
    return n.Until((*delimiters, *finals), 1, prose=True, finals=finals)


def framed(*markers: str) -> tuple[str, ...]:
    """Each marker with and without the newline that templates write before it: delimiters for `until`."""
    return tuple(text for marker in markers for text in ("\n" + marker, marker))


def space(most: int = n.LAYOUT_LIMIT) -> Node:
    """Up to `most` characters of layout whitespace, which belong to the markup."""
    return n.Label(n.Chars(r" \t\r\n", 0, most), n.Meaning.MARKUP)


def json() -> Node:
    """One JSON value."""
    return n.Json()


def json_string() -> Node:
    """One JSON string, with its quotes."""
    return n.Json(n.JsonForm.STRING)


def quoted_json() -> Node:
    """A JSON string that holds a JSON object; what is published is the object."""
    return n.Json(n.JsonForm.QUOTED)


def notated(notation: Notation) -> Node:
    """One value of another notation than JSON; under `arguments` all of them, in `argument_members` behind a `key`."""
    return n.Notated(notation)


def rule(name: str, item: Node | str) -> Node:
    """The item, under a name."""
    return n.Rule(_node(item), name)


def ref(name: str) -> Node:
    """The rule of that name."""
    return n.Ref(name)


def end(*, stopped: bool = False) -> Node:
    """The end of the input; with `stopped`, only if the engine says that the model itself ended it."""
    return n.End(stopped)


def commit() -> Node:
    """From here on there is no way back: what was held is published."""
    return n.Commit()


def tag(name: str, *items: Node | str) -> Node:
    """The items; their text comes as `TagDelta` events."""
    return n.Tag(_sequence(items), name)


def schema(item: Node | str, text: str) -> Node:
    """The item, with a JSON Schema (as JSON text) for engines that constrain decoding."""
    return n.Schema(_node(item), text)


def trigger(*items: Node | str) -> Node:
    """The items, at which a lazily constrained engine should begin to constrain."""
    return n.Trigger(_sequence(items))


def gate(option: str, *items: Node | str) -> Node:
    """The items, which a parser's policy can switch off."""
    return n.Gate(_sequence(items), option)


def content(*items: Node | str, channel: str | None = None) -> Node:
    """The items' text is part of the visible answer."""
    return n.Label(_sequence(items), n.Meaning.CONTENT, channel)


def reasoning(*items: Node | str) -> Node:
    """The items' text is part of the thoughts."""
    return n.Label(_sequence(items), n.Meaning.REASONING)


def markup(*items: Node | str) -> Node:
    """The items' text belongs to the dialect (as all text does that nothing else claims)."""
    return n.Label(_sequence(items), n.Meaning.MARKUP)


def malformed(*items: Node | str) -> Node:
    """The items' text is what could not be read."""
    return n.Label(_sequence(items), n.Meaning.MALFORMED)


def report(kind: ProblemKind, *items: Node | str, detail: str = "") -> Node:
    """A `Problem` about the items' text; with no items, about this place."""
    return n.Report(sequence(*items), kind, detail)


def stop(*markers: str) -> Node:
    """One of the control tokens that end the output."""
    return n.StopMark(n.Choice(tuple(special(marker) for marker in markers)))


def name(item: Node | str, *, pattern: str | None = None, decode: Decoding = Decoding.NONE) -> Node:
    """The name of a call, and with it the call's beginning; `pattern` has groups ``name`` and perhaps ``id``."""
    return n.Begin(n.Field(_node(item), n.Role.NAME, pattern, decode))


def begin(*items: Node | str, name: str = "") -> Node:
    """The items that tell a call's name and id (fields without a beginning of their own); none: the header did.

    `name` is that of a call which does not tell it.
    """
    return n.Begin(sequence(*items), name)


def field_name(item: Node | str, *, pattern: str | None = None, decode: Decoding = Decoding.NONE) -> Node:
    """The name of a call, inside `begin`; `pattern` as for `name`."""
    return n.Field(_node(item), n.Role.NAME, pattern, decode)


def call_id(item: Node | str, *, decode: Decoding = Decoding.NONE) -> Node:
    """The id that the model itself gives a call."""
    return n.Field(_node(item), n.Role.ID, None, decode)


def key(item: Node | str, *, decode: Decoding = Decoding.NONE) -> Node:
    """The name of an argument."""
    return n.Field(_node(item), n.Role.KEY, None, decode)


def value(
    *delimiters: str,
    then: tuple[str, ...] = (),
    gap: int = n.LAYOUT_LIMIT,
    kinds: tuple[str, ...] | None = None,
    notation: Notation | None = None,
) -> Node:
    """An argument's value as raw text up to a delimiter, typed by the tool's schema, or by the markup as `kinds`.

    Those are JSON types, where ``string`` is raw text, and ``quoted`` for a string written as JSON. Raises
    `GrammarError` for others. Objects and arrays are read in this `notation`, or as JSON.
    """
    if kinds is not None and (not kinds or not set(kinds) <= KINDS | {"quoted"}):
        raise GrammarError(f"value(.., kinds={kinds!r})", "not JSON types", f"give some of {sorted(KINDS)} or 'quoted'")
    return n.Value(n.Until(delimiters, 0, then, gap if then else 0), kinds, notation)


def arguments(item: Node | str, *, raw: bool = False) -> Node:
    """The item's text is the call's arguments; `raw` when it need not be JSON."""
    return n.Arguments(_node(item), raw)


def argument_members(*items: Node | str, item: str | None = None, unwrap: tuple[str, ...] = ()) -> Node:
    """Items with `key` and `value` nodes, or members again for a `value`, which make the arguments' JSON object.

    `item` is the key that makes an array of members which the schema doesn't declare. A first key of `unwrap` that the
    tool doesn't have may stand for all of the arguments.
    """
    return n.Members(_sequence(items), item, unwrap)


def call(
    *items: Node | str,
    close: Node | str = n.Sequence(()),
    closers: tuple[str, ...] = (),
    resume: tuple[str, ...] = (),
    stops: bool = False,
) -> Node:
    """A call and what closes it; what breaks it behind its `commit` ends at a closer or before a `resume` marker."""
    return n.Call(sequence(*items), _node(close), closers, resume, stops)


def case(then: Node | str, **fields: str) -> n.Case:
    """What follows a header whose fields fully match these patterns; no fields match always."""
    return n.Case(tuple(fields.items()), _node(then))


def header(
    stop: str,
    *cases: n.Case,
    start: tuple[str, ...],
    fields: dict[str, str],
    abort: tuple[str, ...] = (),
    limit: int = HEADER_LIMIT,
) -> Node:
    """A bounded header up to `stop`, with fields in any order, and what follows it in each case."""
    if not cases:
        raise GrammarError(f"header({stop!r})", "a header without cases", "say what follows it: case(..)")
    return n.Header(stop, start, abort, tuple(fields.items()), cases, limit)
