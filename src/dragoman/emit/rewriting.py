"""Writing rules anew, part by part: what the expansions and the printers' own forms have in common."""

from __future__ import annotations

from operator import is_

from .book import Book
from .rules import AnyOrder, Choice, Expr, Member, Repeat, Rules, Sequence, choice, sequence

__all__ = ["Rewriting"]


class Rewriting:
    """Writes rules into a book, each part as `plain` has it; those who say more override that.

    Names of the rules stay theirs; parts that don't change are the same objects.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules, self.book = rules, Book()
        for name in rules.rules:
            self.book.keep(name)

    def whole(self) -> Rules:
        """The rules that the root needs."""
        for name, rule in self.rules.rules.items():
            self.book.define(name, self.plain(rule, name))
        return self.book.close(self.book.rules[self.rules.root], self.rules.root)

    def plain(self, part: Expr, where: str) -> Expr:
        """A part of the rule named `where`."""
        match part:
            case Sequence(items):
                plain = [self.plain(item, where) for item in items]
                return part if all(map(is_, plain, items)) else sequence(*plain)
            case Choice(items):
                plain = [self.plain(item, where) for item in items]
                return part if all(map(is_, plain, items)) else choice(*plain)
            case Repeat(item, low, high):
                return Repeat(self.plain(item, where), low, high)
            case AnyOrder(members, between, extra, declared):
                kept = tuple(Member(self.plain(each.item, where), each.required) for each in members)
                more = None if extra is None else self.plain(extra, where)
                return AnyOrder(kept, self.plain(between, where), more, declared)
            case _:
                return part
