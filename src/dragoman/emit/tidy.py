"""Rules without what can never match, without names for nothing, and without rules that lead straight to themselves."""

from __future__ import annotations

from .rules import (
    EMPTY,
    AnyOrder,
    Chars,
    Choice,
    Expr,
    Lexeme,
    Member,
    Ref,
    Repeat,
    Rules,
    Scan,
    Sequence,
    choice,
    sequence,
)

__all__ = ["tidied"]


def tidied(rules: Rules) -> Rules | None:
    """The same language in fewer words, with the rules that the root needs only; ``None`` if nothing is in it."""
    tidying = _Tidying(rules)
    if rules.root not in tidying.living:
        return None
    found: dict[str, Expr] = {}
    pending = [rules.root]
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found[name] = tidying.rule(name)
        pending += [part.name for part in found[name].walk() if isinstance(part, Ref)]
    return Rules({name: found[name] for name in (rules.root, *rules.rules) if name in found}, rules.root)


class _Tidying:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules.rules
        self.living: set[str] = set()
        while True:
            more = {name for name in self.rules if name not in self.living and self.lives(self.rules[name])}
            if not more:
                break
            self.living |= more

    def lives(self, part: Expr) -> bool:
        """Whether anything matches, as far as that is known."""
        match part:
            case Chars(ranges=ranges, negated=negated):
                return negated or bool(ranges)
            case Choice(items=items):
                return any(map(self.lives, items))
            case Repeat(item=item, low=low):
                return low == 0 or self.lives(item)
            case Ref(name=name):
                return name in self.living
            case Scan(words=words):
                return part.open or any(then is not None and self.lives(then) for _, then in words)
            case AnyOrder(members=members):
                return all(self.lives(member.item) for member in members if member.required)
            case _:
                return all(map(self.lives, part.children()))

    def rule(self, name: str) -> Expr:
        """The rule of that name; what would lead straight back to it is left out."""
        expr = self.rules[name]
        if name in self.leads_to(expr):
            seen = {name}
            expr = choice(*self.unfolded(expr, seen))
        return self.tidied(expr)

    def leads_to(self, expr: Expr) -> set[str]:
        """The rules that an alternative of this one is, or an alternative of those."""
        found: set[str] = set()
        pending = [expr]
        while pending:
            part = pending.pop()
            if isinstance(part, Choice):
                pending += part.items
            elif isinstance(part, Ref) and part.name not in found:
                found.add(part.name)
                pending.append(self.rules[part.name])
        return found

    def unfolded(self, expr: Expr, seen: set[str]) -> list[Expr]:
        match expr:
            case Choice(items=items):
                return [part for item in items for part in self.unfolded(item, seen)]
            case Ref(name=name) if name in seen:
                return []
            case Ref(name=name):
                seen.add(name)
                return self.unfolded(self.rules[name], seen)
            case _:
                return [expr]

    def tidied(self, part: Expr) -> Expr:
        """The part without what is dead; it lives itself."""
        match part:
            case Sequence(items=items):
                return sequence(*map(self.tidied, items))
            case Choice(items=items):
                return choice(*(self.tidied(item) for item in items if self.lives(item)))
            case Repeat(item=item, low=low, high=high):
                return Repeat(self.tidied(item), low, high) if self.lives(item) and high != 0 else EMPTY
            case Lexeme(item=item):
                return Lexeme(self.tidied(item))
            case Ref():
                return self.followed(part)
            case Scan(words=words):
                then = (
                    (word, goes_on if goes_on is not None and self.lives(goes_on) else None) for word, goes_on in words
                )
                tidy = ((word, None if goes_on is None else self.tidied(goes_on)) for word, goes_on in then)
                return Scan(tuple(tidy), part.open, part.code, part.marks)
            case AnyOrder():
                return self.order(part)
            case _:
                return part

    def followed(self, part: Ref) -> Expr:
        """What a name stands for, where that is short: another name, or nothing."""
        expr = self.rules[part.name]  # since it lives, this comes to an end
        return self.followed(expr) if isinstance(expr, Ref) else EMPTY if expr == EMPTY else part

    def order(self, part: AnyOrder) -> Expr:
        members = tuple(Member(self.tidied(each.item), each.required) for each in part.members if self.lives(each.item))
        extra = part.extra if part.extra is not None and self.lives(part.extra) else None
        return AnyOrder(members, self.tidied(part.between), extra and self.tidied(extra), part.declared)
