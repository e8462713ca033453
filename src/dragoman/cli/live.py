"""The view that `parse` and `demo` share: events drawn as they come, each kind of text in its own dress.

    ╭ reasoning
    │ The user asks for the weather ...
    Let me look.                               (content stands as it is)
    ╭ call 0 get_weather
    │ {"city": "Zürich"}
    ╰ complete
    ■ stop <|im_end|>

It draws deltas as they are, and so needs no more of the stream than the event in hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from ..events import (
    ArgumentsDelta,
    CallBegin,
    CallEnd,
    ContentDelta,
    Event,
    Malformed,
    Markup,
    Problem,
    ReasoningDelta,
    Stop,
    TagDelta,
    TagEnd,
)
from .output import Ink, lines

__all__ = ["STYLES", "View"]

STYLES = {
    "reasoning": "dim italic",
    "content": "",
    "call": "cyan",
    "name": "bold cyan",
    "arguments": "cyan",
    "complete": "green",
    "incomplete": "yellow",
    "malformed": "red",
    "markup": "dim blue",
    "problem": "bold yellow",
    "stop": "dim blue",
    "tag": "magenta",
}
"""How each kind of text is dressed in a terminal."""

_RAW_SHOWN = 60
"""Characters of a problem's raw text that are shown."""


class View:
    """Draws events one after the other."""

    def __init__(self, ink: Ink) -> None:
        self._ink = ink
        self._block: str | None = None

    def show(self, events: Iterable[Event]) -> None:
        """Draw events at once."""
        for event in events:
            self._draw(event)

    def close(self) -> None:
        """End the last line."""
        self._ink.fresh_line()
        self._block = None

    def _draw(self, event: Event) -> None:
        match event:
            case ReasoningDelta(text=text):
                self._boxed("reasoning", text, "reasoning")
            case ContentDelta(text=text, channel=None):
                self._free(text)
            case ContentDelta(text=text, channel=channel):
                self._boxed(f"content on {channel}", text, "content")
            case CallBegin():
                self._begin(event)
            case ArgumentsDelta(index=index, json=text):
                self._boxed(f"call {index}", text, "arguments")
            case CallEnd():
                self._end(event)
            case Malformed(text=text):
                self._boxed("malformed", text, "malformed")
            case Markup():
                self._part()
            case Problem():
                self._problem(event, "! ")
            case Stop(marker=marker, reason=reason):
                self._mark(f"■ stop {marker or reason or '(no reason given)'}", "stop")
            case TagDelta(tag=tag, text=text):
                self._boxed(tag, text, "tag")
            case TagEnd():
                self._block = None
            case _:
                assert_never(event)

    def _boxed(self, title: str, text: str, style: str) -> None:
        """Text behind a rule; a box opens when it is not the one that is open."""
        if self._block != title:
            self._ink.line(f"╭ {title}", STYLES[style])
            self._block = title
        for line in lines(text):
            if self._ink.at_line_start:
                self._ink.write("│ ", STYLES[style])
            self._ink.write(line, STYLES[style])

    def _free(self, text: str) -> None:
        """Text as it is, from the start of a line."""
        if self._block != "content":
            self._ink.fresh_line()
            self._block = "content"
        self._ink.write(text, STYLES["content"])

    def _begin(self, event: CallBegin) -> None:
        self._ink.fresh_line()
        self._ink.write(f"╭ call {event.index} ", STYLES["call"])
        self._ink.write(event.name, STYLES["name"])
        self._ink.write(f" ({event.id})\n" if event.id else "\n", STYLES["call"])
        self._block = f"call {event.index}"

    def _end(self, event: CallEnd) -> None:
        self._mark(f"╰ {event.status}", str(event.status))
        for problem in event.problems:
            self._problem(problem, "  ! ")

    def _part(self) -> None:
        """Markup parts two texts, but not the arguments of a call, which it may run through."""
        if self._block is not None and not self._block.startswith("call "):
            self._block = None

    def _problem(self, problem: Problem, lead: str) -> None:
        detail = f": {problem.detail}" if problem.detail else ""
        raw = problem.raw if len(problem.raw) <= _RAW_SHOWN else problem.raw[: _RAW_SHOWN - 1] + "…"
        self._mark(f"{lead}{problem.kind}{detail}" + (f" {raw!r}" if raw else ""), "problem")

    def _mark(self, text: str, style: str) -> None:
        """A line of its own, after which every text begins anew."""
        self._ink.line(text, STYLES[style])
        self._block = None
