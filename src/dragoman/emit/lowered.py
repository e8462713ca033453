"""Rules as a lexer's engine wants them: scans as stretches of text, markers as control tokens, few members to a set."""

from __future__ import annotations

from collections.abc import Mapping

from .guarantees import Effect, Note
from .lexemes import Members, Token
from .rules import AnyOrder, Chars, Choice, Expr, Lexeme, Member, Ref, Repeat, Rules, Scan, Sequence, Text, sequence
from .rules import choice as any_of
from .stretches import RUNS, Stretch, unread

__all__ = ["BITS", "Lowering"]

BITS = 64
"""Members of one object that can be told apart."""


class Lowering:
    """Lowers rules one by one; `notes` says what is lost on the way."""

    def __init__(self, rules: Rules, control: Mapping[str, int]) -> None:
        self.control = control
        self.notes: list[Note] = []
        self.rules: dict[str, Expr] = {}
        pending = [rules.root]
        while pending:
            self.where = pending.pop()
            if self.where not in self.rules:
                rule = rules.rules[self.where]
                pending += (part.name for part in rule.walk() if isinstance(part, Ref))
                self.rules[self.where] = self.lower(rule)

    def lower(self, expr: Expr) -> Expr:
        match expr:
            case Text(text=text, mark=mark):
                return Token(self.control[text]) if mark and text in self.control else sequence(text)
            case Sequence(items=items):
                return sequence(*map(self.lower, items))
            case Choice(items=items):
                return any_of(*map(self.lower, items))
            case Repeat(item=item, low=low, high=high):
                return Repeat(self.lower(item), low, high) if high != 0 else Sequence(())
            case Lexeme(item=item):
                return Lexeme(self.lower(item))
            case Scan():
                return self.scan(expr)
            case AnyOrder(members=members, between=between, extra=extra):
                lowered = AnyOrder(
                    tuple(Member(self.lower(member.item), member.required) for member in members),
                    self.lower(between),
                    self.lower(extra) if extra is not None else None,
                )
                if len(members) > BITS:
                    self._narrowed("order", f"over {BITS} members stand in the order declared")
                in_order = expr.declared or not 0 < len(members) <= BITS
                return self.in_order(lowered) if in_order else _members(lowered)
        return expr

    def _narrowed(self, what: str, why: str) -> None:
        self.notes.append(Note(Effect.NARROWED, what, self.where, why))

    def scan(self, scan: Scan) -> Expr:
        """A way for each continuation: the text with the word that it goes on from, or before its control token."""
        words = tuple(word for word, _ in scan.words)
        runs: int | None = None
        if scan.code:
            ticks = any("`" in word for word in words)
            runs = 0 if ticks else RUNS
            why = "text has no backticks where a word has" if ticks else f"code opens with at most {RUNS} backticks"
            self._narrowed("code", why)
        groups: dict[Expr, list[str]] = {}
        spelled: dict[tuple[str, ...], list[tuple[str, Expr]]] = {}
        for word, then in scan.words:
            if then is None:
                continue
            if word in scan.marks and word in self.control:
                spelled.setdefault(unread(Stretch(words, runs=runs), word), []).append((word, then))
            else:
                groups.setdefault(self.lower(then), []).append(word)
        ways: list[Expr] = [Stretch(words, runs=runs)] if scan.open else []
        ways += (sequence(Stretch(words, tuple(ends), runs=runs), then) for then, ends in groups.items())
        for marked in spelled.values():
            before = Stretch(words, tuple(word for word, _ in marked), True, runs)
            ways += (sequence(before, Token(self.control[word]), self.lower(then)) for word, then in marked)
        return any_of(*ways) if ways else Chars(())

    def in_order(self, given: AnyOrder) -> Expr:
        """Members in the order declared: for each, what may come from there on, first or after another."""
        first: Expr = Sequence(())
        later: Expr = Sequence(())
        if given.extra is not None:
            later = Repeat(sequence(given.between, given.extra))
            first = any_of(Sequence(()), sequence(given.extra, later))
        for member in reversed(given.members):
            rest = Ref(f"{self.where}_{len(self.rules)}")
            self.rules[rest.name] = later
            taken = sequence(member.item, rest)
            if member.required:
                first, later = taken, sequence(given.between, taken)
            else:
                first, later = any_of(taken, first), any_of(sequence(given.between, taken), rest)
        return first


def _members(given: AnyOrder) -> Members:
    required = [member.item for member in given.members if member.required]
    others = [member.item for member in given.members if not member.required]
    extra = (given.extra,) if given.extra is not None else ()
    return Members((*required, *others, given.between, *extra), len(given.members), len(required))
