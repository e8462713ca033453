"""Collecting rules: each under a name of its own that every engine takes."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping

from .guarantees import Effect, Note
from .rules import Expr, Ref, Rules

__all__ = ["Book", "closed"]

_other = re.compile(r"[^a-z0-9]+")
NAME_LIMIT = 48


class Book:
    """Rules while they are being written, and notes on what was lost on the way.

    Names are made of hints: what engines don't take becomes a hyphen, and hints that then look alike are numbered, so
    that ``get_x`` and ``get-x`` stay two rules. An expression that is there already keeps its first name.
    """

    def __init__(self) -> None:
        self.rules: dict[str, Expr] = {}
        self.notes: list[Note] = []
        self.shared: dict[Hashable, Ref] = {}  # rules that hold themselves, by what they are
        self._names: dict[Expr, str] = {}
        self._taken: dict[str, int] = {"root": 1}

    def name(self, hint: str) -> str:
        """A name that nobody else gets; its rule is to be `define`\\ d."""
        plain = _other.sub("-", hint.lower()).strip("-")[:NAME_LIMIT].strip("-") or "rule"
        if not plain[0].isalpha():
            plain = f"r-{plain}"
        while True:
            number = self._taken.get(plain, 0)
            self._taken[plain] = number + 1
            name = f"{plain}-{number}" if number else plain
            if number == 0 or name not in self._taken:
                self._taken.setdefault(name, 1)
                return name

    def keep(self, name: str) -> None:
        """Leave a name to the rule that has it already."""
        self._taken.setdefault(name, 1)

    def define(self, name: str, expr: Expr) -> Ref:
        """The rule of a name that was given out."""
        self.rules[name] = expr
        self._names.setdefault(expr, name)
        return Ref(name)

    def rule(self, hint: str, expr: Expr) -> Ref:
        """A reference to this expression, which becomes a rule unless it is one."""
        known = self._names.get(expr)
        return Ref(known) if known is not None else self.define(self.name(hint), expr)

    def note(self, effect: Effect, what: str, where: str, why: str) -> None:
        """Report a difference from what was asked for."""
        self.notes.append(Note(effect, what, where, why))

    def relaxed(self, what: str, where: str, why: str) -> None:
        """Report that more passes than was asked for."""
        self.note(Effect.RELAXED, what, where, why)

    def narrowed(self, what: str, where: str, why: str) -> None:
        """Report that less passes than would be legal."""
        self.note(Effect.NARROWED, what, where, why)

    def close(self, root: Expr, name: str = "root") -> Rules:
        """The rules that `root` needs, with it first, under this name; others are left out."""
        return closed(self.rules, root, name)


def closed(rules: Mapping[str, Expr], root: Expr, name: str = "root") -> Rules:
    """Those of the rules that `root` needs, with it first, under this name."""
    needed: dict[str, Expr] = {name: root}
    pending = [root]
    while pending:
        for part in pending.pop().walk():
            if isinstance(part, Ref) and part.name not in needed:
                needed[part.name] = rules[part.name]
                pending.append(needed[part.name])
    return Rules(needed, name)
