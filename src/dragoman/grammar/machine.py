"""The machine that runs a grammar over text that arrives in pieces.

A grammar is compiled (`program`) into steps, each of which reads something at the cursor and names the next step.
The machine takes steps until one has to wait for more input. A parsing expression tries one alternative after the
other; whoever can still be taken back sits on the stack as a `ChoiceFrame`, and while one is open nothing that was
read since is published. So what is published is never retracted, and since steps only ever look at characters
that are there, how the input was cut cannot matter. Grammars close their choices early (`analyze` bounds how
early), so hardly anything is held back.

Most of the time the machine rests inside one long piece of text and holds nothing: then `rest` says how a chunk
without markers becomes one event, with nothing else to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..errors import ParserFinished
from ..events import Event, Malformed, Problem, ProblemKind
from .analyze import FIELD_LIMIT
from .frames import BOTTOM, NOWHERE, Bundle, CallFrame, CallState, ChoiceFrame, Frame, Known, unbundled
from .json import Scanner, State
from .labels import Rest
from .schema import NO_TOOLS, Toolbox

if TYPE_CHECKING:
    from .program import Program
    from .steps import Step

__all__ = ["Machine"]


class Machine:
    """One run of a program: `feed` text, then `finish`; `copy` at any point to try several continuations.

    Characters are counted from `base`, calls from `calls`: below 0 for those that are not to be counted.
    Amortised O(chunk) per feed for streamable grammars; what is held never exceeds the program's bound.
    """

    __slots__ = (
        "_finished",
        "at",
        "base",
        "call",
        "calls",
        "captures",
        "choices",
        "completed",
        "detail",
        "ended",
        "fields",
        "headed",
        "header",
        "heading",
        "in_string",
        "kept",
        "kept_to",
        "memo",
        "out",
        "program",
        "reason",
        "rest",
        "scanner",
        "stack",
        "starved",
        "step",
        "stopped",
        "text",
        "tools",
    )

    def __init__(
        self,
        program: Program,
        *,
        entry: str | None = None,
        tools: Toolbox = NO_TOOLS,
        base: int = 0,
        calls: int = 0,
    ) -> None:
        self.program = program
        self.tools = tools
        self.step: Step = program.entry(entry)
        self.text = ""  # what is held or being read
        self.at = 0  # the cursor in it
        self.base = base  # where it begins in the input
        self.ended = False  # no more input comes
        self.reason: str | None = None  # the engine's reason for that
        self.stopped = False  # a stop marker was read
        self.starved = NOWHERE  # where a step last failed only because the input ended
        self.stack: list[Frame] = [BOTTOM]  # never empty while the grammar fits
        self.choices: list[ChoiceFrame] = []  # those on the stack that can still be taken back
        self.captures: list[int] = []  # where the fields that are being captured begin
        self.out: list[Event | Bundle] = []  # events that are not published yet
        self.fields: dict[str, str] = {}  # what has been captured for the call or argument that is open
        self.header: dict[str, str] = {}  # the fields of the last header
        self.heading = ""  # its characters: the opener of a call that begins where it ends
        self.headed = NOWHERE  # where it ends
        self.detail = ""  # why the last JSON value or argument broke
        self.call: CallState | None = None
        self.calls = calls  # calls begun so far
        self.completed = 0  # calls that are complete
        self.kept: list[str] = []  # the open call's characters before `kept_to`
        self.kept_to = NOWHERE
        self.memo: dict[tuple[int, int], Known | None] = {}  # what rules did since the first open choice began
        self.rest: Rest | None = None  # how to publish chunks that need no second look
        self.scanner: Scanner | None = None  # reads the arguments' JSON while nothing is held
        self.in_string: Rest  # inside a string of that
        self._finished = False
        self._run()

    # The three verbs

    def feed(self, chunk: str) -> list[Event]:
        """The events that this chunk decides; raises `ParserFinished` after `finish`."""
        rest = self.rest
        if rest is not None:
            if chunk in rest.clean and not self.text:
                start = self.base
                self.base = end = start + len(chunk)
                if self.kept_to > NOWHERE:
                    self.kept.append(chunk)
                    self.kept_to = end
                return [rest.make(chunk, start, end)]
            if rest.until is not None:
                return rest.read(self, chunk)
            rest.is_clean(chunk)  # for the next time
        if self.scanner is not None:
            return self._feed_json(self.scanner, chunk)
        if self._finished:
            raise ParserFinished
        self.text = self.text + chunk if self.text else chunk
        return self.resume()

    def finish(self, reason: str | None = None) -> list[Event]:
        """The events of the end of the input: nothing stays held; `reason` is why the engine stopped."""
        if self._finished:
            raise ParserFinished
        self._finished = self.ended = True
        self.reason = reason
        return self.resume()

    def copy(self) -> Machine:
        """An independent machine in the same state; O(stack + hold)."""
        other = Machine.__new__(Machine)
        for slot in Machine.__slots__:
            if hasattr(self, slot):
                setattr(other, slot, getattr(self, slot))
        other.rest = other.scanner = None
        twins = {id(frame): frame.copy() for frame in self.stack}
        other.stack = [twins[id(frame)] for frame in self.stack]
        other.choices = [twin for frame in self.choices if isinstance(twin := twins[id(frame)], ChoiceFrame)]
        other.captures, other.out, other.kept = self.captures.copy(), self.out.copy(), self.kept.copy()
        other.fields, other.header, other.memo = self.fields.copy(), self.header.copy(), self.memo.copy()
        calls = [self.call, *(choice.call for choice in self.choices)]
        copies = {id(call): call.copy() for call in calls if call is not None}
        other.call = copies.get(id(self.call))
        for choice in other.choices:
            choice.call = copies.get(id(choice.call))
        if self.rest is not None or self.scanner is not None:
            self.step.settle(other)
        return other

    @property
    def position(self) -> int:
        """Where the next character will be."""
        return self.base + len(self.text)

    @property
    def held(self) -> int:
        """Characters that wait to be decided, in the buffer or in a value whose type is open."""
        return len(self.text) + sum(frame.held for frame in self.stack)

    def accepts(self) -> frozenset[str]:
        """What may come next, as the terminals of the grammar's EBNF; alternatives still open included."""
        others = (choice.otherwise.expected(self.stack) for choice in self.choices)
        return self.step.awaited(self).union(*others)

    @property
    def finished(self) -> bool:
        """Whether `finish` was called."""
        return self._finished

    # For the steps

    def fail(self) -> Step:
        """Go back to the last choice, or to the call that is broken; else give up."""
        stack = self.stack
        while stack:
            step = stack.pop().undo(self)
            if step is not None:
                return step
        return self.program.failed

    def choose(self, key: int, otherwise: Step) -> None:
        """Remember where to go if what follows fails."""
        frame = ChoiceFrame(key, otherwise, self.base + self.at, self)
        self.stack.append(frame)
        self.choices.append(frame)

    def decide(self, keys: frozenset[int], since: int) -> None:
        """Give up the alternatives of the open choices of these keys that began at `since`."""
        choices = self.choices
        for k in range(len(choices) - 1, -1, -1):
            frame = choices[k]
            if frame.position < since:
                break
            if frame.key in keys:
                frame.live = False
                del choices[k]

    def commit(self) -> None:
        """Give up all alternatives; calls that are open can only be read as calls from now on."""
        for choice in self.choices:
            choice.live = False
        self.choices.clear()
        call = self.call
        if call is not None and call.committed:
            return  # the stack is deep where elements are
        for frame in self.stack:
            if isinstance(frame, CallFrame):
                frame.committed = True
        if call is not None:
            call.committed = True

    def keep(self, upto: int) -> None:
        """Remember the open call's characters before an index of the buffer."""
        if NOWHERE < self.kept_to < self.base + upto:
            self.kept.append(self.text[self.kept_to - self.base : upto])
            self.kept_to = self.base + upto

    def drop_kept(self) -> None:
        """The open call's characters need not be remembered any longer."""
        self.kept, self.kept_to = [], NOWHERE

    def kept_text(self) -> str:
        """The open call's characters up to the cursor."""
        self.keep(self.at)
        return "".join(self.kept)

    def take_kept(self) -> str:
        """The same, which need not be remembered any longer."""
        raw = self.kept_text()
        self.drop_kept()
        return raw

    def problem(self, kind: ProblemKind, raw: str, detail: str) -> None:
        """Report something at the cursor."""
        here = self.base + self.at
        self.out.append(Problem(kind, raw, detail, here, here))

    def resume(self) -> list[Event]:
        """Take the steps that what is there allows, and publish what they decide."""
        self._run()
        return self._publish()

    # Inside

    def _feed_json(self, scanner: Scanner, chunk: str) -> list[Event]:
        """A chunk inside a call's JSON arguments, most of which do not end in it."""
        if not chunk:
            return []
        end = scanner.scan(chunk, 0)
        start = self.base
        if end == len(chunk) and scanner.state < State.DONE:
            self.base = self.kept_to = start + end
            self.kept.append(chunk)
            self.rest = self.in_string if scanner.state == State.STRING else None
            return [self.in_string.make(chunk, start, self.base)]
        self.text, self.at = chunk, end
        if end:
            self.out.append(self.in_string.make(chunk[:end], start, start + end))
        return self.resume()

    def _run(self) -> None:
        self.rest = self.scanner = None
        step: Step | None = self.step
        while True:
            while step is not None:
                self.step = step
                step = step.run(self)
            if not self.captures or self.position - self.captures[0] <= FIELD_LIMIT or self.ended:
                break
            step = self.fail()

    def _publish(self) -> list[Event]:
        """What is decided; what is not stays held."""
        out, choices = self.out, self.choices
        hold = self.at
        if choices or self.captures:
            first = min([choice.position for choice in choices[:1]] + self.captures[:1])
            hold = min(hold, first - self.base)
        if self.kept_to > NOWHERE:
            self.keep(hold)
        self.base += hold
        self.text = self.text[hold:]
        self.at -= hold
        if choices:
            decided = choices[0].events
            if not decided:
                return []
            published, self.out = out[:decided], out[decided:]
            for choice in choices:
                choice.events -= decided
            for frame in self.stack:
                frame.forget(decided)
            return unbundled(published)
        self.out = []
        events = unbundled(out) if self.memo else cast("list[Event]", out)
        self.memo.clear()
        if not self._finished:
            self.step.settle(self)
        return events

    def give_up(self) -> None:
        """Nothing of the grammar fits: what is here and all that comes is malformed."""
        if self.at < len(self.text):
            start = self.base + self.at
            self.out.append(Malformed(self.text[self.at :], start, self.position))
            self.at = len(self.text)
