"""The leaves of the settings: each single setting with its key, its flag, its variable, and what it should be.

All of it is derived from the types of `dragoman.gateway.config`; nothing is listed twice. A list of tables (models,
workers) is one leaf, whose tables have fields of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Meta, Struct
from msgspec.structs import fields as fields_of

from .config import Settings
from .secret import Secret

__all__ = ["PREFIX", "Kind", "Leaf", "bare", "element", "fields", "is_table", "leaves"]

PREFIX = "DRAGOMAN_"
"""How the names of our variables begin."""

Kind: TypeAlias = object
"""A type as an annotation says it, without ``None`` and without metadata."""


class Leaf(Struct, frozen=True, kw_only=True):
    """One setting: where it stands in the tree, and what may stand there."""

    path: tuple[str, ...]
    kind: Kind
    """The bare type; `strict` is the same with its bounds."""
    strict: Kind
    default: object
    about: str
    expected: str
    words: tuple[str, ...]

    @property
    def key(self) -> str:
        """Its name in a file: ``server.port``."""
        return ".".join(self.path)

    @property
    def flag(self) -> str:
        """Its name on the command line: ``--port``."""
        return "--" + "-".join(self.words).replace("_", "-")

    @property
    def variable(self) -> str:
        """Its name in the environment: ``DRAGOMAN_SERVER__PORT``."""
        return PREFIX + "__".join(self.path).upper()


def is_table(kind: Kind) -> bool:
    """Whether something is a table with fields that are known."""
    return isinstance(kind, type) and issubclass(kind, Struct)


def element(kind: Kind) -> Kind | None:
    """What a list is of, or ``None`` for what is no list."""
    return bare(get_args(kind)[0])[0] if get_origin(kind) is tuple else None


@cache
def leaves() -> tuple[Leaf, ...]:
    """All settings, in the order in which they are described."""
    return tuple(_walk(Settings, (), ()))


@cache
def fields(table: type[Struct]) -> tuple[Leaf, ...]:
    """The fields of one table."""
    return tuple(_fields(table, (), ()))


def _walk(table: type[Struct], path: tuple[str, ...], words: tuple[str, ...]) -> Iterator[Leaf]:
    for leaf in _fields(table, path, words):
        if isinstance(leaf.kind, type) and issubclass(leaf.kind, Struct):
            yield from _walk(leaf.kind, leaf.path, leaf.words)
        else:
            yield leaf


def _fields(table: type[Struct], path: tuple[str, ...], words: tuple[str, ...]) -> Iterator[Leaf]:
    hints = get_type_hints(table, include_extras=True)
    for field in fields_of(table):
        kind, metas = bare(hints[field.name])
        extra = {key: value for meta in metas for key, value in (meta.extra or {}).items()}
        word = extra.get("flag", field.name)
        yield Leaf(
            path=(*path, field.name),
            kind=kind,
            strict=_strict(hints[field.name]),
            default=field.default if field.default is not NODEFAULT else _made(field.default_factory),
            about=next((meta.description for meta in metas if meta.description), ""),
            expected=extra.get("expected") or _expected(kind, metas),
            words=(*words, *([word] if word else [])),
        )


def _made(factory: object) -> object:
    return factory() if callable(factory) else NODEFAULT


def bare(hint: Kind) -> tuple[Kind, tuple[Meta, ...]]:
    """A type without ``None`` and metadata, and all the metadata that it had, the outermost last."""
    if get_origin(hint) is Annotated:
        inner, *metas = get_args(hint)
        kind, more = bare(inner)
        return kind, (*more, *(meta for meta in metas if isinstance(meta, Meta)))
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (arg for arg in get_args(hint) if arg is not NoneType)
        return bare(inner)
    return hint, ()


def _strict(hint: Kind) -> Kind:
    """A type without ``None``, its bounds kept."""
    if get_origin(hint) is Annotated and get_origin(get_args(hint)[0]) in (Union, UnionType):
        return _strict(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        (inner,) = (arg for arg in get_args(hint) if arg is not NoneType)
        return inner
    return hint


def _expected(kind: Kind, metas: tuple[Meta, ...]) -> str:
    """What may stand somewhere, in words."""
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, get_args(kind)))
    if get_origin(kind) is tuple:
        return "a list"
    if kind is Secret:
        return "a key, env:NAME or file:PATH"
    if is_table(kind) or get_origin(kind) is Mapping:
        return "a table"
    names: dict[Kind, str] = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
    return names[kind] + _bounds(metas)


def _bounds(metas: tuple[Meta, ...]) -> str:
    low = next((f"{meta.ge:g}" for meta in metas if meta.ge is not None), None)
    above = next((f"{meta.gt:g}" for meta in metas if meta.gt is not None), None)
    high = next((f"{meta.le:g}" for meta in metas if meta.le is not None), None)
    if low is not None:
        return f" from {low} to {high}" if high is not None else f" from {low} up"
    if above is not None:
        return f" above {above}" + (f", at most {high}" if high is not None else "")
    return " that is not empty" if any(meta.min_length for meta in metas) else ""
