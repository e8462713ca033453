"""The kit that proves a dialect: every promise of the contract, tried on its examples and on messages made up.

`check_dialect` needs nothing but the dialect. It makes messages that the dialect can express, writes them, cuts them
short, moves their markers about, chunks them in every way, and checks what the parser says each time. The single
promises are functions too, so that a test-suite can run them over inputs of its own: each takes a `Trial` and
raises `Broken`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from json import loads
from random import Random
from typing import TypeVar

from msgspec import Struct, structs

from .dialect import START, Dialect, Example
from .errors import Inexpressible, InvalidPrompt
from .events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Malformed,
    Markup,
    Problem,
    ProblemKind,
    ReasoningDelta,
    Stop,
    merge,
)
from .grammar.nodes import Grammar, Literal
from .grammar.raised import has_raised
from .made_up import made_up_message, mutations
from .parse.assemble import assemble
from .parse.parser import Parser, parse_events
from .registry import AUTO
from .tokenizers import control_pattern
from .tokenizers.bytes import ByteTokenizer
from .types import Message, Tool

__all__ = [
    "PROMISES",
    "Broken",
    "Report",
    "Result",
    "Trial",
    "check_dialect",
    "chunkings",
    "made_up_message",
    "made_up_trial",
    "markers",
    "mutations",
    "read",
    "require_same",
    "require_same_bytes",
    "trials",
]


class Broken(AssertionError):
    """A promise that did not hold, with the input that shows it."""


class Trial(Struct, frozen=True):
    """One input for a dialect; `message` is what it must be read as, where that is known."""

    dialect: Dialect
    text: str
    tools: tuple[Tool, ...] = ()
    start: str = START
    reason: str | None = None
    message: Message | None = None
    prefill: str = ""

    def parser(self) -> Parser:
        """A new parser for it."""
        return Parser(self.dialect, self.tools, start=self.start, prefill=self.prefill)

    def fail(self, what: str) -> Broken:
        """The exception to raise."""
        where = f"start {self.start!r}" + (f", prefill {self.prefill!r}" if self.prefill else "")
        return Broken(f"{what}\n  dialect {self.dialect.name}, {where}, input {self.text!r}")


class Result(Struct, frozen=True):
    """How one promise or scenario fared: ``passed`` or ``failed``, with the counter-example and the number of inputs.

    Scenarios of the suite may also be ``known`` to fail, or be what a dialect ``lacks``; the detail says why.
    """

    name: str
    status: str
    detail: str
    cases: int


class Report(Struct, frozen=True):
    """How a dialect fared."""

    dialect: str
    results: tuple[Result, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(result.status != "failed" for result in self.results)


# Cutting


def chunkings(text: str, random: Random, marks: Sequence[str] = ()) -> Iterator[list[str]]:
    """Ways to cut a text: whole, per character, in halves inside each marker, and at random."""
    yield [text]
    yield list(text)
    for mark in marks:
        at = text.find(mark)
        if at >= 0:
            middle = at + len(mark) // 2
            yield [text[:middle], text[middle:]]
    for size in (2, 5, 23):
        cuts = []
        at = 0
        while at < len(text):
            step = random.randint(0, size)
            cuts.append(text[at : at + step])
            at += step
        yield cuts


def read(trial: Trial, chunks: Sequence[str]) -> list[Event]:
    """The events of an input that comes in these chunks, deltas joined."""
    parser = trial.parser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return merge(events + parser.finish(trial.reason))


def require_same(trial: Trial, chunks: Sequence[str], expected: Sequence[Event]) -> None:
    """Raises `Broken` if the input, cut so, gives other events."""
    found = read(trial, chunks)
    if found != expected:
        raise trial.fail(f"cut as {list(chunks)} it gives\n  {_difference(expected, found)}")


def require_same_bytes(trial: Trial, expected: Sequence[Event]) -> None:
    """Raises `Broken` if the input, fed byte by byte, gives other events."""
    parser = trial.parser()
    events = [event for byte in trial.text.encode() for event in parser.feed_bytes(bytes([byte]))]
    if merge(events + parser.finish(trial.reason)) != expected:
        raise trial.fail("fed byte by byte it gives other events")


# The promises


def total(trial: Trial, random: Random) -> None:
    """Any input gives events, and a stop."""
    events = read(trial, [trial.text])
    if sum(isinstance(event, Stop) for event in events) != 1:
        raise trial.fail("not exactly one Stop")


def lossless(trial: Trial, random: Random) -> None:
    """The spans tile the input, and text is where its span says."""
    events = read(trial, [trial.text])
    at = 0
    for event in sorted((event for event in events if event.end > event.start), key=lambda event: event.start):
        if event.start != at:
            raise trial.fail(f"the spans leave a gap or overlap at {at}: {event}")
        at = event.end
        match event:
            case ReasoningDelta() | ContentDelta() | Markup() | Malformed():
                if event.text != trial.text[event.start : event.end]:
                    raise trial.fail(f"not the input's own text: {event}")
            case _:
                pass
    if at != len(trial.text):
        raise trial.fail(f"the spans end at {at}")


def chunk_invariant(trial: Trial, random: Random) -> None:
    """Every way to cut the input gives the same events, also inside a UTF-8 character."""
    expected = read(trial, [trial.text])
    for chunks in chunkings(trial.text, random, trial.dialect.marks):
        require_same(trial, chunks, expected)
    if not trial.text.isascii() and _encodable(trial.text):
        require_same_bytes(trial, expected)


def monotone(trial: Trial, random: Random) -> None:
    """What is published for a prefix depends on the prefix alone, and is never contradicted later."""
    cut = random.randint(0, len(trial.text))
    prefix, rest = trial.text[:cut], trial.text[cut:]
    whole, single = trial.parser(), trial.parser()
    early = whole.feed(prefix)
    if merge(early) != merge(event for char in prefix for event in single.feed(char)):
        raise trial.fail(f"the prefix {prefix!r} gives other events per character")
    before = repr(early)
    late = whole.feed(rest) + whole.finish(trial.reason)
    if merge(early + late) != read(trial, [trial.text]) or repr(early) != before:
        raise trial.fail(f"what came for {prefix!r} was taken back")


def bounded(trial: Trial, random: Random) -> None:
    """What is held never exceeds the dialect's bound, and a copy goes on as the original does."""
    parser = trial.parser()
    bound = parser.hold_bound
    cut = random.randint(0, len(trial.text))
    for k, char in enumerate(trial.text):
        if k == cut:
            parser, original = parser.copy(), parser
            original.feed("\0" + trial.text[:7])  # what is done to one must not show in the other
        parser.feed(char)
        if parser.held > bound:
            raise trial.fail(f"{parser.held} characters are held at {k}, more than {bound}")
    parser.finish(trial.reason)
    if parser.held:
        raise trial.fail("something is still held after the end")


