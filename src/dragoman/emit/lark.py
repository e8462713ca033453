"""Rules in the Lark dialect of llguidance, whose lexer takes the longest text it can and whose parser is Earley's.

The lexer never goes back, so two things that may stand at one place must not be lexemes of which one begins as the
other does and goes on. Hence free text, and markers of the layout, which may stand where text may, are read character
by character, but for runs of characters that begin no marker; only what is a `Lexeme`, behind which nothing goes on
with it, is one lexeme, and so is other text, which stands beside lexemes. Whoever knows nothing about their rules has
them printed `exactly`: then all text is read character by character.

Free text is the automaton that GBNF has, in `loops`. A marker that is a control token ends it wherever it stands, and
text has no way to spell it. Members in any order are one rule with a set of bits for a parameter. Notation:
``docs/syntax.md`` and ``docs/parametric.md`` of llguidance 1.9.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from ..errors import GrammarError
from .automaton import TICKS_LIMIT, Word, automaton
from .guarantees import Guarantees, Note
from .loops import Loops
from .regexes import ANY, count, regex
from .rewriting import Rewriting
from .rules import (
    EMPTY,
    AnyOrder,
    Chars,
    Choice,
    Expr,
    Lexeme,
    Ref,
    Repeat,
    Rules,
    Scan,
    Sequence,
    Text,
    choice,
    sequence,
)
from .tails import without_tails
from .tidy import tidied

__all__ = ["lark"]

MEMBERS = 64
"""Bits of a parameter; of objects with more members, those stand in their declared order."""


class _Token(Expr, frozen=True, cache_hash=True):
    """A control token."""

    id: int


def lark(
    rules: Rules, control: Mapping[str, int] | None = None, *, exactly: bool = False
) -> tuple[str, tuple[Note, ...]]:
    """The grammar, and what in it differs from the rules.

    `control` has the ids of control tokens by spelling: in markers and in the layout they are those tokens and nothing
    else. All else is text. Raises `GrammarError` for rules that nothing satisfies.
    """
    rules = without_tails(rules)
    plain = _Plain(rules, control or {}, exactly)
    closed = tidied(plain.whole())
    if closed is None:
        raise GrammarError(f"rule {rules.root!r}", "nothing satisfies it", "allow something")
    return _Printer(closed, exactly).text(), Guarantees.sorted(plain.book.notes)


class _Plain(Rewriting):
    """Takes free text apart into states, and markers into control tokens and text."""

    def __init__(self, rules: Rules, control: Mapping[str, int], exactly: bool) -> None:
        super().__init__(rules)
        self.control, self.exactly = control, exactly
        longest = sorted(control, key=len, reverse=True)
        self.split = re.compile(f"({'|'.join(map(re.escape, longest))})").split if control else None
        self.known: dict[Scan, Expr] = {}

    def plain(self, part: Expr, where: str) -> Expr:
        match part:
            case Text(text, True) if self.split is not None:
                pieces = [(k, piece) for k, piece in enumerate(self.split(text)) if piece]
                return sequence(*(_Token(self.control[piece]) if k % 2 else Text(piece, True) for k, piece in pieces))
            case AnyOrder(members, between, extra, False) if len(members) > MEMBERS:
                self.book.narrowed("order", where, f"more than {MEMBERS} members stand in their declared order")
                return super().plain(AnyOrder(members, between, extra, True), where)
            case Scan():
                if part not in self.known:
                    self.known[part] = self._scan(part, where)
                return self.known[part]
            case _:
                return super().plain(part, where)

    def _scan(self, scan: Scan, where: str) -> Expr:
        """A rule for each state; any of them may be the last before a control token or, where it is open, the end."""
        ends: list[Expr] = [EMPTY] if scan.open else []
        thens: dict[Word, Expr] = {}
        words: dict[str, None] = {}
        for word, then in scan.words:
            after = None if then is None else self.plain(then, where)
            pieces = self.split(word) if self.split is not None else [word]
            if len(pieces) > 1 and not pieces[0]:  # it begins with a control token
                ends += [] if after is None else [sequence(self.plain(Text(word, True), where), after)]
                continue
            if after is not None and len(pieces) > 1:
                self.book.narrowed("markers", where, f"{word!r}, of which a control token is a part, ends no text")
            words[word] = None
            if after is not None:
                thens[Word(word)] = choice(thens[Word(word)], after) if Word(word) in thens else after
        if not words and not scan.code:
            run = Chars((), True)
            return sequence(Repeat(run) if self.exactly else Repeat(Lexeme(Repeat(run, 1)), 0, 1), choice(*ends))
        if scan.code:
            self.book.narrowed("code", where, f"more than {TICKS_LIMIT} backticks open no code, so none are written")
        hint = self.book.name(f"to {next(iter(words))}" if words else f"{where}-text")
        states = automaton(tuple(words), scan.code)
        return Loops(self.book, hint, states, thens.get, tuple(ends), exactly=self.exactly).whole()


class _Printer:
    def __init__(self, rules: Rules, exactly: bool) -> None:
        self.rules, self.exactly = rules, exactly
        self.lines: list[str] = []
        self.terminals: dict[str, str] = {}  # by their expression, long ones
        self.sets = 0

    def text(self) -> str:
        for name, rule in self.rules.rules.items():
            self.where = name
            self.lines.append(f"{_rule(name)}: {self.part(rule)}")
        terminals = (f"{name}: /{written}/" for written, name in self.terminals.items())
        return "\n".join([f"start: {_rule(self.rules.root)}", *self.lines, *terminals, ""])

    def part(self, part: Expr, inside: bool = False) -> str:
        match part:
            case Text(text, mark):
                apart = text if mark or self.exactly else (text,)
                return " ".join(json.dumps(piece, ensure_ascii=False) for piece in apart) or '""'
            case Chars():
                return f"/{regex(part)}/"
            case Lexeme():
                return self.lexeme(regex(part))
            case _Token(number):
                return f"<[{number}]>"
            case Ref(name):
                return _rule(name)
            case Sequence(items):
                return " ".join(self.part(item, True) for item in items) or '""'
            case Choice(items):
                found = " | ".join(self.part(item, True) for item in items)
                return f"({found})" if inside else found
            case Repeat(item, low, high):
                return f"({self.part(item)}){count(low, high)}"
            case AnyOrder():
                return self.declared(part) if part.declared else self.any_order(part)
        raise TypeError(f"not a part of a rule: {part!r}")

    def lexeme(self, written: str) -> str:
        """A terminal: by name where it is long or may be empty, which slashes must not be."""
        if len(written) <= len(ANY) + 34:
            return f"/{written}/"
        return self.terminals.setdefault(written, f"T{len(self.terminals)}")

    def any_order(self, given: AnyOrder) -> str:
        """Rules whose parameter has the members that are there: at the beginning, behind one, and for one."""
        begin, behind, one = self.fresh("", "_next", "_one")
        members = sorted(given.members, key=lambda member: not member.required)
        required = sum(member.required for member in members)
        done = f'"" %if is_ones([0:{required}])' if required else '""'
        ways = [
            f"{self.part(member.item, True)} {behind}::set_bit({bit}) %if bit_clear({bit})"
            for bit, member in enumerate(members)
        ]
        if given.extra is not None:
            ways.append(f"{self.part(given.extra, True)} {behind}::_")
        if not ways:
            return '""'
        # Where nothing could follow, nothing must divide it from what stands before.
        left = "" if given.extra is not None else f" %if not(is_ones([0:{len(members)}]))"
        self.lines += [
            f"{begin}::_: {done} | {one}::_",
            f"{behind}::_: {done} | {self.part(given.between, True)} {one}::_{left}",
            f"{one}::_: {' | '.join(ways)}",
        ]
        return f"{begin}::0x0"

    def declared(self, given: AnyOrder) -> str:
        """Members in their order: for each, a rule for what may follow before any and one behind any."""
        names = self.fresh("", *(f"_{side}{k}" for k in range(len(given.members) + 1) for side in ("from", "after")))
        between = self.part(given.between, True)
        more = f"({between} {self.part(given.extra, True)})*" if given.extra is not None else '""'
        first = f"({self.part(given.extra, True)} {more})?" if given.extra is not None else '""'
        self.lines += [f"{names[-2]}: {first}", f"{names[-1]}: {more}"]
        for k in reversed(range(len(given.members))):
            member = given.members[k]
            here, after = names[1 + 2 * k], names[2 + 2 * k]
            rest, behind = names[3 + 2 * k], names[4 + 2 * k]
            item = self.part(member.item, True)
            skipped, passed = ("", "") if member.required else (f" | {rest}", f" | {behind}")
            self.lines += [f"{here}: {item} {behind}{skipped}", f"{after}: {between} {item} {behind}{passed}"]
        return names[1] if given.members else names[-2]

    def fresh(self, *roles: str) -> list[str]:
        self.sets += 1
        return [f"{_rule(self.where)}_set{self.sets}{role}" for role in roles]


def _rule(name: str) -> str:
    """The name in Lark, where the first rule is called ``start`` and names have no hyphens at their beginning."""
    return f"{name}_" if name == "start" else name
