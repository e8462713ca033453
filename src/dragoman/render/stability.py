"""Whether a format leaves its prompts in place as a conversation goes on: found by trying every short one.

A prompt is stable if the next one only adds to it. Whoever keeps ids across turns (agents, reinforcement learning,
prefix caches) has to know where a format is not. There is no need to read its template for that: histories of a few
messages show it, since a template looks at roles, at thoughts and calls, and at what comes last.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from msgspec import Struct

from ..errors import CannotExtend, DragomanError
from ..types import Message, Part, TextPart, ThinkingPart, Tool, ToolCall
from .extend import rewritten

if TYPE_CHECKING:
    from .renderer import Renderer

__all__ = ["Case", "Stability", "prefix_stability"]

TOOL = Tool("look", "Look something up.", {"type": "object", "properties": {"at": {"type": "string"}}})

CALL_ID = "a1b2c3d40"
"""An id that every format takes."""

TURNS: dict[str, tuple[Part, ...]] = {
    "text": (TextPart("Here."),),
    "thought and text": (ThinkingPart("Hm."), TextPart("Here.")),
    "call": (ToolCall("look", '{"at": "x"}', CALL_ID),),
    "thought and call": (ThinkingPart("Hm."), ToolCall("look", '{"at": "x"}', CALL_ID)),
    "thought, text and call": (ThinkingPart("Hm."), TextPart("Wait."), ToolCall("look", '{"at": "x"}', CALL_ID)),
}
"""What the model may say in a turn."""


class Case(Struct, frozen=True):
    """What happens to a prompt and a turn behind it when something more follows.

    `earlier` is what the model said before that, `turn` what it says, `follows` the role of what is added. `kept` tells
    whether all of it stays; if not, `reason` says what changes, from what is `expected` to what is `found`.
    """

    earlier: str
    turn: str
    follows: str
    kept: bool
    reason: str = ""
    expected: str = ""
    found: str = ""


class Stability(Struct, frozen=True):
    """How a format treats its prompts; `cases` that it can't say at all are left out."""

    cases: tuple[Case, ...]

    @property
    def stable(self) -> bool:
        """Whether every prompt only adds to the last one, as far as there are cases."""
        return all(case.kept for case in self.cases)

    @property
    def witnesses(self) -> tuple[Case, ...]:
        """The cases in which something is rewritten."""
        return tuple(case for case in self.cases if not case.kept)


def prefix_stability(renderer: Renderer) -> Stability:
    """Try each turn behind each earlier one, followed by the user or by a tool's answer."""
    cases = []
    for earlier, turn in product(("nothing", *TURNS), TURNS):
        for follows in ("tool", "user") if _calls(turn) else ("user",):
            case = _case(renderer, earlier, turn, follows)
            if case is not None:
                cases.append(case)
    return Stability(tuple(cases))


def _case(renderer: Renderer, earlier: str, turn: str, follows: str) -> Case | None:
    """What happens in one case; ``None`` where the format can't say it."""
    history = [Message("user", (TextPart("Where?"),))]
    if earlier != "nothing":
        history += [Message("assistant", TURNS[earlier]), _after(earlier)]
    tools = [TOOL] if _calls(turn) or (earlier in TURNS and _calls(earlier)) else None
    try:
        so_far = renderer.build_generation_prompt(history, tools)
        renderer.render([*history, Message("assistant", TURNS[turn])], tools)
    except DragomanError:
        return None
    answer = _after(turn) if follows == "tool" else Message("user", (TextPart("And then?"),))
    try:
        rewritten(renderer, so_far, Message("assistant", TURNS[turn]), (answer,))
    except CannotExtend as error:
        return Case(earlier, turn, follows, False, error.reason, error.expected, error.found)
    except DragomanError:
        return None
    return Case(earlier, turn, follows, kept=True)


def _calls(turn: str) -> bool:
    return isinstance(TURNS[turn][-1], ToolCall)


def _after(turn: str) -> Message:
    """What naturally follows a turn: the answer to its call, or the user."""
    if _calls(turn):
        return Message("tool", (TextPart("Found."),), "look", CALL_ID)
    return Message("user", (TextPart("And now?"),))