def batch_is_stream(trial: Trial, random: Random) -> None:
    """Parsing the whole is feeding it."""
    start, reason = trial.start, trial.reason
    whole = parse_events(trial.text, trial.dialect, trial.tools, start=start, prefill=trial.prefill, reason=reason)
    if whole != read(trial, list(trial.text)):
        raise trial.fail("parse_events gives other events than the stream")


def two_way(trial: Trial, random: Random) -> None:
    """A message that the dialect writes is read as the same message, with and without its stop marker."""
    if trial.message is None:
        return
    stops = ("", *trial.dialect.stops)
    for stop in stops:
        marked = Trial(trial.dialect, trial.text + stop, trial.tools, trial.start, "stop")
        found = assemble(read(marked, [marked.text]))
        if found != trial.message:
            raise marked.fail(f"read as\n  {found}\n  not\n  {trial.message}")


def one_source(trial: Trial, random: Random) -> None:
    """What the dialect writes, its own grammar reads without a problem."""
    if trial.message is None:
        return
    written = Trial(trial.dialect, trial.text, trial.tools, trial.start, "stop")
    for event in read(written, [trial.text]):
        problems = (event,) if isinstance(event, Problem) else event.problems if isinstance(event, CallEnd) else ()
        if isinstance(event, Malformed) or problems:
            raise written.fail(f"what the dialect writes has a problem: {event}")


def continued(trial: Trial, random: Random) -> None:
    """What the prompt holds of an output is read as if the model had written it; only the rest is published."""
    cut = random.randint(0, len(trial.text))
    prefill, rest = trial.text[:cut], trial.text[cut:]
    whole = trial.parser()
    early = whole.feed(prefill)
    late = whole.feed(rest) + whole.finish(trial.reason)
    other = Trial(trial.dialect, rest, trial.tools, trial.start, trial.reason, prefill=trial.prefill + prefill)
    try:
        found = read(other, [rest])
    except InvalidPrompt:
        if any(isinstance(event, Stop) for event in early):
            return  # nothing is left to go on with
        raise
    closed = sum(isinstance(event, CallEnd) for event in early)
    if _texts(found, 0) != _texts(late, cut) or _calls(found) != _calls(early + late)[closed:]:
        raise other.fail(f"read as\n  {found}\n  not as the end of\n  {merge(early + late)}")


