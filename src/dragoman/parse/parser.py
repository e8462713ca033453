"""The parser: text or token ids in, events out, for one output of one dialect.

`Parser` is a dialect's machine with the caller's tools and policy; `parse` is ``feed(all)`` and ``finish()``, so a
stream and a whole text can't be read differently. What the events mean is in `dragoman.events`; how a machine
works in `dragoman.grammar.machine`.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from ..dialect import DEFAULT_POLICY, START, Dialect, Policy
from ..errors import InvalidTool, NoTokenizer, ParserFinished
from ..events import ArgumentsDelta, Event, Problem, ProblemKind, Stop, merge
from ..grammar.frames import NOWHERE
from ..grammar.raised import has_raised
from ..grammar.schema import NO_TOOLS, Toolbox
from ..kept import keep
from ..registry import AUTO, get_dialect
from ..types import JSON, Message, Tool
from .assemble import assemble
from .decode import Utf8
from .prefill import Begun, begin, clamped, is_past
from .tokens import Label, Tongue, labels_of, lowered_events, tongue_of

if TYPE_CHECKING:
    from ..recognise import Answer, Detection
    from ..tokenizers import Tokenizer

__all__ = ["Parser", "aparse", "parse", "parse_events"]

Tools = Sequence[Tool | Mapping[str, JSON]]

TOOLBOX_LIMIT = 256
"""Sets of tools whose schemas are kept compiled: a server sees the same few again and again."""

NO_TOKENS: Mapping[int, str] = MappingProxyType({})

_toolboxes: dict[bytes, Toolbox] = {}


class Parser:
    """Reads one output of a model, in pieces of any size.

    Where the model begins is said by a `start` state, by the `prefill`, the part of its turn that it was given, or by
    the rendered `prompt`, in which the prefill is found (see `dragoman.parse.prefill`). Positions count from the first
    character that the model wrote. The dialect ``auto`` is the one that the output tells: its beginning is held until
    then (`dragoman.recognise.stream`), and `dialect` is a stand-in.

    With a `tokenizer` it reads token ids (`feed_tokens`); text that is fed to it is ordinary text, whatever it spells.
    Prompt and prefill may be ids then; as text, they spell control tokens. ``auto`` is told by the tokenizer's tokens.

    Raises `UnknownDialect`, `AmbiguousDialect`, `InvalidTool`, `InvalidStart` or `InvalidPrompt`. Of one output, not of
    several: make a new parser (about as dear as twenty chunks) for each.
    """

    __slots__ = (
        "_again",
        "_begin",
        "_cut",
        "_detection",
        "_given",
        "_ids",
        "_machine",
        "_opened",
        "_plain",
        "_reason",
        "_tongue",
        "_unsettled",
        "_utf8",
        "dialect",
        "feed",
    )

    feed: Callable[[str], list[Event]]
    """``feed(chunk)``: the events that this text decides, in O(chunk); raises `ParserFinished` after `finish`."""

    def __init__(
        self,
        dialect: str | Dialect,
        tools: Tools | None = None,
        *,
        start: str = START,
        prefill: str | Sequence[int] = "",
        prompt: str | Sequence[int] | None = None,
        policy: Policy = DEFAULT_POLICY,
        tokenizer: Tokenizer | None = None,
    ) -> None:
        self.dialect = get_dialect(dialect) if isinstance(dialect, str) else dialect
        self._opened: Sequence[Event] = ()  # what is published of the prefill
        self._utf8: Utf8 | None = None
        self._detection: Detection | None = None
        self._tongue: Tongue | None = None
        known = toolbox(tools)
        spoken = self.dialect
        if tokenizer is not None:
            self._again = partial(
                Parser, dialect, tools, start=start, prefill=prefill, prompt=prompt, policy=policy, tokenizer=tokenizer
            )
            spoken = self._speak(tokenizer)
        begins, shown = self._given_text(prefill), self._given_text(prompt) if prompt is not None else None
        if spoken.name == AUTO or begins or shown is not None:
            self._begin: Callable[[Dialect], Begun] = partial(
                begin, start=start, tools=known, policy=policy, prefill=begins, prompt=shown
            )
            self._unsettled = True  # control tokens of the prefill may be held
            self._open(spoken)
        else:
            self._machine = spoken.machine(start, known, policy)
        if spoken.name == AUTO:
            from ..recognise import Detection  # not needed by who knows the dialect

            self._detection = Detection(lambda one: one.machine(start, known, policy))
            self._given = len(begins)
            answer = self._detection.feed(begins)
            if answer is not None:
                self._decide(self._detection, answer)
        self._bind()

    def feed_tokens(self, ids: Sequence[int]) -> list[Event]:
        """The events that these token ids decide; control tokens are matched by id.

        Spans count the characters that the ids spell. O(that text). Raises `UnknownToken`, `NoTokenizer` where the
        parser was made without one, and `ParserFinished` after `finish`.
        """
        try:
            (token,) = ids
            piece = self._plain[token]
        except (ValueError, KeyError):
            return self._feed_ids(ids)
        machine = self._machine
        rest = machine.rest
        if rest is not None and piece in rest.clean and not machine.text:  # as in `Machine.feed`: a call less
            self._ids.append(token)
            start = machine.base
            machine.base = end = start + len(piece)
            if machine.kept_to > NOWHERE:
                machine.kept.append(piece)
                machine.kept_to = end
            return [rest.make(piece, start, end)]
        events = self.feed(piece)
        self._ids.append(token)
        return self._settled(events, piece) if self._unsettled else events

    def token_labels(self) -> list[Label]:
        """What each token so far is, as far as that is decided; all of them after `finish`.

        They are read again for that, in one piece, which gives the same. Linear.
        """
        if self._tongue is None:
            raise NoTokenizer(self.dialect.name)
        again = self._again()
        events = again.feed_tokens(self._ids)
        if self._machine.finished:
            events += again.finish(self._reason)
        return labels_of(events, self.token_ends())

    def token_ends(self) -> list[int]:
        """Where in the characters that spans count each token so far ends. Linear."""
        if self._tongue is None:
            raise NoTokenizer(self.dialect.name)
        return self._tongue.ends(self._ids)

    def feed_bytes(self, chunk: bytes) -> list[Event]:
        """The same for UTF-8, cut anywhere; bytes that are not UTF-8 are U+FFFD each, and reported."""
        if self._machine.finished:
            raise ParserFinished
        if self._utf8 is None:
            self._utf8 = Utf8()
        return self._feed_pieces(self._utf8.feed(chunk))

    def finish(self, reason: str | None = None) -> list[Event]:
        """The events of the end: nothing stays held, and `Stop` tells why the output ended.

        `reason` is what the engine says (``stop``, ``length``, ...), ``None`` if that is not known. A call that lacks
        only its closer is complete if the model itself stopped, and incomplete otherwise.
        """
        events = self._feed_pieces(self._utf8.finish()) if self._utf8 is not None else []
        self._reason = reason
        if self._detection is not None and not self._machine.finished:
            events += self._decide(self._detection, self._detection.finish())
        machine = self._machine
        last = clamped(machine.finish(reason))
        events += [*self._opened, *last]
        self._opened = ()
        if not machine.stopped:
            if machine.completed and reason != "length":
                reason = "tool_calls"
            events.append(Stop(reason, None, machine.position, machine.position))
        return lowered_events(events) if self._tongue is not None else events

    def copy(self) -> Parser:
        """An independent parser in the same state, to try several continuations."""
        other = Parser.__new__(Parser)
        other.dialect, other._machine = self.dialect, self._machine.copy()
        other._opened = self._opened
        other._utf8 = self._utf8.copy() if self._utf8 is not None else None
        other._detection = None
        other._tongue = self._tongue
        if self._tongue is not None:
            other._again, other._ids = self._again, self._ids.copy()
            other._cut, other._unsettled = self._cut, self._unsettled
        if self._detection is not None:
            other._begin, other._given, other._detection = self._begin, self._given, self._detection.copy()
        other._bind()
        return other

    def accepts(self) -> frozenset[str]:
        """What may come next, as terminals of the dialect's EBNF."""
        return self._machine.accepts() if self._detection is None else self._detection.accepts()

    @property
    def stopped(self) -> bool:
        """Whether a stop marker was read: what an engine still generates is not part of the output."""
        return self._machine.stopped

    @property
    def held(self) -> int:
        """Characters that wait to be decided; never more than `hold_bound`."""
        return self._machine.held if self._detection is None else len(self._detection.text) - self._given

    @property
    def hold_bound(self) -> int:
        """Characters that this dialect's parser holds back at most."""
        if self._detection is not None:
            return self._detection.hold_bound
        return self._machine.program.report.require_streamable()

    @property
    def position(self) -> int:
        """Characters fed so far."""
        return self._machine.position if self._detection is None else len(self._detection.text) - self._given

    def _open(self, dialect: Dialect) -> None:
        """Begin to read in a dialect."""
        begun = self._begin(dialect)
        self._machine = begun.machine
        if self._tongue is None:
            self.dialect = dialect
        self._opened = begun.opened
        self._bind()

    def _decide(self, detection: Detection, answer: Answer) -> list[Event]:
        """Read in the dialect that the output has told, from its beginning."""
        self._detection = None
        self._open(answer.dialect)
        return self.feed(detection.text[self._given :])

    def _feed_undecided(self, chunk: str) -> list[Event]:
        """Hold what comes until it tells its dialect."""
        assert self._detection is not None
        answer = self._detection.feed(chunk)
        return [] if answer is None else self._decide(self._detection, answer)

    def _bind(self) -> None:
        """Let `feed` be the machine's own as soon as it can, since one more call a chunk would be a quarter of its
        cost.
        """
        self._plain: Mapping[int, str] = NO_TOKENS
        if self._detection is not None:
            self.feed = self._feed_undecided
            return
        past = not self._opened and is_past(self._machine)
        self.feed = self._machine.feed if past else self._feed_early
        if past and self._tongue is not None and not self._cut:
            self._plain = self._tongue.table.plain

    def _feed_early(self, chunk: str) -> list[Event]:
        """The same while events may still begin in the prefill."""
        events = clamped(self._machine.feed(chunk))
        if not chunk:
            return events
        events[:0] = self._opened
        self._opened = ()
        self._bind()
        return events

    def _speak(self, tokenizer: Tokenizer) -> Dialect:
        """Read the tokens of a tokenizer; the dialect as its grammar has it then."""
        if self.dialect.name == AUTO:
            from ..recognise import by_tokens

            self.dialect = by_tokens(tokenizer.control).dialect
        self._tongue = tongue_of(self.dialect, tokenizer)
        self._ids: list[int] = []  # all that were fed
        self._cut = False  # whether a part of a character waits for the rest
        self._unsettled = False  # whether control tokens may be in what comes out next
        return self._tongue.dialect

    def _given_text(self, given: str | Sequence[int]) -> str:
        """A prompt, or a prefill, as the machine reads it."""
        if self._tongue is not None:
            return self._tongue.raise_text(given) if isinstance(given, str) else self._tongue.raise_ids(given)
        if not isinstance(given, str):
            raise NoTokenizer(self.dialect.name)
        return given

    def _feed_ids(self, ids: Sequence[int]) -> list[Event]:
        """Several tokens, one with a part of a character, or one that is not known to be ordinary text."""
        tongue = self._tongue
        if tongue is None:
            raise NoTokenizer(self.dialect.name)
        if self._machine.finished:
            raise ParserFinished
        if self._utf8 is None:
            self._utf8 = Utf8()
        pieces = tongue.text(ids, self._utf8, cut=self._cut)
        self._ids += ids
        if self._cut is not self._utf8.holds:
            self._cut = self._utf8.holds
            self._bind()
        return self._settled(self._feed_pieces(pieces), "".join([piece for piece in pieces if isinstance(piece, str)]))

    def _settled(self, events: list[Event], text: str) -> list[Event]:
        """The events of this text, spelled out."""
        if not self._unsettled and (text.isascii() or has_raised(text) is None):
            return events
        machine = self._machine
        if len(events) == 1 and type(event := events[0]) is ArgumentsDelta and event.json.isascii():
            self._unsettled = True
            return events  # the call that is open may still turn out to be malformed, from its opener on
        self._unsettled = bool(machine.choices or machine.call or machine.held)
        return lowered_events(events)

    def _feed_pieces(self, pieces: list[str | bytes]) -> list[Event]:
        events: list[Event] = []
        for piece in pieces:
            if isinstance(piece, str):
                events += self.feed(piece)
            else:
                here = self.position
                detail = "not UTF-8: read as U+FFFD"
                events.append(Problem(ProblemKind.INVALID_UTF8, piece.hex(), detail, here, here))
        return events


