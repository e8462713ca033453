"""Where the model begins: the part of its turn that stands in the prompt already.

Behind the last beginning of the assistant's turn, a prompt may hold the beginning of the output: ``<think>`` and a
newline, a whole empty thought, the head of a call, a sentence to go on with. This is the *prefill*. A parser reads
it before the first character of the model's, by the same grammar, so every state in which a model can start follows
from what the dialect says anyway. The prefill's characters have positions below 0, and only those from 0 on are
reported. `prefill_in` finds it in a prompt; plain string work, which knows no template language.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from msgspec import Struct, structs

from ..dialect import START, Dialect, Policy
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
    Problem,
    ReasoningDelta,
    Stop,
    TagDelta,
)
from ..grammar.machine import Machine
from ..grammar.schema import Toolbox

__all__ = ["PREFILL_LIMIT", "Begun", "begin", "clamped", "generation_prefill", "is_past", "prefill_in"]

PREFILL_LIMIT = 1 << 20
"""Characters of a prefill, and of a prompt's end in which it is looked for: more than any model's answer."""

SHOWN = 40
"""Characters of a prompt's end that an error shows."""


def prefill_in(prompt: str, dialect: Dialect) -> str:
    """What stands behind the last beginning of the assistant's turn in a rendered prompt.

    Linear in the last `PREFILL_LIMIT` characters; raises `InvalidPrompt` where no turn of the assistant is open.
    """
    if not dialect.turns:
        expected = "the beginning of the assistant's turn"
        raise _invalid(dialect, expected, "a dialect that does not say how it looks", "give prefill= or start= instead")
    begin, end = _last_turn(prompt, dialect)
    if begin < 0:
        where = "the prompt" if len(prompt) <= PREFILL_LIMIT else f"the prompt's last {PREFILL_LIMIT} characters"
        expected = f"{_either(dialect.turns)} in {where}"
        found = f"an end like {prompt[-SHOWN:]!r}"
        fix = "render it with its generation prompt, or give prefill= or start= instead"
        raise _invalid(dialect, expected, found, fix)
    prefill = prompt[end:]
    for other in dialect.others:
        if other in prefill:
            raise _ended(dialect, other)
    return prefill


def generation_prefill(prompt: str, without: str, dialect: Dialect) -> str:
    """The prefill that a chat template adds: `prompt` is rendered with its generation prompt, `without` without it.

    What the conversation holds can then not be mistaken for the template's. Where the template adds no beginning of
    a turn, since one stands there already, it is looked for in the whole prompt. Raises `InvalidPrompt`.
    """
    if not prompt.startswith(without):
        expected = "a prompt that begins as it does without its generation prompt"
        raise _invalid(dialect, expected, "another beginning", "render the same messages twice, or give prompt=")
    added = prompt[len(without) :]
    return prefill_in(added if any(turn in added for turn in dialect.turns) else prompt, dialect)


def _last_turn(prompt: str, dialect: Dialect) -> tuple[int, int]:
    """Where the last beginning of the assistant's turn stands, the longest of those that begin there."""
    begin = end = -1
    low = max(0, len(prompt) - PREFILL_LIMIT - max(map(len, dialect.turns)))
    for turn in dialect.turns:
        at = prompt.rfind(turn, max(low, begin))
        if at >= 0 and (at, at + len(turn)) > (begin, end):
            begin, end = at, at + len(turn)
    return begin, end


def _either(texts: Iterable[str]) -> str:
    return " or ".join(map(repr, texts))


def _invalid(dialect: Dialect, expected: str, found: str, fix: str) -> InvalidPrompt:
    return InvalidPrompt(dialect.name, expected, found, fix)


def _ended(dialect: Dialect, marker: str) -> InvalidPrompt:
    expected = "a turn of the assistant that is still open"
    return _invalid(dialect, expected, f"its end, {marker!r}", "let the prompt end where the model goes on")


# Reading it


class Begun(Struct, frozen=True):
    """A machine that has read a prefill, and the events of the call that is open there."""

    machine: Machine
    opened: tuple[Event, ...]


def begin(dialect: Dialect, start: str, tools: Toolbox, policy: Policy, prefill: str, prompt: str | None) -> Begun:
    """A machine that stands behind the prefill; raises `InvalidPrompt`, or `InvalidStart`."""
    if prompt is not None:
        if prefill or start != START:
            found = "a prompt and " + ("a prefill" if prefill else "a start state")
            raise _invalid(dialect, "one way to say where the model begins", found, "give one of them")
        prefill = prefill_in(prompt, dialect)
    if len(prefill) > PREFILL_LIMIT:
        expected = f"a prefill of at most {PREFILL_LIMIT} characters"
        raise _invalid(dialect, expected, f"{len(prefill)}", "give the end of the prompt only")
    machine = dialect.machine(start, tools, policy, base=-len(prefill))
    events = machine.feed(prefill)
    ended = [event for event in events if isinstance(event, CallEnd)]
    if ended:  # their numbers are below 0 too
        machine = dialect.machine(start, tools, policy, base=-len(prefill), calls=-len(ended))
        events = machine.feed(prefill)
    if machine.stopped:
        raise _ended(dialect, next(event.marker or "" for event in events if isinstance(event, Stop)))
    machine.completed -= sum(event.status is CallStatus.COMPLETE for event in ended)
    return Begun(machine, _opened(events))


def _opened(events: Iterable[Event]) -> tuple[Event, ...]:
    """The beginning of the call that is open at the end, and its arguments so far."""
    opened: CallBegin | None = None
    pieces: list[str] = []
    for event in events:
        match event:
            case CallBegin():
                opened, pieces = event, []
            case ArgumentsDelta():
                pieces.append(event.json)
            case CallEnd():
                opened = None
            case _:
                pass
    if opened is None:
        return ()
    begun = structs.replace(opened, start=0, end=0)
    arguments = "".join(pieces)
    return (begun, ArgumentsDelta(opened.index, arguments, 0, 0)) if arguments else (begun,)


def is_past(machine: Machine) -> bool:
    """Whether no event can begin below 0 any more."""
    calls = [machine.call, *(choice.call for choice in machine.choices)]
    return machine.base >= 0 and all(call is None or call.start >= 0 for call in calls)


def clamped(events: Iterable[Event], at: int = 0) -> list[Event]:
    """The events without what belongs to the prefill, which ends `at`: its text, and problems with its text."""
    return [event for event in (_clamped(event, at) for event in events) if event is not None]


def _clamped(event: Event, at: int) -> Event | None:
    if isinstance(event, CallEnd) and any(problem.start < at for problem in event.problems):
        event = structs.replace(event, problems=tuple(_moved(problem, at) for problem in event.problems))
    if event.start >= at:
        return event
    match event:
        case ReasoningDelta() | ContentDelta() | Markup() | Malformed() | TagDelta():
            return structs.replace(event, text=event.text[at - event.start :], start=at) if event.end > at else None
        case Problem() if event.start < event.end <= at:
            return None
        case _:
            return _moved(event, at)


_Any = TypeVar("_Any", bound=Event)


def _moved(event: _Any, at: int) -> _Any:
    """The event, put there as far as it lies before."""
    return structs.replace(event, start=max(at, event.start), end=max(at, event.end))
