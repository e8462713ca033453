"""What can be known about a grammar before it runs: first sets, decidable choices, hold bounds, mistakes.

`analyze` is the public question: is this grammar sound, can it be streamed, and how many characters may a
machine hold back? The compiler in `program` asks the same `Analysis` which choices the next marker decides: such
a choice costs nothing at run time, since its alternatives are given up as soon as that marker has been read.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, structs

from ..errors import DelimiterError, GrammarError, LeftRecursion, NotStreamable, UnknownRule
from . import nodes as n
from .first import ANYTHING, AT_END, NOTHING, First, NotAt, OneOf, Text, disjoint, followed_by
from .nodes import Grammar, Node, Nodes
from .show import ebnf_node
from .tries import final_hold

__all__ = ["FIELD_LIMIT", "JSON_FIRST", "VALUE_LIMIT", "Analysis", "Report", "analyze", "delimiter_problem", "lead_of"]

FIELD_LIMIT = 256
"""Characters a captured field (a name, an id, a key) may have; OpenAI allows 64 for the name of a function."""

VALUE_LIMIT = 4096
"""Characters of a value that may be withheld while a union of types is open."""

UNBOUNDED = 1 << 60

JSON_FIRST = r'"{\[\-0-9tfn'
"""The characters with which a JSON value begins, as a class."""


class Extent(Struct, frozen=True):
    """How far a node can go, in characters, each at most `UNBOUNDED`.

    `consumed` and `reach` count to its end or its first commit, `reach` with lookahead; `held` is what may
    wait in the buffer while it runs and nothing outside it is open; `culprit` is the node that makes it so.
    """

    consumed: int
    reach: int
    committed: bool
    held: int
    culprit: Node | None = None


class Report(Struct, frozen=True):
    """The outcome of `analyze`: the hold bound in characters, or ``None`` and the reason why there is none."""

    hold_bound: int | None
    reason: str | None

    @property
    def streamable(self) -> bool:
        """Whether every hold is bounded."""
        return self.hold_bound is not None

    def require_streamable(self) -> int:
        """The bound; raises `NotStreamable` if there is none."""
        if self.hold_bound is None:
            reason = self.reason or "unbounded hold"
            raise NotStreamable(reason, "input is held back without bound", "add commit() behind what decides it")
        return self.hold_bound


def analyze(grammar: Grammar | Node) -> Report:
    """Check a grammar and bound what it holds back.

    Raises `UnknownRule`, `LeftRecursion`, `DelimiterError` or another `GrammarError`. Linear in the grammar's size
    times the depth of its rules.
    """
    whole = grammar if isinstance(grammar, Grammar) else Grammar(grammar)
    analysis = Analysis(whole)
    analysis.check()
    worst = Extent(0, 0, False, 0)
    for node in (whole.root, *(entry for _, entry in whole.entries)):
        extent = analysis.extent(node, AT_END)
        if extent.held > worst.held:
            worst = extent
    if worst.held < UNBOUNDED:
        return Report(worst.held, None)
    culprit = worst.culprit if worst.culprit is not None else whole.root
    return Report(None, ebnf_node(culprit))


def delimiter_problem(delimiters: tuple[str, ...]) -> str | None:
    """Why a set of delimiters is ambiguous, or ``None``.

    None may be empty or a prefix of another, and one may contain another only as a suffix: then the first
    match is the only one, and "earliest start" and "earliest end" (as constraint engines see it) agree.
    """
    if "" in delimiters:
        return "a delimiter is empty"
    for delimiter in delimiters:
        for other in delimiters:
            if other is delimiter or other == delimiter:
                continue
            if delimiter.startswith(other):
                return f"{other!r} is a prefix of {delimiter!r}"
            if other in delimiter[:-1]:
                return f"{delimiter!r} contains {other!r}, and not only at its end"
    if len(set(delimiters)) < len(delimiters):
        return "a delimiter is given twice"
    return None


def lead_of(items: Nodes) -> int:
    """The index of the first item of a sequence that can read anything."""
    lead = 0
    while lead < len(items) - 1 and isinstance(items[lead], (n.Peek, n.Negate, n.Commit)):
        lead += 1
    return lead


class Analysis:
    """Facts about the nodes of one grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.rules = grammar.rules()
        self.recursive = frozenset(name for name, item in self.rules.items() if self._reaches(item, name))
        self._firsts: dict[Node, First] = {}
        self._open: set[str] = set()

    def _reaches(self, item: Node, name: str) -> bool:
        seen: set[str] = set()
        pending = [item]
        while pending:
            for node in pending.pop().walk():
                if isinstance(node, n.Ref) and node.name not in seen:
                    if node.name == name:
                        return True
                    seen.add(node.name)
                    if node.name in self.rules:
                        pending.append(self.rules[node.name])
        return False

    # Mistakes

    def check(self) -> None:
        """Raise the first mistake found."""
        for node in self.grammar.walk():
            match node:
                case n.Until(delimiters=delimiters):
                    problem = delimiter_problem(delimiters)
                    if problem:
                        raise DelimiterError(ebnf_node(node), problem, "change the delimiters, or trim what is left")
                case n.Ref(name=name) if name not in self.rules:
                    known = ", ".join(sorted(self.rules)) or "none"
                    raise UnknownRule(ebnf_node(node), f"no rule {name!r}", f"define it; known rules: {known}")
                case n.Call(closers=closers, resume=resume):
                    self._check_markers(node, (*closers, *resume))
                case n.Header(stop=stop, abort=abort):
                    self._check_markers(node, (stop, *abort))
                case n.Peek() | n.Negate() if any(isinstance(inner, n.Commit) for inner in self._below(node)):
                    raise GrammarError(ebnf_node(node), "a lookahead can't commit", "move the commit() behind it")
        self._check_members()
        for name in sorted(self.recursive):
            if self._leads_to(self.rules[name], name, set()):
                fix = "let it read a character before it calls itself"
                raise LeftRecursion(f"rule {name!r}", "a rule starts with itself", fix)

    def _check_members(self) -> None:
        """Keys and values have a place among members only."""
        members = tuple(node for node in self.grammar.walk() if isinstance(node, n.Members))
        inside = set(self._below(n.Sequence(members)))
        for node in self.grammar.walk():
            is_part = isinstance(node, n.Value) or (isinstance(node, n.Field) and node.role is n.Role.KEY)
            if is_part and node not in inside:
                raise GrammarError(ebnf_node(node), "outside of all members", "put it in argument_members(..)")

    @staticmethod
    def _check_markers(node: Node, markers: tuple[str, ...]) -> None:
        problem = delimiter_problem(tuple(dict.fromkeys(markers)))
        if problem:
            raise DelimiterError(ebnf_node(node), problem, "change the markers")

    def _below(self, node: Node) -> Iterator[Node]:
        """The node and all below it, through references."""
        seen: set[str] = set()
        pending = [node]
        while pending:
            for inner in pending.pop().walk():
                yield inner
                if isinstance(inner, n.Ref) and inner.name not in seen and inner.name in self.rules:
                    seen.add(inner.name)
                    pending.append(self.rules[inner.name])

    def commits_first(self, node: Node) -> bool:
        """Whether the node can commit before it has looked at a character."""
        match node:
            case n.Commit():
                return True
            case n.Sequence(items=items):
                for item in items:
                    if self.commits_first(item):
                        return True
                    if isinstance(item, n.Peek) or not self.first(item).empty:
                        return False
                return False
            case n.Ref(name=name) if name in self.recursive:
                return False  # it reads before it calls itself; what it does first was asked at its rule
            case n.Ref(name=name):
                return self.commits_first(self.rules[name])
            case n.Header():
                return False
            case n.Call(item=item, close=close):
                return self.commits_first(n.Sequence((item, close)))
            case _:
                return any(self.commits_first(item) for item in node.children())

    def _leads_to(self, node: Node, name: str, seen: set[str]) -> bool:
        """Whether the rule can be called before a character is read."""
        match node:
            case n.Ref():
                if node.name == name:
                    return True
                if node.name in seen:
                    return False
                return self._leads_to(self.rules[node.name], name, seen | {node.name})
            case n.Header():
                return False
            case n.Call(item=item, close=close):
                return self._leads_to(n.Sequence((item, close)), name, seen)
            case n.Sequence():
                for item in node.items:
                    if self._leads_to(item, name, seen):
                        return True
                    if not (self.first(item).empty or isinstance(item, n.Peek)):
                        return False
                return False
            case _:
                return any(self._leads_to(item, name, seen) for item in node.children())

    # First sets

    def first(self, node: Node) -> First:
        """What a match of the node can start with."""
        found = self._firsts.get(node)
        if found is None:
            found = self._first(node)
            if not self._open:
                self._firsts[node] = found
        return found

    def _first(self, node: Node) -> First:
        match node:
            case n.Literal(text=text):
                return First(frozenset([Text(text)]), False) if text else NOTHING
            case n.Chars(cls=cls, low=low):
                return First(frozenset([OneOf(cls)]), low == 0)
            case n.Sequence(items=items):
                first = NOTHING
                for item in items:
                    first = followed_by(first, self.first(item)) if first.empty else first
                return first
            case n.Choice(items=items):
                firsts = [self.first(item) for item in items]
                return First(frozenset().union(*(f.atoms for f in firsts)), any(f.empty for f in firsts))
            case n.Repeat(item=item, low=low):
                first = self.first(item)
                return First(first.atoms, first.empty or low == 0)
            case n.Until(delimiters=delimiters, low=low, then=then):
                return First(frozenset([NotAt(() if then else delimiters)]), low == 0)
            case n.Json(form=form):
                return First(frozenset([OneOf(JSON_FIRST if form is n.JsonForm.VALUE else '"')]), False)
            case n.Notated(notation=notation):
                return First(frozenset([OneOf(notation.first)]), False)
            case n.Rule(name=name, item=item):
                return self._first_of_rule(name, item)
            case n.Ref(name=name):
                return self._first_of_rule(name, self.rules[name])
            case n.End():
                return AT_END
            case n.Peek(item=item):
                first = self.first(item)  # what follows starts as the lookahead says
                return NOTHING if first.empty else first
            case n.Negate() | n.Commit():
                return NOTHING
            case n.Header():
                return First(frozenset([NotAt(())]), False)
            case n.Call(item=item, close=close):
                return followed_by(self.first(item), self.first(close)) if self.first(item).empty else self.first(item)
            case n.Value(until=inner):
                return self.first(inner)
            case _ if len(node.children()) == 1:
                return self.first(node.children()[0])
            case _:
                raise TypeError(f"not a node of this vocabulary: {node!r}")

    def _first_of_rule(self, name: str, item: Node) -> First:
        if name in self._open:
            return ANYTHING  # only reached through left recursion, which `check` refuses
        self._open.add(name)
        try:
            return self.first(item)
        finally:
            self._open.discard(name)

    # Which alternatives the next marker decides

    def window(self, node: Node) -> int:
        """The characters after which alternatives that this node's beginning rules out are given up.

        That is at once behind its first literal or character where the compiler can put a cut there, else at its
        first commit or its end.
        """
        match node:
            case n.Literal(text=text):
                return len(text)
            case n.Chars(low=low) if low:
                return 1
            case n.Until(delimiters=delimiters, low=low, then=then) if low and not then:
                return max(map(len, delimiters), default=1)
            case n.Json() | n.Notated():
                return 1
            case n.Sequence(items=items) if items:
                lead = lead_of(items)
                ahead = max((self.extent(item, ANYTHING).reach for item in items[:lead]), default=0)
                cuttable = not self.first(items[lead]).empty and self._cuttable(items[lead])
                return max(ahead, self.window(items[lead])) if cuttable else self.extent(node, ANYTHING).reach
            case n.Choice(items=items):
                return max((self.window(item) for item in items), default=0)
            case n.Repeat(item=item, low=low) if low:
                return self.window(item)
            case n.Rule(name=name) | n.Ref(name=name) if name not in self.recursive:
                return self.window(self.rules[name])
            case n.Call(item=item) if not self.first(item).empty:
                return self.window(item)
            case _ if len(node.children()) == 1 and not isinstance(
                node, (n.Header, n.Value, n.Peek, n.Negate, n.Repeat)
            ):
                return self.window(node.children()[0])
            case _:
                return self.extent(node, ANYTHING).reach

    def _cuttable(self, node: Node) -> bool:
        return not isinstance(node, (n.Header, n.Value, n.End)) and not (
            isinstance(node, (n.Rule, n.Ref)) and node.name in self.recursive
        )

    def decided(self, items: Nodes, k: int, follow: First) -> bool:
        """Whether item `k` of a choice, once its lead is read, leaves no later item a chance."""
        item = items[k]
        rest = First(frozenset().union(*(self.first(other).atoms for other in items[k + 1 :])), False)
        if any(self.first(other).empty for other in items[k + 1 :]):
            rest = First(rest.atoms | follow.atoms, follow.empty)
        return self._alone(item, rest)

    def goes_on(self, item: Node, follow: First) -> bool:
        """Whether a repetition, once the item's lead is read, can no longer end before it."""
        return self._alone(item, follow)

    def _alone(self, item: Node, others: First) -> bool:
        first = self.first(item)
        return not (first.empty or others.empty) and disjoint(first, others)

    def follow(self, items: Nodes, k: int, follow: First) -> First:
        """What can follow item `k` of a sequence."""
        for item in reversed(items[k + 1 :]):
            follow = followed_by(self.first(item), follow)
        return follow

    # Bounds

    def extent(self, node: Node, follow: First) -> Extent:
        """How far a node can go and what it holds back."""
        match node:
            case n.Literal(text=text):
                return Extent(len(text), len(text), False, len(text))
            case n.Chars(high=high):
                wide = UNBOUNDED if high is None else high
                return Extent(wide, wide, False, 1)
            case n.Until(delimiters=delimiters, then=then, gap=gap, finals=finals):
                longest = max(map(len, delimiters), default=0)
                beyond = gap + max(map(len, then)) if then else (final_hold(finals) if finals else 0)
                return Extent(UNBOUNDED, UNBOUNDED, False, longest + beyond, node)
            case n.Json():
                return Extent(UNBOUNDED, UNBOUNDED, False, 12, node)
            case n.Notated(notation=notation):
                return Extent(UNBOUNDED, UNBOUNDED, False, notation.hold, node)
            case n.Sequence(items=items):
                return self._extent_of_sequence(items, follow)
            case n.Choice(items=items):
                return self._extent_of_choice(items, follow)
            case n.Repeat():
                return self._extent_of_repeat(node, follow)
            case n.Peek(item=item) | n.Negate(item=item):
                inner = self.extent(item, ANYTHING)
                return Extent(0, inner.reach, False, inner.reach, node)
            case n.Commit():
                return Extent(0, 0, True, 0)
            case n.End():
                return Extent(0, 0, False, 0)
            case n.Rule(name=name) | n.Ref(name=name):
                return self._extent_of_rule(node, name, follow)
            case n.Field(item=item):
                inner = self.extent(item, follow)
                wide = min(inner.reach, FIELD_LIMIT + 1)
                return Extent(min(inner.consumed, FIELD_LIMIT), wide, inner.committed, wide)
            case n.Report(item=item) | n.StopMark(item=item):
                inner = self.extent(item, follow)
                return Extent(inner.consumed, inner.reach, inner.committed, max(inner.held, inner.reach), node)
            case n.Header():
                return self._extent_of_header(node, follow)
            case n.Call(item=item, close=close):
                return self._extent_of_sequence((item, close), follow)
            case n.Value(until=inner_until, notation=notation):
                inner = self.extent(inner_until, follow)
                waits = VALUE_LIMIT + (notation.hold if notation is not None else 0)
                return structs.replace(inner, held=inner.held + waits)
            case _ if len(node.children()) == 1:
                return self.extent(node.children()[0], follow)
            case _:
                raise TypeError(f"not a node of this vocabulary: {node!r}")

    def _extent_of_sequence(self, items: Nodes, follow: First) -> Extent:
        consumed = reach = held = 0
        committed = False
        culprit: Node | None = None
        for k, item in enumerate(items):
            part = self.extent(item, self.follow(items, k, follow))
            if part.held > held:
                held, culprit = part.held, part.culprit
            if not committed:
                reach = min(UNBOUNDED, max(reach, consumed + part.reach))
                consumed = min(UNBOUNDED, consumed + part.consumed)
                committed = part.committed
        return Extent(consumed, reach, committed, held, culprit)

    def _extent_of_choice(self, items: Nodes, follow: First) -> Extent:
        parts = [self.extent(item, follow) for item in items]
        held, culprit = 0, None
        for k, part in enumerate(parts):
            last = k == len(items) - 1
            window = 0 if last else self.window(items[k]) if self.decided(items, k, follow) else part.reach
            if max(window, part.held) > held:
                held = max(window, part.held)
                culprit = items[k] if window > part.held else part.culprit
        return Extent(
            max((part.consumed for part in parts), default=0),
            max((part.reach for part in parts), default=0),
            bool(parts) and all(part.committed for part in parts),
            held,
            culprit,
        )

    def _extent_of_repeat(self, node: n.Repeat, follow: First) -> Extent:
        again = followed_by(self.first(node.item), follow)
        part = self.extent(node.item, First(again.atoms | follow.atoms, follow.empty))
        window = self.window(node.item) if self.goes_on(node.item, follow) else part.reach
        held = max(window, part.held)
        culprit = node if window > part.held else part.culprit
        if part.committed:
            return Extent(part.consumed, part.reach, node.low > 0, held, culprit)
        times = UNBOUNDED if node.high is None else node.high
        wide = min(UNBOUNDED, part.consumed * times)
        return Extent(wide, min(UNBOUNDED, wide + part.reach), False, held, culprit)

    def _extent_of_rule(self, node: Node, name: str, follow: First) -> Extent:
        if name not in self.recursive:
            return self.extent(self.rules[name], follow)
        if name in self._open:
            return Extent(UNBOUNDED, UNBOUNDED, False, 0, node)
        self._open.add(name)
        try:
            inner = self.extent(self.rules[name], ANYTHING)
        finally:
            self._open.discard(name)
        return Extent(UNBOUNDED, UNBOUNDED, False, inner.held, inner.culprit)

    def _extent_of_header(self, node: n.Header, follow: First) -> Extent:
        head = node.limit + len(node.stop)
        parts = [self.extent(case.then, follow) for case in node.cases]
        return Extent(
            min(UNBOUNDED, head + max(part.consumed for part in parts)),
            min(UNBOUNDED, head + max(part.reach for part in parts)),
            all(part.committed for part in parts),
            max(head, *(part.held for part in parts)),
            node,
        )
