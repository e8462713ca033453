"""The answer to which dialect it is: the dialect, what tells so, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from msgspec import Struct

from ..dialect import Dialect
from ..errors import AmbiguousDialect, Unrecognised
from ..registry import dialects, near_names

__all__ = ["Answer", "Certainty", "settled"]


class Certainty(IntEnum):
    """How much an answer may be relied on; greater is surer."""

    WEAK = 1
    """Something alike: a model's name without its owner, the tokens of a tokenizer."""
    STRONG = 2
    """What only this dialect has, as far as it is known here."""
    EXACT = 3
    """A name of the dialect's own, a model that it names, a chat template known to the letter."""


class Answer(Struct, frozen=True):
    """A dialect, what tells that it is this one, and how sure that is."""

    dialect: Dialect
    evidence: str
    certainty: Certainty


def settled(what: str, answers: Iterable[Answer], tried: tuple[str, ...]) -> Answer:
    """The one answer; raises `Unrecognised` if there is none, and `AmbiguousDialect` if they disagree."""
    found = {answer.dialect.name: answer for answer in answers}
    if not found:
        raise Unrecognised(what, tried, near_names(what), tuple(dialect.name for dialect in dialects()))
    if len(found) > 1:
        raise AmbiguousDialect(what, tuple((name, found[name].evidence) for name in sorted(found)))
    (answer,) = found.values()
    return answer
