"""Finds dialects: every module under `dialects/` that defines a `DIALECT` is one, by its name and aliases.

`dragoman.recognise` finds them by other things: a model's id, its tokenizer, its chat template, its output.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec.structs import replace

from . import dialects as package
from .dialect import Dialect
from .errors import AmbiguousDialect, InvalidDialect, UnknownDialect

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["AUTO", "auto", "dialects", "get_dialect", "near_names", "normal_name", "sharers"]

AUTO = "auto"
"""The name that leaves it to the output; see `dragoman.recognise.stream`."""


LONGEST_NAME = 256
"""Characters of a name that is compared with others."""


@cache
def _known() -> Mapping[str, Dialect]:
    """Every dialect by name and alias; raises `InvalidDialect` if two claim one name."""
    from pkgutil import iter_modules  # not needed by who brings a dialect of their own

    known: dict[str, Dialect] = {}
    for info in iter_modules(package.__path__):
        dialect: Dialect = import_module(f"{package.__name__}.{info.name}").DIALECT
        for name in (dialect.name, *dialect.aliases):
            if name == AUTO or known.setdefault(name, dialect) is not dialect:
                owner = known[name].name if name in known else "the one that the output tells"
                raise InvalidDialect(info.name, f"a name of its own, not {name!r}", owner)
    return known


@cache
def _own(name: str) -> Dialect | None:
    """The dialect in the file of this name, without looking at the others."""
    if not name.isidentifier() or name.startswith("_"):
        return None
    try:
        found: Dialect = import_module(f"{package.__name__}.{name}").DIALECT
    except ModuleNotFoundError:
        return None
    return found if found.name == name else None


@cache
def auto() -> Dialect:
    """The dialect that is not known yet: reads as `generic` until the output tells, and writes as it."""
    return replace(_known()["generic"], name=AUTO, doc="Auto: the dialect is told by the output.", aliases=())


def dialects() -> tuple[Dialect, ...]:
    """All dialects, in the order of their names."""
    return tuple(sorted({id(d): d for d in _known().values()}.values(), key=lambda dialect: dialect.name))


def normal_name(name: str) -> str:
    """A name as dialects have them: small letters, with underscores."""
    return name.strip().lower().replace("-", "_").replace(".", "_").replace(" ", "_")


def sharers(name: str) -> tuple[Dialect, ...]:
    """The dialects that answer to a name that is nobody's own."""
    return tuple(dialect for dialect in dialects() if normal_name(name) in dialect.shared)


def get_dialect(name: str) -> Dialect:
    """The dialect of this name or alias, or one of its variants, as in ``hy3:opensource``.

    Raises `AmbiguousDialect` for a name that several share, else `UnknownDialect` with the names most like it, and
    `InvalidDialect` for a variant that can't be.
    """
    base, colon, variant = name.partition(":")
    found = _own(base) or _known().get(base) or _known().get(normal_name(base))
    if found is not None and (found.variant or not colon):
        return found.variant(variant) if found.variant and colon else found
    if normal_name(name) == AUTO:
        return auto()
    shared = sharers(name)
    if len(shared) == 1:
        return shared[0]
    if shared:
        raise AmbiguousDialect(name, tuple((dialect.name, f"answers to {normal_name(name)!r}") for dialect in shared))
    raise UnknownDialect(name, near_names(name), tuple(dialect.name for dialect in dialects()))


def near_names(name: str) -> tuple[str, ...]:
    """The names of dialects that are most like this one; none for a text that is too long to be one."""
    from difflib import get_close_matches

    return tuple(get_close_matches(normal_name(name), _known(), n=3, cutoff=0.7)) if len(name) < LONGEST_NAME else ()
