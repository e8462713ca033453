"""Members of an object in any order, as plain rules.

A plain grammar remembers what was written by the rule that it is in: one for each set of members still to come, 2^k of
them. Where that is too much, only required members are remembered, and others may come again; where they are too many
as well, all stand in the order in which they are declared.
"""

from __future__ import annotations

from itertools import takewhile

from .book import Book
from .rules import EMPTY, AnyOrder, Expr, Member, Ref, Repeat, Text, choice, sequence

__all__ = ["any_order"]


def any_order(book: Book, order: AnyOrder, hint: str, limit: int) -> Expr:
    """The members; subsets are told apart of up to `limit` of them, or one more where only required ones count.

    The names of rules begin with `hint`.
    """
    order = _named(book, order, hint)
    required = [member for member in order.members if member.required]
    optional = [member.item for member in order.members if not member.required]
    extra = () if order.extra is None else (order.extra,)
    if order.declared or len(required) > limit + 1:
        if not order.declared:
            why = f"more than {limit + 1} required members, so they stand in the order of their declaration"
            book.narrowed("order", hint, why)
        return _declared(book, order, hint)
    if len(order.members) <= limit:
        return _Subsets(book, order.members, order.between, extra, hint).whole()
    if optional:
        book.relaxed("unique", hint, f"more than {limit} members, so an optional one may come again")
    return _Subsets(book, tuple(required), order.between, (*optional, *extra), hint).whole()


def _named(book: Book, order: AnyOrder, hint: str) -> AnyOrder:
    """The same with references to rules for what stands in many places."""
    members = tuple(Member(_rule(book, _label(hint, each.item), each.item), each.required) for each in order.members)
    between = _rule(book, f"{hint}-between", order.between)
    extra = None if order.extra is None else _rule(book, f"{hint}-extra", order.extra)
    return AnyOrder(members, between, extra, order.declared)


def _rule(book: Book, hint: str, item: Expr) -> Expr:
    return item if item == EMPTY or isinstance(item, Ref | Text) else book.rule(hint, item)


def _label(hint: str, item: Expr) -> str:
    texts = (part.text for part in item.walk() if isinstance(part, Text))
    return f"{hint}-{next(texts, 'member')}"


class _Subsets:
    """A rule for each set of members that are still to come; those that are `free` may always come."""

    def __init__(
        self, book: Book, members: tuple[Member, ...], between: Expr, free: tuple[Expr, ...], hint: str
    ) -> None:
        self.book, self.members, self.between, self.hint = book, members, between, hint
        self.free = _rule(book, f"{hint}-free", choice(*free)) if free else None
        self.known: dict[tuple[int, ...], Expr] = {}

    def whole(self) -> Expr:
        """All of them: nothing is written yet."""
        left = tuple(range(len(self.members)))
        if not left and self.free is None:
            return EMPTY
        if self.between == EMPTY:
            return self.rest(left)
        return choice(*self._end(left), *self._next(left))

    def rest(self, left: tuple[int, ...]) -> Expr:
        """What may follow a member that was written."""
        known = self.known.get(left)
        if known is not None:
            return known
        if not left:
            self.known[left] = EMPTY if self.free is None else Repeat(sequence(self.between, self.free))
            return self.known[left]
        name = self.book.name(f"{self.hint}-rest")
        self.known[left] = Ref(name)
        further = sequence(self.between, choice(*self._next(left)))
        return self.book.define(name, choice(*self._end(left), further))

    def _next(self, left: tuple[int, ...]) -> list[Expr]:
        named = [sequence(self.members[k].item, self.rest(tuple(j for j in left if j != k))) for k in left]
        return named if self.free is None else [*named, sequence(self.free, self.rest(left))]

    def _end(self, left: tuple[int, ...]) -> list[Expr]:
        return [] if any(self.members[k].required for k in left) else [EMPTY]


def _declared(book: Book, order: AnyOrder, hint: str) -> Expr:
    """The members in their order. Whatever comes first has no separator before it: any optional one, up to where one
    is required.
    """
    between, members = order.between, order.members
    more = EMPTY if order.extra is None else Repeat(sequence(between, order.extra))
    steps = [
        sequence(between, each.item) if each.required else Repeat(sequence(between, each.item), 0, 1)
        for each in members
    ]
    if between == EMPTY:
        return sequence(*steps, more)
    rests: list[Expr] = [more]  # what follows each member, from the last on
    leading = len(list(takewhile(lambda member: not member.required, members)))
    for k in range(len(members) - 1, 0, -1):
        rest = sequence(steps[k], rests[-1])
        rests.append(_rule(book, f"{hint}-rest", rest) if leading and k <= leading + 1 else rest)
    starts = [sequence(each.item, rest) for each, rest in zip(members[: leading + 1], reversed(rests), strict=False)]
    if leading == len(members):
        starts += [EMPTY] if order.extra is None else [EMPTY, sequence(order.extra, more)]
    return choice(*starts)
