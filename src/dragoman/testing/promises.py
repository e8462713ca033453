"""The promises of the contract about reading and writing, each as a function that a trial is put to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from json import loads
from random import Random
from typing import TypeAlias

from msgspec import structs

from ..errors import InvalidPrompt
from ..events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    CallStatus,
    ContentDelta,
    Event,
    Malformed,
    Markup,
    ProblemKind,
    ReasoningDelta,
    Stop,
    merge,
)
from ..parse.assemble import assemble
from ..parse.parser import parse_events
from .source import one_source
from .tokens import token_aware
from .trial import Trial, chunkings, encodable, read, require_same, require_same_bytes

__all__ = ["PROMISES", "Promise"]


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
    if not trial.text.isascii() and encodable(trial.text):
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


Promise: TypeAlias = Callable[[Trial, Random], None]

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
"""The promises by name."""
