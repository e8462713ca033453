"""Structural tags: how xgrammar is told of calls in free text, as frozen values and as the JSON that servers take.

A format is free text, a JSON value, rules, or made of these. xgrammar turns tags and triggers into an automaton that
stops at the first trigger, whatever its letters; what it would read otherwise than it is written here is refused when
the JSON is made. The formats and their meaning: `xgrammar/structural_tag.py` of xgrammar 0.2.8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import TypeAlias, assert_never

from msgspec import Struct

from ..errors import DelimiterError
from ..grammar.analyze import delimiter_problem
from ..types import JSON
from .ebnf import xgrammar_ebnf
from .guarantees import Effect, Note
from .rules import Rules
from .xgrammar_schema import schema_notes

__all__ = [
    "Format",
    "FreeText",
    "Json",
    "Maybe",
    "Separated",
    "Series",
    "Tag",
    "Triggered",
    "format_notes",
    "structural_tag",
]

Printer: TypeAlias = Callable[[Rules], str]
Noter: TypeAlias = Callable[[Rules], Sequence[Note]]


class FreeText(Struct, frozen=True):
    """Any text without these strings; inside a tag, also without what ends the tag."""

    excludes: tuple[str, ...] = ()


class Json(Struct, frozen=True):
    """A JSON value of this schema, by xgrammar's own converter, which `format_notes` tells the differences of.

    Members come in the order of the schema, or with `any_order` in any, but then none is sure to be there and all may
    come twice. Not more than `whitespace` characters stand between two tokens; ``None`` is without end.
    """

    schema: Mapping[str, JSON] | bool
    name: str = ""
    any_order: bool = False
    whitespace: int | None = None


class Tag(Struct, frozen=True):
    """`begin`, the content, and `end`.

    Rules that scan for their own end hold it themselves, and `end` is what comes behind. Where the content is free text
    or has free text between calls, `end` must not be able to overlap itself.
    """

    begin: str
    content: Format
    end: str = ""


class Triggered(Struct, frozen=True):
    """Free text, and tags in it: from a trigger on, one of the tags that begin with it must follow.

    With `at_least_one` a tag comes first, before any text; with `one_only` nothing comes behind the first.
    """

    triggers: tuple[str, ...]
    tags: tuple[Tag, ...]
    at_least_one: bool = False
    one_only: bool = False
    excludes: tuple[str, ...] = ()


class Separated(Struct, frozen=True):
    """Tags and nothing else, this text between two of them."""

    tags: tuple[Tag, ...]
    separator: str = ""
    at_least_one: bool = False
    one_only: bool = False


class Series(Struct, frozen=True):
    """One after the other; a string is itself."""

    items: tuple[Format | str, ...]


class Maybe(Struct, frozen=True):
    """The item, or nothing."""

    item: Format


Format: TypeAlias = "FreeText | Json | Rules | Tag | Triggered | Separated | Series | Maybe"


def own_ebnf(rules: Rules) -> str:
    """Rules as `xgrammar_ebnf` prints them."""
    return xgrammar_ebnf(rules)[0]


def structural_tag(given: Format, ebnf: Printer = own_ebnf) -> dict[str, JSON]:
    """The value that is a server's ``structural_tag``; `ebnf` prints the rules in it, for older servers as `gbnf` does.

    Raises `DelimiterError` for triggers and excluded strings that hide one another, for a tag that no trigger or more
    than one begins, and for an end that overlaps itself behind free text.
    """
    return {"type": "structural_tag", "format": _json(given, ebnf)}


def _json(given: Format, ebnf: Printer) -> dict[str, JSON]:
    match given:
        case FreeText(excludes=excludes):
            return {"type": "any_text", "excludes": list(excludes)}
        case Json():
            return _json_schema(given)
        case Rules():
            return {"type": "grammar", "grammar": ebnf(given)}
        case Tag(begin=begin, content=content, end=end):
            _check_end(given)
            return {"type": "tag", "begin": begin, "content": _json(content, ebnf), "end": end}
        case Triggered():
            _check_triggers(given)
            return {
                "type": "triggered_tags",
                "triggers": list(given.triggers),
                "tags": [_json(tag, ebnf) for tag in given.tags],
                "at_least_one": given.at_least_one,
                "stop_after_first": given.one_only,
                "excludes": list(given.excludes),
            }
        case Separated():
            return {
                "type": "tags_with_separator",
                "tags": [_json(tag, ebnf) for tag in given.tags],
                "separator": given.separator,
                "at_least_one": given.at_least_one,
                "stop_after_first": given.one_only,
            }
        case Series(items=items):
            elements: list[JSON] = [
                {"type": "const_string", "value": item} if isinstance(item, str) else _json(item, ebnf)
                for item in items
            ]
            return {"type": "sequence", "elements": elements}
        case Maybe(item=item):
            return {"type": "optional", "content": _json(item, ebnf)}
        case _:
            assert_never(given)


def _json_schema(given: Json) -> dict[str, JSON]:
    found: dict[str, JSON] = {"type": "json_schema", "json_schema": given.schema}
    if given.any_order:
        found["any_order"] = True
    if given.whitespace is not None:
        found["max_whitespace_cnt"] = given.whitespace
    return found


def _check_end(tag: Tag) -> None:
    if tag.end and _open(tag.content) and _overlaps(tag.end):
        fix = "let rules scan for it, and leave `end` empty"
        raise DelimiterError(f"a tag's end {tag.end!r}", "free text could go on into a second end", fix)


def _open(content: Format | str) -> bool:
    """Whether free text can be the last of it, which xgrammar then ends at the end of the tag."""
    match content:
        case FreeText() | Triggered():
            return True
        case Series(items=items):
            return bool(items) and _open(items[-1])
        case Maybe(item=item):
            return _open(item)
        case _:
            return False


def _overlaps(text: str) -> bool:
    """Whether the text ends as it begins, so that two of it can overlap."""
    return any(text.startswith(text[k:]) for k in range(1, len(text)))


def _check_triggers(given: Triggered) -> None:
    problem = delimiter_problem((*given.triggers, *given.excludes))
    if problem:
        raise DelimiterError("triggers and excluded strings", problem, "change the triggers, or exclude less")
    for trigger, exclude in product(given.triggers, given.excludes):
        if trigger.endswith(exclude):
            raise DelimiterError("excluded strings", f"{exclude!r} ends the trigger {trigger!r}", "exclude less")
    for tag in given.tags:
        begun = [trigger for trigger in given.triggers if tag.begin.startswith(trigger)]
        if len(begun) != 1:
            raise DelimiterError(f"the tag {tag.begin!r}", f"{len(begun)} triggers begin it", "one of them must")


def own_notes(rules: Rules) -> Sequence[Note]:
    """In what the rules as `xgrammar_ebnf` prints them differ from those given."""
    return xgrammar_ebnf(rules)[1]


def format_notes(given: Format, ebnf: Noter = own_notes) -> Sequence[Note]:
    """In what the format differs from what was asked for; `ebnf` tells it of the rules in it."""
    return tuple(dict.fromkeys(_notes(given, ebnf)))


def _notes(given: Format, ebnf: Noter) -> Iterator[Note]:
    match given:
        case Json(schema=schema, name=name, any_order=any_order):
            yield from schema_notes(schema, name, any_order=any_order)
        case Tag(content=content):
            yield from _notes(content, ebnf)
        case Triggered(tags=tags) | Separated(tags=tags):
            if isinstance(given, Triggered) and given.at_least_one:
                yield Note(Effect.NARROWED, "text", "", "nothing can stand before the first call")
            for tag in tags:
                yield from _notes(tag, ebnf)
        case Series(items=items):
            for item in items:
                if not isinstance(item, str):
                    yield from _notes(item, ebnf)
        case Maybe(item=item):
            yield from _notes(item, ebnf)
        case Rules():
            yield from ebnf(given)
        case FreeText():
            pass
        case _:
            assert_never(given)
