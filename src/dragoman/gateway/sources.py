"""Where settings come from: flags before the environment, the environment before a file, a file before the defaults.

Everything that a source says is checked there, also what another one overrides: a mistake is never silent. A list
replaces the list of a weaker source, it is not added to it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

from msgspec import Struct

from ..errors import InvalidConfig
from .checked import Environment, checked, entry, found, spelled, unknown
from .config import Settings
from .leaves import PREFIX, element, is_table, leaves
from .leaves import fields as fields_of

__all__ = ["FILE", "Flags", "read_settings"]

FILE = f"{PREFIX}CONFIG"
"""The variable that names the file, where no flag does."""

Flags: TypeAlias = Mapping[str, str | bool | Sequence[str]]
"""What the command line says, by the keys of settings: a list has one text for each time its flag is given."""

_Values: TypeAlias = dict[str, object]


def read_settings(
    file: Path | None = None, environment: Environment | None = None, flags: Flags | None = None
) -> Settings:
    """The settings of all sources together; raises `InvalidConfig`, which names the source and the place in it."""
    environment = environment or {}
    if file is None and environment.get(FILE):
        file = Path(environment[FILE])
    values = _of_file(file, environment) if file is not None else {}
    values |= _of_environment(environment)
    values |= _of_flags(flags or {}, environment)
    return cast("Settings", _built(Settings, "", values))


def _of_file(file: Path, environment: Environment) -> _Values:
    try:
        tree = tomllib.loads(file.read_bytes().decode())
    except OSError as error:
        raise InvalidConfig(str(file), "a file that can be read", error.strerror or "another") from None
    except UnicodeDecodeError as error:
        raise InvalidConfig(str(file), "UTF-8", f"something else at byte {error.start}") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidConfig(str(file), "TOML", f"what is none: {error}") from None
    values: _Values = {}
    _descend(tree, Settings, str(file), "", environment, values)
    return values


def _descend(tree: object, table: type[Struct], name: str, at: str, environment: Environment, into: _Values) -> None:
    """Collect the leaves of a table of the file."""
    where = f"{name}: {at}" if at else name
    known = {leaf.key: leaf for leaf in fields_of(table)}
    if not isinstance(tree, dict):
        raise InvalidConfig(where, "a table", found(tree))
    for key, value in tree.items():
        if key not in known:
            raise unknown(where, key, known)
        leaf, path = known[key], f"{at}.{key}" if at else key
        if is_table(leaf.kind):
            _descend(value, cast("type[Struct]", leaf.kind), name, path, environment, into)
        else:
            into[path] = checked(value, leaf, f"{name}: {path}", environment)


def _of_environment(environment: Environment) -> _Values:
    """What variables say; an empty one says nothing.

    Only names with a double underscore are taken for ours: Kubernetes sets ``DRAGOMAN_PORT`` and its like in every
    container that can see a service of the name "dragoman".
    """
    known = {leaf.variable: leaf for leaf in leaves()}
    values: _Values = {}
    for name, text in environment.items():
        if name in known and text:
            leaf = known[name]
            values[leaf.key] = checked(spelled(text, leaf), leaf, name, environment)
        elif name not in known and name.startswith(PREFIX) and "__" in name:
            error = unknown(name, name, known)
            raise InvalidConfig(name, "the name of a setting", error.found)
    return values


def _of_flags(flags: Flags, environment: Environment) -> _Values:
    known = {leaf.key: leaf for leaf in leaves()}
    values: _Values = {}
    for key, given in flags.items():
        leaf = known[key]
        item = element(leaf.kind)
        match given:
            case bool():
                value: object = given
            case str():
                value = spelled(given, leaf)
            case _:
                value = [entry(text, item) for text in given]
        values[key] = checked(value, leaf, leaf.flag, environment)
    return values


def _built(table: type[Struct], at: str, values: _Values) -> Struct:
    """A table with its leaves where there are some, and its defaults."""
    made: dict[str, object] = {}
    for leaf in fields_of(table):
        path = f"{at}{leaf.key}"
        if is_table(leaf.kind):
            made[leaf.key] = _built(cast("type[Struct]", leaf.kind), f"{path}.", values)
        elif path in values:
            made[leaf.key] = values[path]
    return table(**made)
