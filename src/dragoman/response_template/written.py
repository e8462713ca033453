"""Writing messages as a declaration says that they are read; what it does not tell raises `Inexpressible`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from json import dumps

from ..errors import Inexpressible
from ..idioms import members_of, raw_text, spell
from ..segments import text_of
from ..types import Message, TextPart, ThinkingPart, ToolCall
from .declaration import Declaration, Field
from .patterns import Unreadable, begins, written
from .regions import CALLS, CONTENT, THOUGHTS, closers_of
from .shapes import Part, Shape, shape_of, tag_of

__all__ = ["writer_of"]


KINDS = {'"': "string", "{": "object", "[": "array", "t": "boolean", "f": "boolean", "n": "null"}
"""JSON's types by the first character, but for numbers."""


def writer_of(dialect: str, declaration: Declaration, stops: tuple[str, ...]) -> Callable[[Message], str]:
    """The function that writes messages of this declaration."""
    fields = {field.name: field for field in declaration.fields}
    implicit = declaration.implicit
    text = implicit if implicit is not None and implicit.name == CONTENT else fields.get(CONTENT)
    thoughts = next((fields[name] for name in THOUGHTS if name in fields), None)
    heads = {head for field in declaration.fields if field.open is not None for head in begins(field.open)}
    ends = {end for field in declaration.fields if field.close is not None for end in begins(field.close)}
    marks = tuple(sorted({*heads, *ends, *stops} - {""}))
    calls = fields.get(CALLS)
    group = _calls_of(calls) if calls is not None else None

    def writer(message: Message) -> str:
        for k, part in enumerate(message.parts):
            field = text if isinstance(part, TextPart) else thoughts
            if isinstance(part, (TextPart, ThinkingPart)) and _is_cut(field, part.text):
                raise Inexpressible(dialect, k, "newlines at its edges would be read as layout")
            if isinstance(part, TextPart) and field is None:
                raise Inexpressible(dialect, k, "the declaration has no content")
        out = spell(
            dialect,
            message,
            marks=marks,
            thinking=(lambda inside: _region(thoughts, inside)) if thoughts is not None else None,
            text=lambda inside: _region(text, inside) if text is not None else inside,
            calls=group,
        )
        return text_of(out)

    return writer


def _is_cut(field: Field | None, text: str) -> bool:
    return field is not None and field.strips and text.strip("\n") != text


def _region(field: Field, inside: str) -> str:
    return f"{_open(field, {})}{inside}{_close(field)}"


def _open(field: Field, values: Mapping[str, str]) -> str:
    """The opener of a field, with these values for its groups."""
    if field.open is None:
        return ""
    try:
        opener = written(field.open, values)
    except Unreadable as error:
        raise Inexpressible("", 0, f"the opener of {field.name!r} has a part that can be anything") from error
    found = re.fullmatch(field.pattern, opener, re.DOTALL) if field.pattern is not None else None
    if field.pattern is not None and (found is None or any(found[name] != value for name, value in values.items())):
        raise Inexpressible("", 0, f"the opener of {field.name!r} can't hold {dict(values)}")
    return opener


def _close(field: Field) -> str:
    return written(field.close, {}) if field.open is not None and field.close is not None else ""


def _calls_of(field: Field) -> Callable[[Sequence[ToolCall], bool, bool], list[str]]:
    shape, closers = shape_of(field), closers_of(field)

    def calls(group: Sequence[ToolCall], after_text: bool, more: bool) -> list[str]:
        if shape.each:
            inside = ", ".join(_object(shape, call) for call in group)
            return [f"{_open(field, {})}[{inside}]{_close(field)}"]
        if not closers and (more or len(group) > 1) and not shape.arguments.whole:
            raise Inexpressible("", 0, "nothing closes a call, so it is the last")
        return [_one(field, shape, call, k) for k, call in enumerate(group)]

    return calls


def _one(field: Field, shape: Shape, call: ToolCall, index: int) -> str:
    values = {part.group: value for part, value in _parts(shape, call) if part.group is not None}
    try:
        opener = _open(field, values)
    except Inexpressible as error:
        raise Inexpressible("", index, error.reason) from None
    if not shape.arguments.whole:
        return f"{opener}{_object(shape, call)}{_close(field)}"
    if field.content == "xml-inline":
        return f"{opener}{_tags(field, call, index)}{_close(field)}"
    if field.args.get("string_delims") or field.args.get("unquoted_keys"):
        raise Inexpressible("", index, "the declaration says how its notation is read, not how it is written")
    return f"{opener}{call.arguments}{_close(field)}"


def _parts(shape: Shape, call: ToolCall) -> list[tuple[Part, str]]:
    named = [(shape.name, call.name)]
    return [*named, (shape.id, call.id)] if shape.id is not None and call.id is not None else named


def _object(shape: Shape, call: ToolCall) -> str:
    members = [f"{dumps(part.key)}: {dumps(value)}" for part, value in _parts(shape, call) if part.key is not None]
    return f"{{{', '.join([*members, f'{dumps(shape.arguments.key)}: {call.arguments}'])}}}"


def _tags(field: Field, call: ToolCall, index: int) -> str:
    tag = tag_of(field)
    out = []
    for key, json in members_of(call.arguments):
        value = raw_text(json)
        kind = KINDS.get(json[0], "number")
        text = ""
        try:
            parts = (written(tag.head, {}), key, written(tag.middle, {}), value, written(tag.tail, {}))
            text = "".join(parts)
        except Unreadable:
            raise Inexpressible("", index, "the tags have a part that can be anything") from None
        found = re.fullmatch(tag.pattern, text, re.DOTALL)
        if found is None or (found["key"], found["value"]) != (key, value):
            raise Inexpressible("", index, f"the argument {key!r} would be read otherwise")
        if tag.strips and value.strip("\n") != value:
            raise Inexpressible("", index, f"newlines at the edges of {key!r} would be read as layout")
        if any(end in value for end in begins(tag.tail)) or (tag.kinds is not None and kind not in tag.kinds):
            raise Inexpressible("", index, f"no tag can hold the value of {key!r}")
        out.append(text)
    return "".join(out)
