"""A stretch: text of one channel of an upstream, uninterrupted, read by a dialect as if the model were in that channel.

What the model would have written before, a thought's opener or a message's header, is taken from the dialect's own
writer and read first, so that clean text comes out as it came in and leaked markup is seen. Which stretches there are
is the business of `dragoman.stream.normalize`.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from ..dialect import START, Dialect, Policy
from ..errors import Inexpressible
from ..events import ContentDelta, Event, Markup, Problem, ProblemKind, ReasoningDelta, Stop
from ..grammar import build as b
from ..grammar.machine import Machine
from ..grammar.nodes import Grammar
from ..grammar.program import program_of
from ..grammar.schema import Toolbox
from ..parse.prefill import clamped
from ..types import Message, Part, TextPart, ThinkingPart
from .residue import Residue

__all__ = ["Channel", "Source", "Stretch"]

_SAMPLE = "\ue000"

_thought = Grammar(b.reasoning(b.until()))
_refusal = Grammar(b.content(b.until(), channel="refusal"))


class Channel(Enum):
    """What an upstream takes its text for."""

    TEXT = "text"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    """Text that says why there is no answer; no dialect has it, so it passes as it is, on a channel of that name."""


class Source(Struct, frozen=True):
    """What all stretches of an output share: `leads` are what the model would have written before each channel's text.

    A dialect without thoughts has no lead to one: then what it reads as visible text is the thought.
    """

    dialect: Dialect
    tools: Toolbox
    policy: Policy
    leads: tuple[str, str | None]

    @classmethod
    def of(cls, dialect: Dialect, tools: Toolbox, policy: Policy) -> Source:
        """The leads are the dialect's own."""
        text, thought = TextPart(_SAMPLE), ThinkingPart(_SAMPLE)
        return cls(dialect, tools, policy, (_before(dialect, text) or "", _before(dialect, thought)))

    def stretch(self, channel: Channel, at: int, calls: int, residue: Residue, *, within: Channel) -> Stretch:
        """A stretch that begins `at` a position, with some calls behind it; the model is `within` a channel there."""
        text, thought = self.leads
        thinks = thought is not None
        lead = thought if thought is not None and within is Channel.REASONING else text
        if within is Channel.TEXT and not self.policy.calls_in_code:
            lead += residue.code
        if within is Channel.REFUSAL:
            machine = Machine(program_of(_refusal), base=at, calls=calls)
        elif within is Channel.REASONING and not thinks and not self.policy.calls_in_reasoning:
            machine = Machine(program_of(_thought), base=at, calls=calls)
        else:
            machine = self.dialect.machine(START, self.tools, self.policy, base=at - len(lead), calls=calls)
            machine.feed(lead)
        relabelled = channel is Channel.REASONING and not thinks
        return Stretch(machine, channel, at, residue, relabelled=relabelled)


class Stretch:
    """Reads one stretch; `marker` is the last stop marker that leaked into it.

    `end` is where it ends so far, and is moved by who feeds it: text elsewhere is of another stretch.
    """

    __slots__ = ("_at", "_feed", "_machine", "_relabelled", "_residue", "channel", "end", "marker")

    def __init__(self, machine: Machine, channel: Channel, at: int, residue: Residue, *, relabelled: bool) -> None:
        self.channel = channel
        self.marker: str | None = None
        self._at = self.end = at
        self._machine, self._feed = machine, machine.feed
        self._residue = residue
        self._relabelled = relabelled

    @property
    def calls(self) -> int:
        """Calls of the output so far."""
        return self._machine.calls

    @property
    def completed(self) -> int:
        """Calls of this stretch that are complete."""
        return self._machine.completed

    @property
    def held(self) -> int:
        """Characters that wait to be decided."""
        return self._machine.held

    def feed(self, text: str) -> list[Event]:
        """What this text decides."""
        events = self._feed(text)
        if len(events) == 1 and (event := events[0]).start >= self._at:  # nearly always
            if type(event) is ContentDelta and not self._relabelled:
                self._residue.feed(event.text)
                return events
            if type(event) is ReasoningDelta:
                return events
        return self._seen(events)

    def finish(self, reason: str | None) -> list[Event]:
        """The end of the stretch: nothing stays held. `reason` is why the output ended, ``stop`` if it went on."""
        events = self._seen(self._machine.finish(reason))
        self._residue.settle()
        return events

    def _seen(self, events: list[Event]) -> list[Event]:
        """The events as those of a part of the output."""
        if events and events[0].start < self._at:
            events = clamped(events, self._at)
        return [shown for event in events if (shown := self._shown(event)) is not None]

    def _shown(self, event: Event) -> Event | None:
        match event:
            case ContentDelta() if self._relabelled:
                return ReasoningDelta(event.text, event.start, event.end)
            case ContentDelta():
                self._residue.feed(event.text)
            case Stop():  # the output may go on in another channel
                self.marker = event.marker
                return Markup(event.marker or "", event.start, event.end)
            case Problem(kind=ProblemKind.UNCLOSED_REASONING) if self.channel is Channel.REASONING:
                return None  # the upstream has taken the closer away
            case _:
                pass
        return event


def _before(dialect: Dialect, part: Part) -> str | None:
    """What the dialect writes before such a part, ``None`` where it can't write one."""
    try:
        written = dialect.render(Message("assistant", (part,)))
    except Inexpressible:
        return None
    return written.partition(_SAMPLE)[0]
