"""The normaliser: a stream that an upstream has parsed already, read once more, to the events of a `Parser`.

An OpenAI-compatible server tells text, reasoning and tool calls apart, and leaks markup where its own parser fails.
Each channel is read by the model's dialect: leaked calls become calls, thoughts in the answer reasoning, an answer in
the thoughts text, and stop markers leave. Clean text comes out as it came in. How chunks become pushes is in
`dragoman.stream.chat_reader`; what is left over is counted by `dragoman.stream.residue`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from ..dialect import DEFAULT_POLICY, Dialect, Policy
from ..errors import ParserFinished
from ..events import Event, Malformed, Problem, ProblemKind, Stop
from ..parse.parser import Tools, toolbox
from ..registry import get_dialect
from .native import CallPush, NativeCall
from .residue import Residue
from .stretch import Channel, Source, Stretch

__all__ = ["CALLS_LIMIT", "WAITING_LIMIT", "Normalizer"]

CALLS_LIMIT = 1024
"""Indices of calls that an upstream may use in one output."""

WAITING_LIMIT = 1 << 18
"""Characters that may wait for the end of a call, before it is taken for one that was cut."""

_TEXT, _REASONING = Channel.TEXT, Channel.REASONING  # looked up for every push

_ENDED_WELL = frozenset(("stop", "tool_calls", "function_call"))
"""Reasons that say that the model was done, and which calls can correct."""


class _TextPush(Struct, frozen=True):
    channel: Channel
    text: str
    at: int

    @property
    def size(self) -> int:
        return len(self.text)


_Push = _TextPush | CallPush


class Normalizer:
    """Reads one output of an upstream, pushed in pieces of any size.

    Every pushed character is in the span of one event; spans count text, reasoning, and names and arguments of calls,
    in the order of the pushes. Events keep that order, but a call comes out in one: what is pushed before its arguments
    are complete JSON waits for that, at most `WAITING_LIMIT` characters. Before the channel changes, what is held is
    decided as if the output ended there. Text that goes on after an interruption is in the same Markdown code.

    `within` is the channel in which the text begins: `Channel.REASONING` where the prompt opens a thought and the
    upstream has no parser for it. The dialect ``auto`` is read as ``generic``. Raises `UnknownDialect`,
    `AmbiguousDialect` or `InvalidTool`.
    """

    __slots__ = (
        "_calls",
        "_completed",
        "_count",
        "_finished",
        "_lanes",
        "_marker",
        "_open",
        "_position",
        "_refused",
        "_residue",
        "_source",
        "_stretch",
        "_waiting",
        "_within",
        "dialect",
    )

    def __init__(
        self,
        dialect: str | Dialect,
        tools: Tools | None = None,
        *,
        policy: Policy = DEFAULT_POLICY,
        within: Channel = Channel.TEXT,
    ) -> None:
        self.dialect = get_dialect(dialect) if isinstance(dialect, str) else dialect
        self._source = Source.of(self.dialect, toolbox(tools), policy)
        self._residue = Residue((*self.dialect.marks, *self.dialect.stops))
        self._within = within
        self._stretch: Stretch | None = None  # the text that goes on
        self._open: NativeCall | None = None  # the upstream's call that goes on: never both
        self._calls: dict[int, NativeCall] = {}  # by the upstream's index
        self._lanes = _Lanes()  # what waits for the end of the open call
        self._position = 0
        self._count = 0  # calls before the text that goes on
        self._completed = 0  # those that are complete
        self._marker: str | None = None
        self._refused = False  # there were too many calls
        self._finished = False

    def push(self, channel: Channel, text: str) -> list[Event]:
        """Text of a channel; raises `ParserFinished` after `finish`."""
        stretch, at = self._stretch, self._position
        self._position = end = at + len(text)
        if stretch is not None and stretch.channel is channel and stretch.end == at:  # nearly always
            stretch.end = end
            return stretch.feed(text)
        if self._finished:
            raise ParserFinished
        return self._take(_TextPush(channel, text, at)) if text else []

    def push_text(self, text: str) -> list[Event]:
        """Visible text, as the upstream takes it; raises `ParserFinished` after `finish`."""
        return self.push(_TEXT, text)

    def push_reasoning(self, text: str) -> list[Event]:
        """Reasoning, as the upstream takes it; raises `ParserFinished` after `finish`."""
        return self.push(_REASONING, text)

    def push_refusal(self, text: str) -> list[Event]:
        """A refusal to answer, which passes as it is; raises `ParserFinished` after `finish`."""
        return self.push(Channel.REFUSAL, text)

    def push_call(
        self,
        index: int,
        *,
        id: str | None = None,  # noqa: A002 - the field's own name
        name: str | None = None,
        arguments: str | None = None,
    ) -> list[Event]:
        """A delta of the call of an index, as the upstream counts; raises `ParserFinished` after `finish`.

        A call without arguments has ``{}``, unless the output ends there and nothing says that the model was done. If
        a complete call's index comes again with another id, or with a name and arguments, that is another call.
        """
        if self._finished:
            raise ParserFinished
        if not (id or name or arguments):
            return []
        push = CallPush(index, id, name or "", arguments or "", self._position)
        self._position += len(push.name) + len(push.arguments)
        return self._take(push)

    def finish(self, reason: str | None = None) -> list[Event]:
        """The end: nothing stays held, and `Stop` tells the reason as far as it is known.

        What the upstream says is corrected by evidence only: ``stop`` is ``tool_calls`` where a call is complete, and
        ``tool_calls`` without one is ``stop``; ``length``, other words and ``None`` stay.
        """
        if self._finished:
            raise ParserFinished
        self._finished = True
        well = reason in _ENDED_WELL
        events: list[Event] = []
        while self._open is not None:
            events += self._close(well=well or bool(self._lanes))
            events += self._drain()
        events += self._end_stretch(reason)
        for call in self._calls.values():
            if call.number is None:
                events += call.give_up()
        if well:
            reason = "tool_calls" if self._completed else "stop"
        events.append(Stop(reason, self._marker, self._position, self._position))
        return events

    @property
    def residue(self) -> Mapping[str, int]:
        """Markers that still stand in the visible text, outside of Markdown code, and how often."""
        return MappingProxyType(self._residue.counts)

    @property
    def held(self) -> int:
        """Characters that wait to be decided, or for the end of a call."""
        return self._lanes.size + (self._stretch.held if self._stretch is not None else 0)

    # What waits, and what need not

    def _take(self, push: _Push) -> list[Event]:
        """A push: at once, unless a call is open that must end first."""
        call = self._open
        if call is None or self._goes_on(call, push):
            return self._apply(push)
        if not self._lanes and self._may_end(call, push):
            return self._apply(push)
        events = call.begin(self._source.tools, self._count)  # its name is all there
        self._lanes.add(push)
        if self._lanes.size > WAITING_LIMIT:
            events += self._close(well=False)
            events += self._drain()
        return events

    def _goes_on(self, call: NativeCall, push: _Push) -> bool:
        if not isinstance(push, CallPush) or self._calls.get(push.index) is not call:
            return False
        return not self._lanes.has(push.index) and not call.is_replaced_by(push)

    def _may_end(self, call: NativeCall, push: _Push) -> bool:
        """Whether the open call can be over; one without arguments is where text follows, or it is replaced."""
        if call.is_settled or isinstance(push, _TextPush):
            return call.is_settled or call.is_empty
        return self._calls.get(push.index) is call

    def _drain(self) -> list[Event]:
        """Take what waits, up to the next call that must end first."""
        events: list[Event] = []
        while self._lanes and (self._open is None or self._may_end(self._open, self._lanes.first)):
            lane = self._lanes.pop()
            for push in lane:
                events += self._apply(push, drains=True)
        return events

    # What becomes of a push

    def _apply(self, push: _Push, *, drains: bool = False) -> list[Event]:
        if isinstance(push, CallPush):
            return self._apply_call(push, drains)
        events = self._close(well=True)
        stretch = self._stretch
        if stretch is None or stretch.channel is not push.channel or stretch.end != push.at:
            events += self._end_stretch("stop")
            within = self._within if push.channel is Channel.TEXT else push.channel
            if push.channel is Channel.TEXT:
                self._within = Channel.TEXT
            stretch = self._source.stretch(push.channel, push.at, self._count, self._residue, within=within)
            self._stretch = stretch
        stretch.end += len(push.text)
        return events + stretch.feed(push.text)

    def _apply_call(self, push: CallPush, drains: bool) -> list[Event]:
        events = self._end_stretch("stop")
        call = self._calls.get(push.index)
        if call is not None and call.is_replaced_by(push):
            events += self._close(well=True) if call is self._open else []
            call = None
        if call is None:
            if len(self._calls) >= CALLS_LIMIT and push.index not in self._calls:
                return events + self._refuse(push)
            call = self._calls[push.index] = NativeCall()
        if call.closed:
            return events + call.take_late(push)
        if push.name and call is not self._open:
            events += self._close(well=True)
            self._open = call
        events += call.identify(push, self._source.tools, self._count)
        if push.arguments:
            events += self._take_arguments(call, push, drains)
        return events

    def _take_arguments(self, call: NativeCall, push: CallPush, drains: bool) -> list[Event]:
        text, at = push.arguments, push.at + len(push.name)
        if call is not self._open:
            return call.defer(text, at)
        events = call.begin(self._source.tools, self._count)
        used, more = call.take(text, at)
        events += more
        rest = text[used:]
        if call.is_settled and self._lanes and not drains:
            events += self._close(well=True)
            events += self._drain()
            return events + (self._take(CallPush(push.index, None, "", rest, at + used)) if rest else [])
        return events + call.take_rest(rest, at + used)

    def _refuse(self, push: CallPush) -> list[Event]:
        """A delta of a call too many: its characters, and once the problem."""
        text, events = push.name + push.arguments, list[Event]()
        if not self._refused:
            detail = f"more than {CALLS_LIMIT} calls at once"
            events.append(Problem(ProblemKind.TRAILING_INPUT, "", detail, push.at, push.at))
        self._refused = True
        return [*events, Malformed(text, push.at, push.at + len(text))] if text else events

    # Ends

    def _close(self, *, well: bool) -> list[Event]:
        """End the open call, if there is one."""
        call, self._open = self._open, None
        if call is None:
            return []
        events = call.begin(self._source.tools, self._count) + call.end(well=well)
        self._count += 1
        self._completed += call.complete
        return events

    def _end_stretch(self, reason: str | None) -> list[Event]:
        """End the text that goes on, if there is one."""
        stretch, self._stretch = self._stretch, None
        if stretch is None:
            return []
        events = stretch.finish(reason)
        self._count, self._completed = stretch.calls, self._completed + stretch.completed
        self._marker = stretch.marker or self._marker
        return events


class _Lanes:
    """Pushes that wait, in lanes: the deltas of one call together, and texts that follow each other."""

    __slots__ = ("_calls", "_lanes", "size")

    def __init__(self) -> None:
        self._lanes: deque[list[_Push]] = deque()
        self._calls: dict[int, list[_Push]] = {}
        self.size = 0

    def __bool__(self) -> bool:
        return bool(self._lanes)

    @property
    def first(self) -> _Push:
        """The push that is the next to be taken."""
        return self._lanes[0][0]

    def has(self, index: int) -> bool:
        """Whether deltas of the call of an index wait."""
        return index in self._calls

    def add(self, push: _Push) -> None:
        """Let it wait."""
        self.size += push.size
        lane = self._calls.get(push.index) if isinstance(push, CallPush) else None
        if lane is None:
            lane = []
            self._lanes.append(lane)
            if isinstance(push, CallPush):
                self._calls[push.index] = lane
        lane.append(push)

    def pop(self) -> list[_Push]:
        """The lane that has waited longest."""
        lane = self._lanes.popleft()
        self.size -= sum(push.size for push in lane)
        if isinstance(push := lane[0], CallPush):
            del self._calls[push.index]
        return lane
