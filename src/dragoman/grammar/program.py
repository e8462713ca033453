"""Compiles a grammar into the steps that a `machine` takes.

Steps are linked backwards: each node is compiled with the step that comes after it. Along the way the compiler
carries what the characters mean (`label`), what can follow (for `Analysis`), and which open choices are decided as
soon as the node's first characters have been read (`cuts`); a `CutStep` goes in right there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import assert_never

from ..errors import GrammarError
from ..events import ProblemKind
from . import calls, control, labels, scanning, steps
from . import nodes as n
from .analyze import JSON_FIRST, Analysis, Report, analyze, lead_of
from .first import ANYTHING, AT_END, AtEnd, Atom, First, NotAt, OneOf, Text
from .labels import Label
from .nodes import Grammar, Node
from .prose import ProseStep
from .show import ebnf_node
from .steps import Step
from .tries import Delimiters, followed_pattern, opening_pattern, prefix_free

__all__ = ["Program", "program_of"]

_NO_CUTS: frozenset[int] = frozenset()
_TELLING = (n.Call, n.Begin, n.Field, n.Arguments, n.Members, n.Value, n.Notated, n.Header, n.StopMark, n.Commit)
"""What changes more than what is published."""


class Program:
    """A grammar ready to run; immutable once built, shared by all machines that run it."""

    def __init__(self, grammar: Grammar, without: frozenset[str]) -> None:
        self.grammar = grammar
        self.report: Report = analyze(grammar)
        compiler = _Compiler(grammar, without)
        self._entries: dict[str | None, Step] = {None: compiler.entry(grammar.root)}
        self._entries |= {name: compiler.entry(node) for name, node in grammar.entries}
        self.failed = compiler.failed

    @property
    def hold_bound(self) -> int | None:
        """Characters that a machine holds at most, ``None`` if that is not bounded."""
        return self.report.hold_bound

    def entry(self, name: str | None) -> Step:
        """The first step; raises `KeyError` for an entry that the grammar does not have."""
        return self._entries[name]


@lru_cache(maxsize=256)
def program_of(grammar: Grammar, without: frozenset[str] = frozenset()) -> Program:
    """The program of a grammar, without the gates of these options, compiled once; raises `GrammarError`."""
    return Program(grammar, without)


def _linked(step: Step, after: Step) -> Step:
    step.next = after
    return step


class _Compiler:
    def __init__(self, grammar: Grammar, without: frozenset[str]) -> None:
        self.analysis = Analysis(grammar)
        self.without = without
        rest = control.RestStep()
        unfit = control.GiveUpStep(ProblemKind.MALFORMED, "the input does not follow the grammar")
        over = control.GiveUpStep(ProblemKind.TRAILING_INPUT, "the grammar ends before the input does")
        self.failed: Step = _linked(unfit, rest)
        self.done: Step = control.TrailingStep(_linked(over, rest))
        self.keys = 0
        self.members = 0  # how many `Members` enclose what is compiled
        self.bodies: dict[tuple[str, Label], control.RuleStep] = {}

    def entry(self, node: Node) -> Step:
        """The step at which the whole of the input begins as this node."""
        return self.compile(node, self.done, labels.markup, AT_END, _NO_CUTS)

    def compile(self, node: Node, after: Step, label: Label, follow: First, cuts: frozenset[int]) -> Step:
        """The first step of a node; see the module's head."""
        match node:
            case n.Literal(text=text):
                return _linked(steps.LiteralStep(text, label), self._cut(cuts, after, len(text))) if text else after
            case n.Chars():
                return self._chars(node, after, label, cuts)
            case n.Sequence():
                return self._sequence(node, after, label, follow, cuts)
            case n.Choice():
                return self._choice(node, after, label, follow, cuts)
            case n.Repeat():
                return self._repeat(node, after, label, follow, cuts)
            case n.Peek(item=item) | n.Negate(item=item):
                return self._lookahead(item, isinstance(node, n.Negate), after)
            case n.Until():
                return self._until(node, after, label, cuts)
            case n.Json(form=form):
                return self._json(form, after, label, cuts)
            case n.Notated():
                return self._notated(node, after, label, cuts)
            case n.Rule(name=name) | n.Ref(name=name):
                return self._rule(name, after, label, follow, cuts)
            case n.End(stopped=stopped):
                return _linked(control.EndStep(stopped), after)
            case n.Commit():
                return _linked(control.CommitStep(), after)
            case n.Label(item=item, meaning=meaning, channel=channel):
                return self.compile(item, after, _label(meaning, channel), follow, cuts)
            case n.Tag(item=item, name=name):
                return self.compile(item, _linked(control.TagEndStep(name), after), labels.tagged(name), follow, cuts)
            case n.Gate(option=option) if option in self.without:
                return control.FailStep()
            case n.Schema(item=item) | n.Trigger(item=item) | n.Gate(item=item):
                return self.compile(item, after, label, follow, cuts)
            case _:
                return self._meaning(node, after, label, follow, cuts)

    def _meaning(self, node: Node, after: Step, label: Label, follow: First, cuts: frozenset[int]) -> Step:
        match node:
            case n.Field(item=item, role=role, pattern=pattern, decode=decode):
                return self._captured(item, calls.FieldEndStep(role, pattern, decode, False), after, cuts)
            case n.Begin(item=n.Field(item=item, role=n.Role.NAME, pattern=pattern, decode=decode)):
                return self._captured(item, calls.FieldEndStep(n.Role.NAME, pattern, decode, True), after, cuts)
            case n.Begin(item=item, name=name):
                return self.compile(item, _linked(calls.BeginEndStep(name), after), label, follow, cuts)
            case n.Arguments(item=item, raw=raw):
                first = self.compile(item, after, labels.arguments, follow, cuts)
                return _linked(calls.RawArgumentsStep(), first) if raw else first
            case n.Members(item=item, element=element, unwrap=unwrap):
                self.members += 1
                inside = self.compile(item, _linked(calls.MembersEndStep(), after), label, follow, cuts)
                self.members -= 1
                return _linked(calls.MembersStep(element, unwrap), inside)
            case n.Value(until=until, kinds=kinds, notation=notation):
                inside = self.compile(
                    until, _linked(calls.ValueEndStep(kinds is not None), after), labels.values, follow, _NO_CUTS
                )
                return _linked(calls.ValueStep(kinds, notation), inside)
            case n.Call():
                return self._call(node, after, label, follow, cuts)
            case n.Header(cases=cases):
                then = tuple((case.fields, self.compile(case.then, after, label, follow, _NO_CUTS)) for case in cases)
                return _linked(calls.HeaderStep(node, then), after)
            case n.StopMark(item=item):
                return self._captured(item, calls.StopEndStep(), after, cuts)
            case n.Report(item=item, kind=kind, detail=detail):
                return self._captured(item, calls.ReportEndStep(kind, detail), after, cuts)
            case _:
                raise TypeError(f"not a node of this vocabulary: {node!r}")

    def _cut(self, cuts: frozenset[int], after: Step, width: int) -> Step:
        return _linked(control.CutStep(cuts, width), after) if cuts else after

    def _key(self) -> int:
        self.keys += 1
        return self.keys

    def _chars(self, node: n.Chars, after: Step, label: Label, cuts: frozenset[int]) -> Step:
        if not cuts or node.low == 0:
            return _linked(
                control.PushLoopStep(), _linked(steps.CharsStep(node.cls, node.low, node.high, label), after)
            )
        # The first character decides: read it alone, then the rest.
        high = None if node.high is None else node.high - 1
        rest = after
        if high != 0:
            more = steps.CharsStep(node.cls, node.low - 1, high, label)
            rest = _linked(control.PushLoopStep(), _linked(more, after))
        one = _linked(steps.CharsStep(node.cls, 1, 1, label), self._cut(cuts, rest, 1))
        return _linked(control.PushLoopStep(), one)

    def _sequence(self, node: n.Sequence, after: Step, label: Label, follow: First, cuts: frozenset[int]) -> Step:
        items = node.items
        lead = lead_of(items) if items else 0
        step = after
        for k in reversed(range(len(items))):
            here = cuts if k == lead else _NO_CUTS
            step = self.compile(items[k], step, label, self.analysis.follow(items, k, follow), here)
        return step

    def _choice(self, node: n.Choice, after: Step, label: Label, follow: First, cuts: frozenset[int]) -> Step:
        items = node.items
        if not items:
            return control.FailStep()
        words = tuple(item.text for item in items if isinstance(item, n.Literal))
        if 1 < len(items) == len(words) and prefix_free(words):
            return _linked(steps.WordsStep(Delimiters(words), label, cuts), after)
        step = self.compile(items[-1], after, label, follow, cuts)
        for k in reversed(range(len(items) - 1)):
            choice = control.ChoiceStep(self._key(), self._guard(items[k]))
            decided = cuts | {choice.key} if self.analysis.decided(items, k, follow) else cuts
            choice.item = self.compile(items[k], _linked(control.WithdrawStep(), after), label, follow, decided)
            choice.otherwise = step
            step = choice
        return step

    def _guard(self, node: Node) -> steps.Guard | None:
        """A look at the text that rules out most places where the node does not match."""
        first = self.analysis.first(node)
        return None if first.empty or self.analysis.commits_first(node) else opening_guard(first.atoms)

    def _repeat(self, node: n.Repeat, after: Step, label: Label, follow: First, cuts: frozenset[int]) -> Step:
        loop = control.LoopStep(self._key(), node.low, node.high, self._guard(node.item))
        first = self.analysis.first(node.item)
        again = First(first.atoms | follow.atoms, follow.empty)
        decided = {loop.key} if self.analysis.goes_on(node.item, follow) else frozenset[int]()
        inner = (cuts if node.low else _NO_CUTS) | decided
        loop.body = self.compile(node.item, control.NextTurnStep(loop), label, again, inner)
        loop.leave = _linked(control.PopStep(), after)
        return _linked(control.PushLoopStep(), loop)

    def _lookahead(self, item: Node, negative: bool, after: Step) -> Step:
        choice = control.TrialStep(self._key())
        choice.otherwise = after if negative else control.FailStep()
        undo = _linked(control.UndoStep(negative), after)
        choice.item = self.compile(item, undo, labels.silent, ANYTHING, _NO_CUTS)
        return choice

    def _until(self, node: n.Until, after: Step, label: Label, cuts: frozenset[int]) -> Step:
        then = followed_pattern(node.then, node.gap) if node.then else None
        delimiters = Delimiters(node.delimiters)
        reading: Step = steps.UntilStep(delimiters, then, label)
        if node.prose and "code" not in self.without and isinstance(label, labels.TextLabel):
            reading = ProseStep(node.delimiters, node.finals, label)
        step = _linked(reading, after)
        if node.low:
            return _linked(steps.SomeStep(delimiters), self._cut(cuts, step, 0))
        return step

    def _json(self, form: n.JsonForm, after: Step, label: Label, cuts: frozenset[int]) -> Step:
        if form is not n.JsonForm.QUOTED:
            begins = n.Chars(JSON_FIRST if form is n.JsonForm.VALUE else '"')
            return self._begun(begins, _linked(scanning.ScanStep(form, label), after), cuts)
        quote = labels.markup
        inside = _linked(scanning.QuotedStep(label), _linked(steps.LiteralStep('"', quote), after))
        return _linked(steps.LiteralStep('"', quote), self._cut(cuts, inside, 1))

    def _notated(self, node: n.Notated, after: Step, label: Label, cuts: frozenset[int]) -> Step:
        if isinstance(label, labels.ArgumentsLabel):
            kind: type[scanning.NotatedStep] = scanning.NotatedArgumentsStep
        elif isinstance(label, labels.Silent):
            kind = scanning.NotatedStep
        elif self.members:
            kind = scanning.NotatedMemberStep
        else:
            fix = "put it under arguments(), or behind a key() in argument_members()"
            raise GrammarError(ebnf_node(node), "its value is no argument", fix)
        return self._begun(n.Chars(node.notation.first), _linked(kind(node.notation), after), cuts)

    def _begun(self, begins: n.Chars, step: Step, cuts: frozenset[int]) -> Step:
        """A step at which choices are over as soon as one of these characters is seen."""
        return self._lookahead(begins, False, self._cut(cuts, step, 0)) if cuts else step

    def _rule(self, name: str, after: Step, label: Label, follow: First, cuts: frozenset[int]) -> Step:
        item = self.analysis.rules[name]
        if name not in self.analysis.recursive:
            return self.compile(item, after, label, follow, cuts)
        call = self.bodies.get((name, label))
        if call is None:
            call = self.bodies[name, label] = control.RuleStep(name, len(self.bodies), _is_pure(item))
            call.body = body = control.PassStep()
            body.next = self.compile(item, control.ReturnStep(), label, ANYTHING, _NO_CUTS)
        return _linked(call.twin(), after)

    def _captured(self, item: Node, ending: Step, after: Step, cuts: frozenset[int]) -> Step:
        inside = self.compile(item, _linked(ending, after), labels.silent, ANYTHING, cuts)
        return _linked(calls.CaptureStep(), inside)

    def _call(self, node: n.Call, after: Step, label: Label, follow: First, cuts: frozenset[int]) -> Step:
        ending = _linked(calls.CallEndStep(), after)
        close = self.compile(node.close, ending, label, follow, _NO_CUTS)
        closing = self.analysis.first(node.close)
        following = First(closing.atoms | follow.atoms, follow.empty) if closing.empty else closing
        body = self.compile(node.item, _linked(calls.BodyEndStep(), close), label, following, cuts)
        rest = _linked(calls.ResyncEndStep(node.closers), after)
        resync = _linked(steps.UntilStep(Delimiters((*node.closers, *node.resume)), None, labels.malformed), rest)
        return _linked(calls.CallStep(_linked(calls.RecoverStep(node.resume, resync, node.stops), after)), body)


@lru_cache(maxsize=1024)
def opening_guard(atoms: frozenset[Atom]) -> steps.Guard | None:
    """Lets pass where one of the atoms can begin; ``None`` where that would be nearly anywhere."""
    words = tuple(atom.text for atom in atoms if isinstance(atom, Text))
    branches = [opening_pattern(words)] if words else []
    for atom in atoms:
        if isinstance(atom, NotAt):
            return None
        if isinstance(atom, OneOf):
            branches.append(f"[{atom.cls}]")
    return steps.Guard("|".join(branches) or "(?!)", any(isinstance(atom, AtEnd) for atom in atoms))


def _label(meaning: n.Meaning, channel: str | None) -> Label:
    match meaning:
        case n.Meaning.CONTENT:
            return labels.content(channel)
        case n.Meaning.REASONING:
            return labels.reasoning
        case n.Meaning.MARKUP:
            return labels.markup
        case n.Meaning.MALFORMED:
            return labels.malformed
        case _:
            assert_never(meaning)


def _is_pure(item: Node) -> bool:
    """Whether a rule does nothing but publish text, so that what it did can be repeated from memory."""
    return not any(isinstance(node, _TELLING) for node in item.walk())
