"""What a declaration says, checked: the keys of Hugging Face's ``response_template``, version 1.

Every key is looked at and every unknown one refused, so that no declaration is half understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from ..errors import InvalidTemplate
from .patterns import Either, Piece, Row, Text, Unreadable, groups, parsed, trimmed

__all__ = ["Declaration", "Field", "declared", "refused"]

Json: TypeAlias = object

CONTENTS = ("text", "int", "float", "bool", "json", "xml-inline", "kv-lines")
TOP = {"version", "defaults", "start_anchor", "start_anchor_pattern", "fields"}
FIELD = {
    *("open", "open_pattern", "close", "close_pattern", "content", "content_args"),
    *("repeats", "join", "optional", "transform", "transform_each"),
}
ARGS = {
    "text": {"strip"},
    "json": {"unquoted_keys", "string_delims", "allow_non_json"},
    "xml-inline": {"tag_pattern", "value_parser", "merge_duplicates"},
    "kv-lines": {"line_sep", "kv_sep", "strip", "value_parser"},
}


class Field(Struct, frozen=True, kw_only=True):
    """A field: its delimiters (``None``: it has none), the content between them, and the shape of its value.

    `pattern` is the regular expression that opens it, if it is one.
    """

    name: str
    open: Piece | None
    close: Piece | None
    pattern: str | None
    content: str
    args: Mapping[str, Json]
    transform: Json
    each: bool

    @property
    def where(self) -> str:
        """Its place in the declaration."""
        return f"response_template.fields.{self.name}"

    @property
    def strips(self) -> bool:
        """Whether newlines at the edges of its text are layout."""
        return self.args.get("strip", True) is True


class Declaration(Struct, frozen=True):
    """The fields with delimiters, the one that takes what is left (if any), and the anchor of the turn."""

    fields: tuple[Field, ...]
    implicit: Field | None
    anchor: Piece


def refused(where: str, expected: str, found: object, fix: str = "change the declaration") -> InvalidTemplate:
    """The error about a place in the declaration."""
    shown = repr(found) if not isinstance(found, str) else found
    return InvalidTemplate(where, expected, shown if len(shown) <= 80 else shown[:77] + "...", fix)


def declared(value: Json) -> Declaration:
    """The declaration in a decoded JSON value; raises `InvalidTemplate`."""
    where = "response_template"
    top = _mapping(where, value, TOP)
    if top.get("version", 1) != 1:
        raise refused(f"{where}.version", "1", top["version"], "this version of the format is not known")
    _mapping(f"{where}.defaults", top.get("defaults", {}), None)
    anchor = _delimiter(where, top, "start_anchor", "start_anchor_pattern")
    if anchor is None:
        raise refused(where, "start_anchor or start_anchor_pattern", "neither", "say what begins the assistant's turn")
    raw = _mapping(f"{where}.fields", top.get("fields"), None)
    if not raw:
        raise refused(f"{where}.fields", "at least one field", "none")
    fields = [_field(f"{where}.fields.{name}", name, field) for name, field in raw.items()]
    implicit = [field for field in fields if field.open is None]
    if len(implicit) > 1:
        names = " and ".join(field.name for field in implicit)
        raise refused(f"{where}.fields", "one field without open at most", names, "give the others an opener")
    return Declaration(
        tuple(field for field in fields if field.open is not None), implicit[0] if implicit else None, anchor
    )


def _mapping(where: str, value: Json, known: set[str] | None) -> dict[str, Json]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise refused(where, "an object", value)
    unknown = sorted(set(value) - known) if known is not None else []
    if unknown:
        raise refused(where, f"some of {', '.join(sorted(known or ()))}", ", ".join(unknown))
    return value


def _field(where: str, name: str, value: Json) -> Field:
    raw = _mapping(where, value, FIELD)
    content = raw.get("content", "text")
    if content not in CONTENTS:
        raise refused(f"{where}.content", f"one of {', '.join(CONTENTS)}", content)
    for key in ("repeats", "optional", "transform_each"):
        if not isinstance(raw.get(key, False), bool):
            raise refused(f"{where}.{key}", "true or false", raw[key])
    if raw.get("join") is not None and not (isinstance(raw["join"], str) and raw.get("repeats")):
        raise refused(f"{where}.join", "a string, in a field that repeats", raw["join"])
    transform, each = raw.get("transform"), raw.get("transform_each") is True
    if each and (transform is None or content != "json"):
        raise refused(f"{where}.transform_each", "content json and a transform", content)
    field = Field(
        name=name,
        open=_delimiter(where, raw, "open", "open_pattern"),
        close=_delimiter(where, raw, "close", "close_pattern"),
        pattern=str(raw["open_pattern"]) if raw.get("open_pattern") is not None else None,
        content=str(content),
        args=_mapping(f"{where}.content_args", raw.get("content_args", {}), ARGS.get(str(content), set())),
        transform=transform,
        each=each,
    )
    named = sorted(groups(field.open) if field.open is not None else ())
    if named and transform is None:
        raise refused(f"{where}.open_pattern", "groups with a name only where a transform uses them", ", ".join(named))
    return field


def _delimiter(where: str, raw: Mapping[str, Json], literal: str, pattern: str) -> Piece | None:
    """The literals or the pattern of a delimiter, ``None`` if there is neither."""
    if raw.get(literal) is not None and raw.get(pattern) is not None:
        raise refused(where, f"{literal} or {pattern}", "both")
    if raw.get(pattern) is not None:
        if not isinstance(raw[pattern], str):
            raise refused(f"{where}.{pattern}", "a regular expression", raw[pattern])
        try:
            piece = trimmed(parsed(str(raw[pattern])))
        except Unreadable as error:
            raise refused(
                f"{where}.{pattern}", error.expected, error.found, "write it as literals, or with bounds"
            ) from None
        return None if piece == Row(()) else piece
    given = raw.get(literal)
    literals = [given] if isinstance(given, str) else given
    if literals is None:
        return None
    if not isinstance(literals, list) or not literals or not all(isinstance(text, str) and text for text in literals):
        raise refused(f"{where}.{literal}", "a string or a list of strings, none of them empty", given)
    ordered = sorted(dict.fromkeys(literals), key=len, reverse=True)
    texts = tuple(Text(text) for text in ordered)
    return texts[0] if len(texts) == 1 else Either(texts)