def toolbox(tools: Tools | None) -> Toolbox:
    """The shapes of tools, compiled once for equal tools; raises `InvalidTool`."""
    if tools is None:
        return NO_TOOLS
    try:
        key = msgspec.json.encode(tools)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidTool("tools", "values that JSON can write", str(error)) from None
    found = _toolboxes.get(key)
    if found is None:
        found = Toolbox.of([tool if isinstance(tool, Tool) else Tool.from_openai(_checked(tool)) for tool in tools])
        found = keep(_toolboxes, key, found, TOOLBOX_LIMIT)
    return found


def _checked(tool: object) -> Mapping[str, object]:
    if not isinstance(tool, Mapping):
        raise InvalidTool("tool", "a Tool or an object as in OpenAI's API", tool)
    return tool


def parse_events(
    text: str,
    dialect: str | Dialect,
    tools: Tools | None = None,
    *,
    start: str = START,
    prefill: str = "",
    prompt: str | None = None,
    policy: Policy = DEFAULT_POLICY,
    reason: str | None = None,
) -> list[Event]:
    """All events of a whole output, neighbouring deltas joined."""
    parser = Parser(dialect, tools, start=start, prefill=prefill, prompt=prompt, policy=policy)
    return merge(parser.feed(text) + parser.finish(reason))


def parse(
    text: str,
    dialect: str | Dialect,
    tools: Tools | None = None,
    *,
    start: str = START,
    prefill: str = "",
    prompt: str | None = None,
    policy: Policy = DEFAULT_POLICY,
    reason: str | None = None,
) -> Message:
    """The assistant's message that a whole output is."""
    return assemble(
        parse_events(text, dialect, tools, start=start, prefill=prefill, prompt=prompt, policy=policy, reason=reason)
    )


async def aparse(
    chunks: AsyncIterable[str],
    dialect: str | Dialect,
    tools: Tools | None = None,
    *,
    start: str = START,
    prefill: str = "",
    prompt: str | None = None,
    policy: Policy = DEFAULT_POLICY,
    reason: str | None = None,
) -> AsyncIterator[Event]:
    """The events of a stream, as they are decided."""
    parser = Parser(dialect, tools, start=start, prefill=prefill, prompt=prompt, policy=policy)
    async for chunk in chunks:
        for event in parser.feed(chunk):
            yield event
    for event in parser.finish(reason):
        yield event
