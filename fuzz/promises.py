"""Judges a case: which promise does the parser break on it, if any?

Every judge takes what the parser said and yields what is wrong with it; `judge` runs the parser in all the ways
that must come to the same, and gives the first failure.
"""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from zlib import crc32

from msgspec import Struct

from dragoman.dialect import Dialect
from dragoman.events import (
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
from dragoman.grammar.nodes import Value
from dragoman.parse.assemble import assemble
from dragoman.registry import get_dialect

from .case import Broken, Case, cut, feed_all

__all__ = ["judge", "judged"]

UNREADABLE = frozenset([ProblemKind.RAW_ARGUMENTS])
"""Calls with one of these problems need not have arguments that are JSON."""

TRANSCODED = frozenset([ProblemKind.RAW_ARGUMENTS, ProblemKind.ARGUMENTS_AS_STRING])


class Slow(Struct, frozen=True):
    """What the parser said character by character, and how much of it after each."""

    events: list[Event]
    counts: list[int]

    def upto(self, position: int) -> list[Event]:
        """What it had said after so many characters."""
        return merge(self.events[: self.counts[position]])


def judged(check: Callable[[], Broken | None]) -> Broken | None:
    """What a check finds; an exception is a finding too."""
    try:
        return check()
    except RecursionError:
        return Broken("total", "RecursionError", "RecursionError")
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "dragoman" in frame.filename] or list(frames)
        where = f"{Path(ours[-1].filename).name}:{ours[-1].name}"
        return Broken("total", f"{type(error).__name__} in {where}", f"{error!r} at {where}:{ours[-1].lineno}")


def judge(case: Case) -> Broken | None:
    """The first promise that this case breaks."""
    return judged(lambda: next(_failures(case), None))


def _failures(case: Case) -> Iterator[Broken]:
    random = Random(crc32(case.text.encode("utf-8", "surrogatepass")))
    slow, over = _character_by_character(case)
    if over is not None:
        yield over
    yield from _tiled(case, slow.events)
    yield from _copied(case, slow.events)
    yield from _paired(slow.events)
    yield from _readable(case, slow.events)
    assemble(slow.events)
    merged = merge(slow.events)
    whole = merge(feed_all(case.parser(), [case.text], case.reason))
    yield from _same(whole, merged, "chunk-invariant", "whole / per character")
    for size in (2, 3, 7, 0, 0):
        yield from _chunked(case, slow, merged, random, size)
    yield from _branched(case, merged, random)


def _character_by_character(case: Case) -> tuple[Slow, Broken | None]:
    parser, events, counts, over = case.parser(), list[Event](), [0], None
    bound = parser.hold_bound
    for k, character in enumerate(case.text):
        events += parser.feed(character)
        counts.append(len(events))
        if over is None and parser.held > bound:
            over = Broken("bounded", "held", f"{parser.held} characters held after {k + 1}, the bound is {bound}")
        if parser.position != k + 1:
            over = Broken("lossless", "position", f"position is {parser.position} after {k + 1} characters")
    return Slow(events + parser.finish(case.reason), counts), over


def _chunked(case: Case, slow: Slow, merged: list[Event], random: Random, size: int) -> Iterator[Broken]:
    """Fed in pieces of this size, or of any size if it is 0."""
    length = len(case.text)
    ends = list(range(size, length, size)) if size else sorted(random.choices(range(length + 1), k=random.randrange(6)))
    watched = set(random.sample(ends, min(5, len(ends))))
    parser, events, at = case.parser(), list[Event](), 0
    bound = parser.hold_bound
    for chunk in cut(case.text, ends):
        events += parser.feed(chunk)
        at += len(chunk)
        if parser.held > bound:
            yield Broken("bounded", "held", f"{parser.held} characters held at {at}, the bound is {bound}")
        if at in watched:
            yield from _same(merge(events), slow.upto(at), "monotone", f"after {at} characters, cut at {ends}")
    events += parser.finish(case.reason)
    yield from _same(merge(events), merged, "chunk-invariant", f"cut at {ends} / per character")


def _same(ours: list[Event], theirs: list[Event], promise: str, what: str) -> Iterator[Broken]:
    if ours != theirs:
        k = next((k for k, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b), min(len(ours), len(theirs)))
        a, b = ours[k : k + 1], theirs[k : k + 1]
        sign = "/".join(type(event[0]).__name__ if event else "nothing" for event in (a, b))
        yield Broken(promise, sign, f"{what}: {a} / {b}")


