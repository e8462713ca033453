"""Finds dialects: every module under `dialects/` that defines a `DIALECT` is one, by its name and aliases."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from . import dialects as package
from .dialect import Dialect
from .errors import InvalidDialect, UnknownDialect

__all__ = ["dialects", "get_dialect"]


@cache
def _known() -> dict[str, Dialect]:
    """Every dialect by name and alias; raises `InvalidDialect` if two claim one name."""
    from pkgutil import iter_modules  # not needed by who brings a dialect of their own

    known: dict[str, Dialect] = {}
    for info in iter_modules(package.__path__):
        dialect: Dialect = import_module(f"{package.__name__}.{info.name}").DIALECT
        for name in (dialect.name, *dialect.aliases):
            if known.setdefault(name, dialect) is not dialect:
                raise InvalidDialect(info.name, f"a name of its own, not {name!r}", known[name].name)
    return known


def dialects() -> tuple[Dialect, ...]:
    """All dialects, in the order of their names."""
    return tuple(sorted({id(d): d for d in _known().values()}.values(), key=lambda dialect: dialect.name))


def get_dialect(name: str) -> Dialect:
    """The dialect of this name or alias, or one of its variants, as in ``hy3:opensource``.

    Raises `UnknownDialect` with the names most like it, and `InvalidDialect` for a variant that can't be.
    """
    known = _known()
    base, colon, variant = name.partition(":")
    found = known.get(base) or known.get(base.lower().replace("-", "_"))
    if found is not None and (found.variant or not colon):
        return found.variant(variant) if found.variant and colon else found
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), known, n=3, cutoff=0.6)
    raise UnknownDialect(name, tuple(near), tuple(sorted({dialect.name for dialect in known.values()})))
