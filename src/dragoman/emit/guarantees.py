"""What a constraint promises about the output that an engine lets through, and what it could not promise.

Parser and constraint come from one definition, so whatever passes is read without a problem. Beyond that, callers want
to know what is already certain about a call and what they still have to check: the report says both.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

__all__ = ["Effect", "Guarantees", "Note"]


class Effect(StrEnum):
    """In which way a constraint differs from what was asked for."""

    RELAXED = "relaxed"
    """More passes than was asked for: to be checked afterwards."""
    NARROWED = "narrowed"
    """Less passes than would be legal: the model is kept from writing some of it."""


class Note(Struct, frozen=True, order=True):
    """One difference: of what (a keyword of the schema or one of the guarantees), where, and why.

    `where` is a path such as ``get_weather/properties/city``, empty for the whole.
    """

    effect: Effect
    what: str
    where: str
    why: str

    def __str__(self) -> str:
        return f"{self.effect}: {self.what}{f' at {self.where}' if self.where else ''}: {self.why}"


class Guarantees(Struct, frozen=True):
    """What is certain about every call in output that was sampled to its end.

    `names`: it names one of the tools. `required`: no required argument is missing. `unique`: none is there twice.
    `types`: its arguments satisfy their schemas, but for what the notes say. `order`: arguments may stand in any order
    (else in the one of the schema). `first_occurrence`: a value ends at the first marker that could end it.
    """

    names: bool = True
    required: bool = True
    unique: bool = True
    types: bool = True
    order: bool = True
    first_occurrence: bool = True
    notes: tuple[Note, ...] = ()

    def less(self, notes: Iterable[Note]) -> Guarantees:
        """What is left with these differences on top; those of what no guarantee names are differences of types."""
        known = self.sorted((*self.notes, *notes))
        relaxed = {note.what for note in known if note.effect is Effect.RELAXED}
        ordered = not any(note.what == "order" for note in known)
        return Guarantees(
            required="required" not in relaxed,
            unique="unique" not in relaxed,
            types=not relaxed - _NO_TYPES,
            order=ordered,
            first_occurrence="first_occurrence" not in relaxed,
            notes=known,
        )

    def of(self, effect: Effect) -> tuple[Note, ...]:
        """The notes of one kind."""
        return tuple(note for note in self.notes if note.effect is effect)

    @staticmethod
    def sorted(notes: Iterable[Note]) -> tuple[Note, ...]:
        """The notes, each once, in a fixed order."""
        return tuple(sorted(set(notes)))


_NO_TYPES = frozenset(("required", "unique", "order", "first_occurrence", "layout", "code", "markers"))
"""What may be relaxed and leave arguments as they are declared."""