def _texts(events: Sequence[Event], since: int) -> list[tuple[type, str, int]]:
    """All text behind a position, as what it is read, and where it ends."""
    return [
        (type(event), event.text[max(0, since - event.start) :], event.end - since)
        for event in merge(events)
        if isinstance(event, ReasoningDelta | ContentDelta | Markup | Malformed) and event.end > since
    ]


def _calls(events: Sequence[Event]) -> list[tuple[str, str, CallEnd]]:
    """Every call with its name and arguments, in order, wherever it stands."""
    names = [event.name for event in events if isinstance(event, CallBegin)]
    arguments = [""] * len(names)
    for event in events:
        if isinstance(event, ArgumentsDelta):
            arguments[event.index] += event.json
    ends = [event for event in events if isinstance(event, CallEnd)]
    bare = [structs.replace(end, index=0, problems=(), start=0, end=0) for end in ends]
    return list(zip(names, arguments, bare, strict=True))


def honest(trial: Trial, random: Random) -> None:
    """A complete call's arguments are JSON, unless it says otherwise; an incomplete one is never complete later."""
    arguments: dict[int, str] = {}
    for event in read(trial, [trial.text]):
        if isinstance(event, ArgumentsDelta):
            arguments[event.index] = arguments.get(event.index, "") + event.json
        elif isinstance(event, CallEnd) and event.status is CallStatus.COMPLETE:
            if any(problem.kind is ProblemKind.RAW_ARGUMENTS for problem in event.problems):
                continue
            try:
                loads(arguments.pop(event.index))
            except ValueError as error:
                raise trial.fail(f"a complete call has arguments that are no JSON: {error}") from None


def ordered(trial: Trial, random: Random) -> None:
    """Events come in the order of the input, but for arguments that waited for their call's name (in vain, even)."""
    at = 0
    for event in read(trial, [trial.text]):
        if isinstance(event, (ArgumentsDelta, Malformed)):
            continue
        if event.start < at:
            raise trial.fail(f"out of order: {event}")
        at = event.start


SELDOM = 0.2
"""How often is tried what costs as much as all the rest."""


def token_aware(trial: Trial, random: Random) -> None:
    """Token ids, of which markers are control tokens, are read alike however they come; spelled out, they are text."""
    if trial.dialect.name == AUTO or not _encodable(trial.text):  # the tokens themselves tell the dialect
        return
    vocabulary, find = _vocabulary((*trial.dialect.marks, *trial.dialect.stops))
    ids = [
        token
        for k, piece in enumerate(find.split(trial.text))
        for token in ([vocabulary.control[piece]] if k % 2 else vocabulary.encode(piece))
    ]
    whole, single = (
        Parser(trial.dialect, trial.tools, start=trial.start, prefill=trial.prefill, tokenizer=vocabulary)
        for _ in range(2)
    )
    expected = merge(whole.feed_tokens(ids) + whole.finish(trial.reason))
    found: list[Event] = []
    for at in range(0, len(ids), size := random.choice((1, 1, 2, 9))):
        found += single.feed_tokens(ids[at : at + size])
        single = single if at % 16 else single.copy()
    if merge(found + single.finish(trial.reason)) != expected:
        raise trial.fail("its tokens, one after the other, give other events than all at once")
    written = "".join(event.text for event in expected if isinstance(event, Markup | ContentDelta | ReasoningDelta))
    if random.random() > SELDOM and not has_raised(written):
        return
    if has_raised(written) or len(single.token_labels()) != len(ids):
        raise trial.fail("the events of its tokens are not spelled out, or some tokens have no label")
    spelled = Parser(trial.dialect, trial.tools, tokenizer=vocabulary)
    for event in spelled.feed_tokens(vocabulary.encode(trial.text)):
        if isinstance(event, Stop) and event.marker in vocabulary.control:
            raise trial.fail(f"{event.marker!r} in ordinary tokens stops it")


@lru_cache(maxsize=256)
def _vocabulary(markers: tuple[str, ...]) -> tuple[ByteTokenizer, re.Pattern[str]]:
    """A vocabulary in which these markers are control tokens, and what finds them in text."""
    vocabulary = ByteTokenizer(markers)
    return vocabulary, re.compile(f"({control_pattern(vocabulary).pattern})")


Promise = Callable[[Trial, Random], None]

PROMISES: dict[str, Promise] = {
    "total": total,
    "lossless": lossless,
    "chunk-invariant": chunk_invariant,
    "monotone": monotone,
    "bounded": bounded,
    "batch = stream": batch_is_stream,
    "two-way": two_way,
    "one source": one_source,
    "continued": continued,
    "honest": honest,
    "ordered": ordered,
    "token-aware": token_aware,
}
"""The promises by name; what constrains decoding has a place of its own."""


