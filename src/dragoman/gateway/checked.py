"""Values as a file or a flag has them, turned into what a setting should be; whatever is wrong is said with its place.

`spelled` makes of a text, which is all that flags and variables have, a value such as a TOML file has; `checked` makes
of such a value the setting. Which of several sources counts is the business of `dragoman.gateway.sources`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import cast, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, Struct

from ..errors import InvalidConfig
from .leaves import Kind, Leaf, bare, element, fields, is_table
from .secret import Secret

__all__ = ["Environment", "checked", "found", "spelled", "unknown"]

Environment = Mapping[str, str]

_TRUTHS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}

_USER = re.compile(r"://[^/\s]*@")
"""Who a URL says one is, and the password."""

_SHOWN = 60
"""Characters of a wrong value that are shown."""


def spelled(text: str, leaf: Leaf) -> object:
    """What a text says where a setting is wanted; a text that says nothing of the kind stays one.

    A list is written as in a file (``["a", "b"]``), or as its items with commas between.
    """
    item = element(leaf.kind)
    if item is not None:
        written = _toml(text) if text.lstrip().startswith("[") else None
        return written if isinstance(written, list) else [entry(word, item) for word in _listed(text)]
    return _scalar(text, leaf.kind)


def entry(text: str, kind: Kind) -> object:
    """What a text says where one item of a list is wanted; a table is written as in a file (``{name = "a"}``)."""
    written = _toml(text) if is_table(kind) and text.lstrip().startswith("{") else None
    return written if isinstance(written, dict) else text.strip()


def checked(value: object, leaf: Leaf, where: str, environment: Environment) -> object:
    """A value as the setting is to be; raises `InvalidConfig`."""
    if get_origin(leaf.kind) is tuple:
        return _list(value, leaf, where, environment)
    return _one(value, leaf.kind, leaf.strict, leaf.expected, where, environment)


def unknown(where: str, name: str, known: Iterable[str]) -> InvalidConfig:
    """The mistake of a name that there is not, with the one that was probably meant."""
    names = tuple(known)
    near = get_close_matches(name, names, n=1, cutoff=0.6)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return InvalidConfig(where, f"one of {', '.join(names)}", f"{found(name)}{meant}")


def found(value: object) -> str:
    """A value in an error, shortened."""
    shown = _USER.sub("://(hidden)@", str(value).lower() if isinstance(value, bool) else repr(value))
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"


def _list(value: object, leaf: Leaf, where: str, environment: Environment) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise InvalidConfig(where, leaf.expected, _careful(value, element(leaf.kind)))
    inner = get_args(leaf.kind)[0]
    kind, expected = bare(inner)[0], _expected_item(leaf)
    return tuple(
        _one(each, kind, inner, expected, f"{where}[{index}]", environment) for index, each in enumerate(value)
    )


def _expected_item(leaf: Leaf) -> str:
    kind = element(leaf.kind)
    if is_table(kind):
        return "a word, or a table"
    return "a key, env:NAME or file:PATH" if kind is Secret else "text that is not empty"


def _one(value: object, kind: Kind, strict: Kind, expected: str, where: str, environment: Environment) -> object:
    if is_table(kind):
        return _table(value, cast("type[Struct]", kind), expected, where, environment)
    if kind is Secret:
        return _secret(value, expected, where, environment)
    if get_origin(kind) is Mapping:
        return _options(value, expected, where)
    try:
        whole = msgspec.convert(value, strict)
    except msgspec.ValidationError:
        raise InvalidConfig(where, expected, found(value)) from None
    if (isinstance(whole, float) and not math.isfinite(whole)) or (isinstance(whole, str) and not _is_text(whole)):
        raise InvalidConfig(where, expected, found(value))
    return whole


def _is_text(text: str) -> bool:
    """Whether it is without the halves of characters that variables and arguments may have in place of bytes."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _table(value: object, table: type[Struct], expected: str, where: str, environment: Environment) -> Struct:
    if isinstance(value, str) and (of_word := getattr(table, "of_word", None)) is not None:
        value = of_word(value)
    if not isinstance(value, dict):
        raise InvalidConfig(where, expected, found(value))
    known = {leaf.key: leaf for leaf in fields(table)}
    for name in value:
        if name not in known:
            raise unknown(where, name, known)
    for name, leaf in known.items():
        if leaf.default is NODEFAULT and name not in value:
            raise InvalidConfig(where, f"a table with {name}", f"one with {', '.join(value) or 'nothing'}")
    made = {name: checked(given, known[name], f"{where}.{name}", environment) for name, given in value.items()}
    try:
        return table(**made)
    except ValueError as error:
        raise InvalidConfig(where, str(error), f"one with {', '.join(value) or 'nothing'}") from None


def _secret(value: object, expected: str, where: str, environment: Environment) -> Secret:
    if not isinstance(value, str):
        raise InvalidConfig(where, expected, "something else")
    try:
        return Secret.of(value, environment)
    except ValueError as error:
        raise InvalidConfig(where, str(error), "none") from None


def _options(value: object, expected: str, where: str) -> object:
    if not isinstance(value, dict):
        raise InvalidConfig(where, expected, found(value))
    if not _is_json(value):  # TOML has dates and infinities, which no template is given
        raise InvalidConfig(where, "a table of what JSON can say", found(value))
    return value


def _is_json(value: object) -> bool:
    match value:
        case dict():
            return all(map(_is_json, value.values()))
        case list():
            return all(map(_is_json, value))
        case float():
            return math.isfinite(value)
        case _:
            return isinstance(value, str | int)


def _careful(value: object, kind: Kind | None) -> str:
    return "something else" if kind is Secret else found(value)


def _scalar(text: str, kind: Kind) -> object:
    word = text.strip()
    if kind is bool:
        return _TRUTHS.get(word.lower(), text)
    try:
        return int(word) if kind is int else float(word) if kind is float else text
    except ValueError:
        return text


def _listed(text: str) -> list[str]:
    """Items with commas between; a comma within braces or quotes is part of an item."""
    if text.lstrip().startswith("{"):
        return [text]
    return [word for word in map(str.strip, text.split(",")) if word]


def _toml(text: str) -> object:
    """The value that a text is in TOML, or ``None``."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
