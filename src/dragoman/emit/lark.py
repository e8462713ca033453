"""Rules in the Lark dialect of llguidance, whose lexer takes the longest text and whose parser is Earley's.

What is regular becomes a terminal, as long as that changes nothing (`clashes`). Free text up to a word is one too: all
that ends in the word, less all that has a word before its end. Members in any order are one rule with a set of bits
for a parameter; that recursion is on the right, which llguidance allows for some 2000 members.
"""

from __future__ import annotations

from collections.abc import Mapping

from .clashes import settle
from .guarantees import Guarantees, Note
from .lexemes import Grouping, Members, Terminal, Token
from .lowered import Lowering
from .rules import Choice, Expr, Ref, Repeat, Rules, Sequence
from .tails import without_tails
from .terminals import Terminals, count

__all__ = ["lark"]


def lark(rules: Rules, control: Mapping[str, int] | None = None) -> tuple[str, tuple[Note, ...]]:
    """The grammar in llguidance's Lark, and what in it differs from the rules.

    `control` has the ids of control tokens by spelling; a marker that is in it is that token and nothing else, other
    markers are text.
    """
    rules = without_tails(rules)
    lowering = Lowering(rules, control or {})
    grouping = Grouping(lowering.rules, rules.root)
    settle(grouping, rules.root)
    return _Printer(grouping, rules.root).text(), Guarantees.sorted((*lowering.notes, *grouping.notes))


class _Printer:
    def __init__(self, grouping: Grouping, root: str) -> None:
        self.rules, self.root = grouping.rules, root
        self.terminals = Terminals(grouping.plain)
        self.lines: list[str] = []
        self.sets = 0

    def text(self) -> str:
        for name, rule in self.rules.items():
            self.where = name
            self.lines.append(f"{_rule(name)}: {self.expr(rule)}")
        terminals = (f"{name}: {written}" for name, written in self.terminals.lines.items())
        return "\n".join([f"start: {_rule(self.root)}", *self.lines, *terminals, ""])

    def expr(self, expr: Expr, depth: int = 0) -> str:
        match expr:
            case Terminal(item=item):
                return self.terminals.use(item, self.where)
            case Token(id=number):
                return f"<[{number}]>"
            case Ref(name=name):
                return _rule(name)
            case Sequence(items=items):
                return " ".join(self.expr(item, 1) for item in items) if items else '""'
            case Choice(items=items):
                found = " | ".join(self.expr(item, 1) for item in items)
                return f"({found})" if depth and len(items) > 1 else found
            case Repeat(item=item, low=low, high=high):
                return f"({self.expr(item)}){count(low, high)}"
            case Members():
                return self.members(expr)
        raise AssertionError(expr)

    def members(self, given: Members) -> str:
        """Three rules whose parameter has the members that are there: at the beginning, behind one, and for one."""
        self.sets += 1
        begin, behind, one = (f"{_rule(self.where)}_set{self.sets}{role}" for role in ("", "_next", "_one"))
        items = [self.expr(item, 1) for item in given.items]
        done = f'"" %if is_ones([0:{given.required}])' if given.required else '""'
        ways = [f"{item} {behind}::set_bit({bit}) %if bit_clear({bit})" for bit, item in enumerate(items[: given.size])]
        ways += (f"{item} {behind}::_" for item in items[given.size + 1 :])
        if not given.some:
            self.lines.append(f"{begin}::_: {done} | {one}::_")
        self.lines += [f"{behind}::_: {done} | {items[given.size]} {one}::_", f"{one}::_: {' | '.join(ways)}"]
        return f"{one if given.some else begin}::0x0"


def _rule(name: str) -> str:
    """The name in Lark, where the first rule is called ``start``; names of rules have no underscores."""
    return f"{name}_" if name == "start" else name