# Made-up input


def markers(dialect: Dialect) -> tuple[str, ...]:
    """Every literal of the dialect's grammar that looks like a marker."""
    return tuple(sorted(_words(dialect.grammar) | set(dialect.stops)))


@lru_cache(maxsize=256)
def _words(grammar: Grammar) -> frozenset[str]:
    return frozenset(node.text for node in grammar.walk() if isinstance(node, Literal) and len(node.text) > 2)


PREFIXES = 60
"""About as many beginnings of each example are tried; at random, so that in the end it is all of them."""


def trials(dialect: Dialect, random: Random, count: int) -> Iterator[Trial]:
    """The examples, beginnings of them, messages made up, and mutations of all of them."""
    marks = markers(dialect)
    for example in dialect.examples:
        whole = Trial(dialect, example.text, example.tools, example.start, example.reason)
        yield whole
        step = 1 + len(example.text) // PREFIXES
        for cut in range(random.randrange(step), len(example.text), step):
            yield Trial(dialect, example.text[:cut], example.tools, example.start)
        for text in mutations(example.text, marks, random):
            yield Trial(dialect, text, example.tools, example.start, random.choice((None, "stop", "length")))
    for _ in range(count):
        trial = made_up_trial(dialect, random)
        yield trial
        cut = random.randint(0, len(trial.text))
        yield Trial(dialect, trial.text[cut:], trial.tools, prefill=trial.text[:cut])
        mutated = random.choice(list(mutations(trial.text, marks, random)))
        yield Trial(dialect, mutated, trial.tools, random.choice(dialect.starts))


def made_up_trial(dialect: Dialect, random: Random) -> Trial:
    """A made-up message, as the dialect writes it; an empty one if it could express none of a hundred."""
    for _ in range(100):
        message, tools = made_up_message(dialect, random)
        try:
            return Trial(dialect, dialect.render(message), tools, message=message)
        except Inexpressible:
            continue
    return Trial(dialect, "")


def _check_example(dialect: Dialect, example: Example) -> None:
    trial = Trial(dialect, example.text, example.tools, example.start, example.reason)
    found = assemble(read(trial, [trial.text]))
    if found != example.message:
        raise trial.fail(f"read as\n  {found}\n  not\n  {example.message}")


def check_dialect(
    dialect: Dialect, *, max_examples: int = 60, seed: int = 0, progress: Callable[[float], None] | None = None
) -> Report:
    """Prove a dialect: its examples, then every promise over `max_examples` made-up messages and what comes of them.

    `progress` is called with the share that is done. Raises nothing that the dialect's author could have caused but
    `GrammarError`, for a grammar that can't be run or streamed.
    """
    random = Random(seed)
    dialect.program().report.require_streamable()
    results = [_proved("examples", partial(_check_example, dialect), dialect.examples)]
    inputs: list[Trial] = []
    try:
        inputs.extend(trials(dialect, random, max_examples))
    except Exception as error:  # the author's writer, whatever it did
        results.append(Result("renders", "failed", f"{type(error).__name__}: {error}", len(inputs)))
    for k, (name, promise) in enumerate(PROMISES.items()):
        results.append(_proved(name, _with(promise, random), inputs))
        if progress is not None:
            progress((k + 1) / len(PROMISES))
    wrote = any(trial.message is not None for trial in inputs)
    if not wrote and all(result.name != "renders" for result in results):
        results.append(Result("renders", "failed", "not one made-up message could be written", 0))
    return Report(dialect.name, tuple(results))


def _with(promise: Promise, random: Random) -> Callable[[Trial], None]:
    return lambda trial: promise(trial, random)


_Input = TypeVar("_Input")


def _proved(name: str, promise: Callable[[_Input], None], inputs: Sequence[_Input]) -> Result:
    for k, value in enumerate(inputs):
        try:
            promise(value)
        except Broken as broken:
            return Result(name, "failed", str(broken), k + 1)
        except Exception as error:  # the promise "total" is broken, whichever was being tried
            text = value.text if isinstance(value, (Trial, Example)) else ""
            return Result(name, "failed", f"{type(error).__name__}: {error}\n  input {text!r}", k + 1)
    return Result(name, "passed", "", len(inputs))


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _difference(expected: Sequence[Event], found: Sequence[Event]) -> str:
    for k, (a, b) in enumerate(zip(expected, found, strict=False)):
        if a != b:
            return f"event {k}: {b}\n  not {a}"
    return f"{len(found)} events, not {len(expected)}"
