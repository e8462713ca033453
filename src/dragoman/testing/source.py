"""The promise of one source: what a dialect writes, its parser and its constraint take; what that takes, it reads."""

from __future__ import annotations

from random import Random

from ..constrain.constraint import Constraint, constrain
from ..constrain.layout import CALL, layout_of, native_call
from ..emit.generate import Generator
from ..emit.guarantees import Effect
from ..emit.matcher import Matcher
from ..events import CallEnd, Event, Malformed, Problem
from ..types import Message, TextPart, ThinkingPart
from .trial import Trial, read

__all__ = ["is_narrowed", "one_source"]

RARELY = 0.05
"""How often a constraint is made, which costs more than all the rest."""

HARMLESS = frozenset({"additionalProperties"})
"""Narrowed without a loss for what declares all its members, as made-up tools do."""


def one_source(trial: Trial, random: Random) -> None:
    """What the dialect writes, its own grammar reads and its constraint accepts; what that accepts, it reads too."""
    if trial.message is None:
        return
    written = Trial(trial.dialect, trial.text, trial.tools, trial.start, "stop")
    _require_clean(written, "what the dialect writes")
    if random.random() > RARELY:
        return
    calls = CALL in layout_of(trial.dialect).kinds
    if trial.message.tool_calls and not calls:  # its writer can write no call with an argument
        return
    tools = trial.tools if calls else ()
    constraint = constrain(trial.dialect, tools)
    matcher = Matcher(constraint.rules)
    if not matcher.matches(trial.text) and not is_narrowed(constraint, trial.message):
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


def is_narrowed(constraint: Constraint, message: Message) -> bool:
    """Whether the notes of a constraint say that it refuses such a message, though the dialect writes it."""
    narrowed = {note.what for note in constraint.guarantees.of(Effect.NARROWED)}
    return any(_loses(constraint, what, message) for what in narrowed - HARMLESS)


def _loses(constraint: Constraint, what: str, message: Message) -> bool:
    layout = constraint.layout
    firsts = {mark[0] for mark in layout.marks}
    match what:
        case "text":
            said = [part.text for part in message.parts if isinstance(part, TextPart | ThinkingPart)]
            begins = firsts.union("[{ \t\r\n")
            return any(text[0] in begins or any(word in text for word in layout.barred) for text in said)
        case "id":
            calls = message.tool_calls
            return [call.id for call in calls] != [
                native_call(layout.dialect, call.name, "{}", k).id for k, call in enumerate(calls)
            ]
        case "thought":
            later = [part.text for part in message.parts[1:] if isinstance(part, ThinkingPart)]
            return any(text[0] in firsts for text in later)
        case "string" | "minLength":  # what is written by its number, in other quotes, or not at the beginning
            return any(char in call.arguments for call in message.tool_calls for char in firsts.union("'\\&"))
        case _:
            return True
