"""Any grammar of the combinators as rules: what its machine reads without a problem satisfies them.

A grammar of `dragoman.grammar` is a parsing expression: its choices are ordered, its repetitions greedy, its lookahead
free. Rules know none of that, so more may pass than the machine reads as it is meant; each place where that can happen
is noted. What a grammar reads as broken (`report`, `malformed`) is left out: no engine shall be led there.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Items
from json import loads

from msgspec import Struct, structs

from ..errors import GrammarError
from ..grammar import nodes as n
from ..grammar.analyze import FIELD_LIMIT, Analysis
from ..grammar.first import ANYTHING, AT_END, First, OneOf, disjoint
from ..grammar.nodes import Grammar, Node
from ..grammar.notation import Notation
from ..grammar.show import ebnf_node
from .book import Book
from .brackets import class_of
from .forms import JSON, PYTHON, bare_form
from .guarantees import Guarantees, Note
from .matcher import Matcher
from .residue import RETURN
from .rules import EMPTY, Choice, Expr, Ref, Repeat, Rules, Sequence, Text, chars, choice, sequence
from .schema import Lowering
from .searches import Searches
from .tidy import tidied
from .values import Values

__all__ = ["rules_of"]

TURNS_LIMIT = 16
"""Turns of a repetition with text in it that are counted: each is a rule of its own."""

_NUMBER_GOES_ON = First(frozenset([OneOf(r"0-9.eE+\-")]), False)
_LAYOUT_LIMIT = 8
"""Characters of whitespace before a header."""


def rules_of(
    grammar: Grammar | Node, tools: Items[str] = (), *, entry: str | None = None, without: frozenset[str] = frozenset()
) -> tuple[Rules, tuple[Note, ...]]:
    """The rules of a grammar, or of one of its entries, and how they differ from it.

    With `tools`, a call's name is one of these. The gates of the options in `without` are closed. Raises `GrammarError`
    for a grammar that makes no sense or reads nothing without a problem, `InvalidTool` for a schema that can't be read
    or satisfied, and `KeyError` for an entry that the grammar does not have.
    """
    whole = grammar if isinstance(grammar, Grammar) else Grammar(grammar)
    root = whole.root if entry is None else dict(whole.entries)[entry]
    lowering = _Lowering(whole, tuple(tools), without)
    rules = tidied(lowering.rules(root))
    if rules is None:
        raise GrammarError(ebnf_node(root), "nothing is read without a problem", "leave a way that is no report()")
    return rules, Guarantees.sorted(lowering.book.notes)


class _At(Struct, frozen=True):
    """Where a node stands: what can follow, whether its text is captured, and in which rules and tags."""

    follow: First
    quiet: bool = False
    where: str = ""

    def inside(self, name: str) -> _At:
        return structs.replace(self, where=f"{self.where}/{name}".lstrip("/"))


class _Lowering:
    """Nodes to parts of rules, each with what follows it, since text ends where that begins."""

    def __init__(self, grammar: Grammar, tools: tuple[str, ...], without: frozenset[str]) -> None:
        self.analysis = Analysis(grammar)
        self.analysis.check()
        self.tools, self.without = tools, without
        self.book = Book()
        self.book.define(self.book.name(RETURN.name), EMPTY)
        marks = frozenset(node.text for node in grammar.walk() if isinstance(node, n.Literal) and node.special)
        self.searches = Searches(self.book, marks)
        self.bodies: dict[tuple[str, bool], Ref] = {}

    def rules(self, root: Node) -> Rules:
        expr = self.lower(root, EMPTY, _At(AT_END))
        self.searches.settle()
        return Rules({"root": expr, **self.book.rules})

    def lower(self, node: Node, then: Expr, at: _At) -> Expr:
        """The node and what follows."""
        match node:
            case n.Literal(text=text, special=special):
                return sequence(Text(text, mark=special), then)
            case n.Chars(cls=cls, low=low, high=high):
                if low != high:
                    self.note_greed(node, First(frozenset([OneOf(cls)]), False), at)
                item = class_of(cls)
                return sequence(item if low == high == 1 else Repeat(item, low, high), then)
            case n.Sequence(items=items):
                for k in reversed(range(len(items))):
                    follow = self.analysis.follow(items, k, at.follow)
                    then = self.lower(items[k], then, structs.replace(at, follow=follow))
                return then
            case n.Choice():
                return self.choice(node, then, at)
            case n.Repeat():
                return self.repeat(node, then, at)
            case n.Peek(item=item):
                return self.peek(item, then, at)
            case n.Negate(item=item):
                first = self.analysis.first(item)
                if first.empty or not disjoint(first, at.follow):
                    self.relaxed("lookahead", at, f"what {ebnf_node(node)} excludes may follow")
                return then
            case n.Until():
                return self.until(node, then, at)
            case n.Json(form=form):
                return sequence(self.json(form, at), then)
            case n.Notated(notation=notation):
                return sequence(self.notated(notation, at), then)
            case n.Rule(name=name) | n.Ref(name=name):
                return self.rule(name, then, at)
            case n.End():
                return EMPTY
            case n.Commit():
                return then
            case _:
                return self.meaning(node, then, at)

    def meaning(self, node: Node, then: Expr, at: _At) -> Expr:
        match node:
            case n.Report() | n.Label(meaning=n.Meaning.MALFORMED):
                return Choice(())
            case n.Gate(option=option) if option in self.without:
                return Choice(())
            case n.Label(item=item):
                return self.lower(item, then, structs.replace(at, quiet=False))
            case n.Tag(item=item, name=name):
                return self.lower(item, then, structs.replace(at.inside(name), quiet=False))
            case n.Field():
                return self.field(node, then, at)
            case n.Arguments(item=item) | n.StopMark(item=item):
                return self.lower(item, then, structs.replace(at, quiet=True))
            case n.Value(until=until, kinds=kinds):
                if kinds != ("string",):
                    self.relaxed("types", at, "a value is any text")
                return self.lower(until, then, structs.replace(at, quiet=True))
            case n.Call(item=item, close=close, stops=stops):
                closed = self.lower(close, then, at)
                follow = self.analysis.follow((item, close), 0, at.follow)
                return self.lower(item, choice(closed, EMPTY) if stops else closed, structs.replace(at, follow=follow))
            case n.Header():
                return self.header(node, then, at)
            case n.Schema():
                return self.schema(node, then, at)
            case _ if len(node.children()) == 1:
                return self.lower(node.children()[0], then, at)
            case _:
                raise TypeError(f"not a node of this vocabulary: {node!r}")

    def relaxed(self, what: str, at: _At, why: str) -> None:
        self.book.relaxed(what, at.where, why)

    def note_greed(self, node: Node, again: First, at: _At) -> None:
        if not disjoint(again, at.follow):
            self.relaxed("greed", at, f"{ebnf_node(node)} may end where it could go on")

    def shared(self, then: Expr) -> Expr:
        """The same under a name, so that it can follow in several places."""
        return then if isinstance(then, (Ref, Text)) or then == EMPTY else self.book.rule("rest", then)

    def ties(self, node: Node) -> bool:
        """Whether what the node reads depends on what follows it."""
        for part in node.walk():
            match part:
                case n.Until() | n.Peek() | n.Header() | n.End() | n.Call(stops=True):
                    return True
                case n.Ref(name=name) if name not in self.analysis.recursive and self.ties(self.analysis.rules[name]):
                    return True
        return False

    def choice(self, node: n.Choice, then: Expr, at: _At) -> Expr:
        items = node.items
        for k in range(len(items) - 1):
            if not self.analysis.decided(items, k, at.follow):
                self.relaxed("order of choice", at, f"later alternatives may begin as {ebnf_node(items[k])}")
        tied = self.ties(node)
        then = self.shared(then) if tied else then
        lowered = choice(*(self.lower(item, then if tied else EMPTY, at) for item in items))
        return lowered if tied else sequence(lowered, then)

    def repeat(self, node: n.Repeat, then: Expr, at: _At) -> Expr:
        item, low, high = node.item, node.low, node.high
        first = self.analysis.first(item)
        again = structs.replace(at, follow=First(first.atoms | at.follow.atoms, at.follow.empty))
        if low != high:
            self.note_greed(node, First(first.atoms, False), at)
        if not self.ties(item):
            return sequence(Repeat(self.lower(item, EMPTY, again), low, high), then)
        if max(low, high or 0) > TURNS_LIMIT:
            self.relaxed("count", at, f"more than {TURNS_LIMIT} turns are not counted")
            low, high = min(low, TURNS_LIMIT), None
        then = self.shared(then)
        if high is None:
            name = self.book.name("loop")
            then = self.book.define(name, choice(self.lower(item, Ref(name), again), then))
        for _ in range(0 if high is None else high - low):
            then = self.shared(choice(self.lower(item, then, again), then))
        for _ in range(low):
            then = self.shared(self.lower(item, then, again))
        return then

    def peek(self, item: Node, then: Expr, at: _At) -> Expr:
        words = _words(item)
        if words:
            return self.searches.ahead(words, self.shared(then), at.where)
        if not self.ties(item):
            seen = self.lower(item, EMPTY, _At(ANYTHING, quiet=True))
            ahead = seen.items if isinstance(seen, Sequence) else (seen,)
            whole = self.book.rules.get(then.name) if isinstance(then, Ref) else then
            if isinstance(whole, Sequence) and whole.items[: len(ahead)] == ahead:
                return then
        self.relaxed("lookahead", at, f"what follows need not be {ebnf_node(item)}")
        return then

    def until(self, node: n.Until, then: Expr, at: _At) -> Expr:
        if node.then:
            self.book.narrowed("continuation", at.where, f"{ebnf_node(node)} ends at its first delimiter")
        code = node.prose and not at.quiet and "code" not in self.without
        if code and node.finals:
            self.book.narrowed("finals", at.where, f"{' and '.join(map(repr, node.finals))} in code end nothing")
        then = self.shared(then)
        return self.searches.until(node.delimiters, then, at.where, some=node.low > 0, code=code)

    def rule(self, name: str, then: Expr, at: _At) -> Expr:
        item = self.analysis.rules[name]
        if name not in self.analysis.recursive:
            return self.lower(item, then, at.inside(name))
        if (name, at.quiet) not in self.bodies:
            own = self.book.name(name)
            self.bodies[name, at.quiet] = Ref(own)
            self.book.define(own, self.lower(item, RETURN, structs.replace(at.inside(name), follow=ANYTHING)))
        return sequence(self.bodies[name, at.quiet], then)

    def field(self, node: n.Field, then: Expr, at: _At) -> Expr:
        if self.tools and node.role is n.Role.NAME and node.pattern is None and node.decode is n.Decoding.NONE:
            alone = tidied(_Lowering(Grammar(node.item), (), self.without).rules(node.item))
            names = [name for name in self.tools if alone is not None and Matcher(alone).matches(name)]
            for name in self.tools:
                if name not in names:
                    self.book.narrowed("names", at.where, f"{name!r} can't be written here")
            return sequence(choice(*names), then) if names else Choice(())
        if self.analysis.extent(node.item, at.follow).consumed > FIELD_LIMIT:
            self.relaxed("length", at, f"a {node.role} may be longer than {FIELD_LIMIT} characters")
        return self.lower(node.item, then, structs.replace(at, quiet=True))

    def header(self, node: n.Header, then: Expr, at: _At) -> Expr:
        if any(case.fields for case in node.cases):
            self.relaxed("header", at, "its fields don't tell which case goes on")
        self.relaxed("length", at, f"a header may be longer than {node.limit} characters")
        then = self.shared(then)
        goes_on = sequence(node.stop, choice(*(self.lower(case.then, then, at) for case in node.cases)))
        behind = self.searches.until((node.stop, *node.abort), goes_on, at.where, some=False, code=False)
        return sequence(Repeat(chars(" \t\r\n"), 0, _LAYOUT_LIMIT), choice(*node.start), behind)

    def json(self, form: n.JsonForm, at: _At) -> Expr:
        if form is n.JsonForm.QUOTED:
            self.relaxed("quoted JSON", at, "the string may hold anything")
        if form is n.JsonForm.VALUE:
            self.note_json(at)
        values = Values(self.book, JSON)
        return values.anything if form is n.JsonForm.VALUE else values.string

    def note_json(self, at: _At) -> None:
        self.book.narrowed("layout", at.where, "between JSON's tokens stands a space, or a line's end and indent")
        if not disjoint(_NUMBER_GOES_ON, at.follow):
            self.relaxed("greed", at, "a number may end where it could go on")

    def notated(self, notation: Notation, at: _At) -> Expr:
        self.book.narrowed("notation", at.where, f"of what {notation.name} has, one way to write each value")
        form = bare_form(notation.quotes[0].mark) if notation.bare else PYTHON
        return Values(self.book, form).anything

    def schema(self, node: n.Schema, then: Expr, at: _At) -> Expr:
        """A JSON value that satisfies a schema; of other text none is asked."""
        item = node.item
        while isinstance(item, (n.Label, n.Tag)):
            item = item.item
        if item != n.Json():
            self.relaxed("schema", at, f"{ebnf_node(node.item)} is not one JSON value, and any passes")
            return self.lower(node.item, then, at)
        self.note_json(at)
        try:
            schema = loads(node.schema)
        except ValueError as error:
            raise GrammarError(ebnf_node(node), f"its schema is not JSON: {error}", "give JSON text") from None
        lowering = Lowering(self.book, schema if isinstance(schema, Mapping) else {}, at.where)
        return sequence(lowering.value(schema), then)


def _words(node: Node) -> tuple[str, ...]:
    """The words that a node is a choice of, if it is that."""
    match node:
        case n.Literal(text=text):
            return (text,) if text else ()
        case n.Choice(items=items):
            found = [_words(item) for item in items]
            return tuple(word for words in found for word in words) if all(found) else ()
        case n.Sequence(items=(item,)):
            return _words(item)
        case _:
            return ()
