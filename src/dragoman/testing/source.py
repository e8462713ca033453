"""The promise of one source: what a dialect writes, its parser and its constraint take; what that takes, it reads."""

from __future__ import annotations

from random import Random

from ..constrain.constraint import Constraint, constrain
from ..emit.generate import Generator
from ..emit.guarantees import Effect
from ..emit.matcher import Matcher
from ..events import CallEnd, Event, Malformed, Problem
from .trial import SELDOM, Trial, read

__all__ = ["one_source"]

HARMLESS = frozenset({"additionalProperties"})
"""Narrowed without a loss for what declares all its members, as made-up tools do."""


def one_source(trial: Trial, random: Random) -> None:
    """What the dialect writes, its own grammar reads and its constraint accepts; what that accepts, it reads too."""
    if trial.message is None:
        return
    written = Trial(trial.dialect, trial.text, trial.tools, trial.start, "stop")
    _require_clean(written, "what the dialect writes")
    if random.random() > SELDOM:
        return
    constraint = constrain(trial.dialect, trial.tools)
    matcher = Matcher(constraint.rules)
    if not matcher.matches(trial.text) and not _narrowed(constraint):
        raise written.fail(f"its constraint refuses what the dialect writes, {matcher.fault(trial.text)}")
    sentence = Generator(constraint.rules).sentence(random.randrange)
    _require_clean(Trial(trial.dialect, sentence, trial.tools, trial.start, "stop"), "what its constraint accepts")


def _require_clean(trial: Trial, what: str) -> None:
    """Raises `Broken` if anything in the input is a problem."""
    for event in read(trial, [trial.text]):
        if isinstance(event, Malformed) or _problems(event):
            raise trial.fail(f"{what} has a problem: {event}")


def _problems(event: Event) -> tuple[object, ...]:
    match event:
        case Problem():
            return (event,)
        case CallEnd():
            return event.problems
        case _:
            return ()


def _narrowed(constraint: Constraint) -> bool:
    """Whether the constraint says that it refuses some of what could be written."""
    return any(note.effect is Effect.NARROWED and note.what not in HARMLESS for note in constraint.guarantees.notes)
