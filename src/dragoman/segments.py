"""What a conversation is written as: segments, pieces of text of which each knows whose it is.

A layout, or a chat template, turns messages into segments; `dragoman.render.encode` turns those into token ids. What
belongs to the format is `MARKUP` and may spell control tokens; everything else came from the caller and never does.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from msgspec import Struct

__all__ = ["NOBODY", "Kind", "Segment", "text_of"]

NOBODY = -1
"""The message, or part, of what belongs to none."""


class Kind(StrEnum):
    """What a piece of a rendered conversation is."""

    MARKUP = "markup"
    """The format's own characters: markers, role names, the layout around them."""
    TEXT = "text"
    """What somebody said: visible text of a message, whatever its role."""
    THINKING = "thinking"
    CALL = "call"
    """A call, its name and arguments."""
    RESULT = "result"
    """What a tool answered."""
    TOOLS = "tools"
    """The declaration of a tool, or another of the caller's values that is no message."""
    STOP = "stop"
    """The marker with which the model ends its turn."""


class Segment(Struct, frozen=True, gc=False):
    """Some characters of a rendered conversation.

    `message` and `part` are the indices of the message, and of the part in it, that they came from. The ones that are
    `control` belong to the format and may spell control tokens, even inside a call. With `apart`, they are encoded on
    their own: no token reaches into them from before. `sampled` are those that the model itself would write.
    """

    text: str
    kind: Kind = Kind.MARKUP
    message: int = NOBODY
    part: int = NOBODY
    control: bool = False
    apart: bool = False
    sampled: bool = False


def text_of(segments: Iterable[Segment]) -> str:
    """The whole text."""
    return "".join([segment.text for segment in segments])
