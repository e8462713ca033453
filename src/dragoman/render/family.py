"""What a family of models is to a renderer: how its conversations are written, in which dialect, with which options.

A family is a frozen value, one file each under `families/`, found by being there. A dialect is how a *model* writes, a
family is how its *chat template* does: families share dialects.
"""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from importlib import import_module

import msgspec
from msgspec import Struct

from ..dialect import Dialect
from ..errors import InvalidConversation, UnknownFamily
from ..registry import get_dialect, normal_name
from ..types import JSON
from . import families as package
from .page import AnyOptions, Chat, Options, Page

__all__ = ["Family", "families", "family_of", "get_family"]


class Family(Struct, frozen=True, kw_only=True):
    """How conversations of one family of models are written.

    `write` writes a whole conversation on a page; `prompt` is what a generation prompt has behind the messages before
    an index, and must be how `write` begins the assistant's turn there, or the turn counts as rewritten. `options` are
    the family's own, `ends` the tokens that end the model's turn, `calling` those among them with which it calls.
    `needs` are the control tokens that a tokenizer must have. `source` says which chat template or library it follows;
    the file's docstring lists every deviation. `models` are globs of model ids, `templates` hashes of chat templates.

    `spoken` is the dialect itself, if it has no name that everybody knows.

    Where the format has no token that ends the turn, `stop_texts` are the texts that do; the dialect knows them too.
    `lead` is what the model writes first in its turn before text, and what is no part of that: a space, mostly.
    """

    name: str
    doc: str
    dialect: str
    write: Callable[[Chat, Page], None]
    prompt: Callable[[Chat, int], str]
    ends: tuple[str, ...]
    source: str
    needs: tuple[str, ...] = ()
    options: type[Options] = Options
    calling: tuple[str, ...] = ()
    stop_texts: tuple[str, ...] = ()
    lead: str = ""
    models: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    spoken: Dialect | None = None

    def __repr__(self) -> str:
        return f"<Family {self.name}>"

    def read_options(self, values: dict[str, JSON]) -> Options:
        """The options from their values by name; raises `InvalidConversation` for one that there is not."""
        if issubclass(self.options, AnyOptions):
            return self.options(values)
        try:
            return msgspec.convert(values, self.options)
        except msgspec.ValidationError as error:
            known = ", ".join(self.options.__struct_fields__) or "none"
            raise InvalidConversation(-1, f"options of {self.name} ({known})", str(error)) from None

    def speaks(self) -> Dialect:
        """The dialect in which its models answer."""
        return self.spoken or get_dialect(self.dialect)


@cache
def _known() -> dict[str, Family]:
    from pkgutil import iter_modules

    known: dict[str, Family] = {}
    for info in iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{info.name}")
        for family in module.FAMILIES:
            for name in (family.name, *family.aliases):
                assert known.setdefault(name, family) is family, f"two families are called {name}"
    return known


def families() -> tuple[Family, ...]:
    """All families, in the order of their names."""
    return tuple(sorted({id(each): each for each in _known().values()}.values(), key=lambda family: family.name))


def get_family(name: str) -> Family:
    """The family of this name or alias, or of the model of this id; raises `UnknownFamily`."""
    found = _known().get(normal_name(name)) or family_of(name)
    if found is None:
        from difflib import get_close_matches

        near = tuple(get_close_matches(normal_name(name), _known(), n=3))
        raise UnknownFamily(name, near, tuple(family.name for family in families()))
    return found


def family_of(model: str) -> Family | None:
    """The family of a model by its id: the longest glob that fits; ``None`` if none does."""
    fitting = [
        (len(glob), family)
        for family in families()
        for glob in family.models
        if fnmatchcase(model.lower(), glob.lower())
    ]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None
