"""Where a declaration's fields say that the parts of a call are: its name, its arguments, its id, each argument."""

from __future__ import annotations

import re

from msgspec import Struct

from .declaration import Field, refused
from .patterns import Group, Piece, Row, Unreadable, begins, groups, parsed, trimmed

__all__ = ["Part", "Shape", "TagShape", "shape_of", "tag_of"]

PLACEHOLDER = re.compile(r"\{(\w+)(?:\.(\w+))?\}")


class Part(Struct, frozen=True):
    """A group of the opener, a member of the content's object (`key`), or all of the content."""

    group: str | None = None
    key: str | None = None

    @property
    def whole(self) -> bool:
        """Whether it is all of the content."""
        return self.group is None and self.key is None


class Shape(Struct, frozen=True):
    """Where the parts of a call are; `each` if there is an array of such."""

    name: Part
    arguments: Part
    id: Part | None
    each: bool


def shape_of(field: Field) -> Shape:
    """The shape of a field's calls; raises `InvalidTemplate` where its transform does not tell."""
    where = f"{field.where}.transform"
    outer = field.transform if field.transform is not None else {"function": "{content}"}
    if not isinstance(outer, dict):
        raise refused(where, "an object", outer)
    inner = outer.get("function", outer)
    if inner == "{content}":
        inner = {"name": "{content.name}", "arguments": "{content.arguments}"}
    if not isinstance(inner, dict) or not {"name", "arguments"} <= set(inner):
        raise refused(where, "a function with a name and arguments", inner)
    name, arguments = (_part(field, f"{where}.{key}", inner[key]) for key in ("name", "arguments"))
    given = outer.get("id", inner.get("id"))
    shape = Shape(name, arguments, _part(field, f"{where}.id", given) if given is not None else None, field.each)
    if name.whole or arguments.group is not None or (shape.id is not None and shape.id.whole):
        raise refused(where, "a name from a group or a member, and arguments from the content", inner)
    if arguments.whole is (name.group is None):
        raise refused(where, "name and arguments both as members, or a group and all of the content", inner)
    return shape


def _part(field: Field, where: str, value: object) -> Part:
    found = PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        raise refused(where, "one placeholder such as {name} or {content.name}", value)
    head, key = found.groups()
    if head == "content":
        return Part(None, key)
    if key is None and field.open is not None and head in groups(field.open):
        return Part(group=head)
    if key is None and field.each:
        return Part(None, head)
    raise refused(where, "a group of open_pattern, or content", value)


_KINDS: dict[str, tuple[str, ...] | None] = {
    "text": None,
    "json": None,
    "int": ("number",),
    "float": ("number",),
    "bool": ("boolean",),
}


class TagShape(Struct, frozen=True):
    """An argument as a tag: what stands before its key, the key, what divides it from the value, and what closes it.

    `kinds` are the JSON types of the value, ``None`` those of the tool's schema; where it `strips`, a newline at an
    edge of the value is layout.
    """

    head: Piece
    key: Piece
    middle: Piece
    tail: Piece
    kinds: tuple[str, ...] | None
    strips: bool
    pattern: str


def tag_of(field: Field) -> TagShape:
    """The tags of a field's arguments; raises `InvalidTemplate`."""
    where = f"{field.where}.content_args"
    pattern = field.args.get("tag_pattern")
    if not isinstance(pattern, str):
        raise refused(f"{where}.tag_pattern", "a regular expression", pattern)
    if field.args.get("merge_duplicates"):
        raise refused(
            f"{where}.merge_duplicates", "false", True, "an argument that is given twice can't be one list in a stream"
        )
    try:
        piece = trimmed(parsed(pattern))
    except Unreadable as error:
        raise refused(f"{where}.tag_pattern", error.expected, error.found) from None
    items = piece.items if isinstance(piece, Row) else (piece,)
    at = {item.name: k for k, item in enumerate(items) if isinstance(item, Group)}
    if not 0 < at.get("key", 0) < at.get("value", 0):
        raise refused(f"{where}.tag_pattern", "text, a group 'key', text, a group 'value', text", pattern)
    tail = trimmed(Row(items[at["value"] + 1 :]))
    if "" in begins(tail):
        raise refused(f"{where}.tag_pattern", "a literal behind the value", pattern)
    key = items[at["key"]]
    assert isinstance(key, Group)
    middle = Row(items[at["key"] + 1 : at["value"]])
    return TagShape(Row(items[: at["key"]]), key.item, middle, tail, *_value_of(field), pattern)


def _value_of(field: Field) -> tuple[tuple[str, ...] | None, bool]:
    """The types of a value, and whether it is stripped."""
    where = f"{field.where}.content_args.value_parser"
    parser = field.args.get("value_parser")
    if parser is None:
        return None, False
    args = parser.get("args", {}) if isinstance(parser, dict) else {}
    if not isinstance(parser, dict) or parser.get("name") not in _KINDS or not isinstance(args, dict):
        raise refused(where, f"a name, one of {', '.join(_KINDS)}, and args", parser)
    return _KINDS[str(parser["name"])], args.get("strip", True) is True