def _tiled(case: Case, events: list[Event]) -> Iterator[Broken]:
    """Spans tile the input."""
    at, length = 0, len(case.text)
    for event in sorted((e for e in events if e.start != e.end), key=lambda e: (e.start, e.end)):
        if event.start != at:
            sign = "gap" if event.start > at else "overlap"
            yield Broken("lossless", sign, f"{sign} at {at}, before {event}")
        at = event.end
    if at != length:
        yield Broken("lossless", "end", f"spans end at {at} of {length}")


def _copied(case: Case, events: list[Event]) -> Iterator[Broken]:
    """Text is what stands there; events come in its order; no delta is empty.

    Arguments that wait for their call's name come late, and late as malformed text if it never comes.
    """
    last = 0
    for event in events:
        if isinstance(event, (ContentDelta, ReasoningDelta, Markup, Malformed)):
            if event.text != case.text[event.start : event.end]:
                yield Broken("lossless", f"text of {type(event).__name__}", f"{event} is not what stands there")
            if not event.text:
                yield Broken("tidy", f"empty {type(event).__name__}", str(event))
        if not isinstance(event, (ArgumentsDelta, Malformed)):
            if event.start < last:
                yield Broken("ordered", type(event).__name__, f"{event} comes after something at {last}")
            last = max(last, event.start)
        if isinstance(event, Problem) and event.kind is not ProblemKind.INVALID_UTF8 and event.raw not in case.text:
            yield Broken("lossless", "raw of a problem", f"{event}: its characters are not in the input")


def _paired(events: list[Event]) -> Iterator[Broken]:
    """Calls begin, get arguments and end, one after the other; there is one stop."""
    opened, begun = -1, 0
    for event in events:
        match event:
            case CallBegin():
                if opened >= 0 or event.index != begun:
                    yield Broken("ordered", "begin", f"{event} while {opened} is open, after {begun} calls")
                if not event.name:
                    yield Broken("tidy", "empty name", str(event))
                opened, begun = event.index, begun + 1
            case ArgumentsDelta() | CallEnd() if event.index != opened:
                yield Broken("ordered", type(event).__name__, f"{event} while {opened} is open")
            case CallEnd():
                opened = -1
            case _:
                pass
    if opened >= 0:
        yield Broken("ordered", "never ended", f"call {opened} never ends")
    if (stops := sum(isinstance(event, Stop) for event in events)) != 1:
        yield Broken("ordered", "stops", f"{stops} stops")


def _readable(case: Case, events: list[Event]) -> Iterator[Broken]:
    """Arguments of complete calls are JSON, and what the model wrote where it wrote JSON."""
    written, spans = "", ""
    exact = not _is_markup(get_dialect(case.dialect))
    for event in events:
        match event:
            case CallBegin():
                written = spans = ""
            case ArgumentsDelta():
                written += event.json
                spans += case.text[event.start : event.end]
            case CallEnd(status=CallStatus.COMPLETE):
                kinds = {problem.kind for problem in event.problems}
                if not kinds & UNREADABLE and (error := _not_json(written)):
                    yield Broken("valid JSON", error.split(":")[0], f"{written!r}: {error}")
                if exact and spans and not kinds & TRANSCODED and written != spans:
                    yield Broken("byte-exact", "arguments", f"{written!r} for {spans!r}")
            case _:
                pass


def _is_markup(dialect: Dialect) -> bool:
    """Whether a dialect writes arguments as something else than JSON."""
    return any(isinstance(node, Value) for node in dialect.grammar.walk())


def _refuse(constant: str) -> object:
    raise ValueError(f"not a number: {constant}")


def _not_json(text: str) -> str:
    try:
        json.loads(text, parse_constant=_refuse, parse_int=len, parse_float=len)
    except (ValueError, RecursionError) as error:
        return str(error) or type(error).__name__
    return ""


def _branched(case: Case, merged: list[Event], random: Random) -> Iterator[Broken]:
    """A copy in the middle is a parser like any other: it goes on alike, and may end there."""
    at = random.randrange(len(case.text) + 1)
    parser = case.parser()
    events = parser.feed(case.text[:at])
    parser.accepts()
    other, ended = parser.copy(), parser.copy()
    rest = feed_all(other, case.text[at:], case.reason)
    yield from _same(merge(events + rest), merged, "copy", f"copied at {at}, went on")
    expected = feed_all(case.parser(), [case.text[:at]], case.reason)
    yield from _same(merge(events + ended.finish(case.reason)), merge(expected), "copy", f"copied at {at}, ended")
    rest = feed_all(parser, case.text[at:], case.reason)
    yield from _same(merge(events + rest), merged, "copy", f"went on after a copy at {at}")
