"""Triggers: where a lazily constrained engine begins to constrain.

A trigger is all of what stands before a call that is fixed, up to the first character that the model chooses: the bare
marker alone is also what models quote when they talk about calls.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from ..errors import InvalidRequest
from .layout import CALL, Layout

__all__ = ["GAP", "Trigger", "TriggerKind", "openers", "pieces", "triggers_of"]


class TriggerKind(StrEnum):
    """How an engine recognises a trigger."""

    TOKEN = "token"
    """One control token."""
    WORD = "word"
    """These characters."""
    PATTERN = "pattern"
    """A regular expression, whose first group is where the grammar begins: the word with any layout in it."""


class Trigger(Struct, frozen=True):
    """One trigger; `token` is its id where it is a control token of a known vocabulary."""

    kind: TriggerKind
    text: str
    token: int | None = None


GAP = 16
"""Characters of layout that may stand between the pieces of an opener, where its writer has some or none."""

SHORTEST = 4
"""Characters that a trigger has at least; and one of them is no letter, digit or space."""


def openers(layout: Layout) -> tuple[str, ...]:
    """What stands before a first call, from its first marker on, wherever it may stand; none that ends in another.

    There are none at all where a call may stand with nothing before it, or with what also stands before other parts.
    """
    found: dict[str, None] = {}
    for (before, then), text in layout.between.items():
        if then == CALL and before != CALL:
            begins = [text.index(mark) for mark in layout.marks if mark in text]
            found[text[min(begins) :] if begins else text.lstrip()] = None
    others = [text for (_, then), text in layout.between.items() if then != CALL]
    if any(opener in text for opener in found for text in others):
        return ()
    return tuple(text for text in found if not any(other != text and text.endswith(other) for other in found))


def triggers_of(layout: Layout, control: Mapping[str, int] | None = None, prompt: str = "") -> tuple[Trigger, ...]:
    """The triggers of calls; none where nothing fixed stands before a call.

    `control` are the control tokens of the model's vocabulary: an opener that is one is recognised by it.
    Raises `InvalidRequest` if the end of the `prompt` holds a trigger: the engine would begin at once.
    """
    found: dict[Trigger, None] = {}
    tokens = control or {}
    for opener in openers(layout):
        token = opener if opener in tokens else None
        if token is not None:
            found[Trigger(TriggerKind.TOKEN, token, tokens[token])] = None
        elif len(opener) >= SHORTEST and re.search(r"[^\w\s]", opener):
            found[Trigger(TriggerKind.WORD, opener)] = None
            found[Trigger(TriggerKind.PATTERN, _loosely(opener))] = None
        if opener and opener in prompt:
            raise InvalidRequest("prompt", "one that holds no trigger, or an eager grammar", opener)
    return tuple(found)


def pieces(opener: str) -> list[str]:
    """An opener without the layout in it."""
    return re.split(r"[ \t\r\n]+", opener)


def _loosely(opener: str) -> str:
    """A pattern of the opener in which layout may differ, as models write it."""
    layout = rf"[ \t\r\n]{{0,{GAP}}}"
    return f"({layout.join(re.escape(piece) for piece in pieces(opener))})"
