"""Settings as the TOML file that would give them again; keys are hidden, unless they were said by where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import msgspec
from msgspec import Struct

from .config import Settings
from .leaves import fields, is_table
from .secret import Secret

__all__ = ["toml_value", "written"]

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(settings: Settings) -> str:
    """The whole tree, every setting with its value; one without a value is a comment."""
    return "\n".join(_tables(settings)) + "\n"


def _tables(settings: Settings) -> Iterator[str]:
    lists = []
    for leaf in fields(Settings):
        value = getattr(settings, leaf.key)
        if is_table(leaf.kind):
            yield from (f"[{leaf.key}]", *_lines(value), "")
        else:
            lists.append((leaf.key, value))
    for key, entries in lists:
        for entry in entries:
            yield from (f"[[{key}]]", *_lines(entry), "")
        if not entries:
            yield f"# [[{key}]]"


def _lines(table: Struct) -> Iterator[str]:
    for leaf in fields(type(table)):
        value = getattr(table, leaf.key)
        yield f"# {leaf.key} =" if value is None else f"{leaf.key} = {toml_value(value)}"


def toml_value(value: object) -> str:
    """A value as TOML has it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
        case Secret():
            return toml_value(value.said)
        case Mapping():
            return "{" + ", ".join(f"{_key(key)} = {toml_value(item)}" for key, item in value.items()) + "}"
        case tuple() | list():
            return "[" + ", ".join(map(toml_value, value)) + "]"
        case _:
            return repr(value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else toml_value(key)
