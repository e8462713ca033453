"""Events to what a chat says of them: text, thoughts and calls, as OpenAI's API has them, still without JSON.

One `ChatDeltas` is one choice. Streamed or whole, an answer is made of the same deltas (`chat_chunks`, `chat_body`), so
that the two can't differ. An API has one string where a model may write several texts, or several thoughts: those that
the model kept apart are kept apart by an empty line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby
from typing import TypeAlias, assert_never

from msgspec import Struct

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
)
from .stops import StopScanner

__all__ = ["ChatDelta", "ChatDeltas", "Content", "Reasoning", "Refusal", "ToolArguments", "ToolName"]

APART = "\n\n"
"""What stands between two texts, or two thoughts, of one message."""


class Content(Struct, frozen=True, gc=False):
    """Visible text."""

    text: str


class Reasoning(Struct, frozen=True, gc=False):
    """The model's thoughts."""

    text: str


class Refusal(Struct, frozen=True, gc=False):
    """Text in which the model declines, where an upstream tells it apart."""

    text: str


class ToolName(Struct, frozen=True, gc=False):
    """A call begins."""

    index: int
    id: str
    name: str


class ToolArguments(Struct, frozen=True, gc=False):
    """A piece of a call's arguments."""

    index: int
    json: str


ChatDelta: TypeAlias = Content | Reasoning | Refusal | ToolName | ToolArguments


class ChatDeltas:
    """One choice of an answer, as it comes.

    `mint` makes the id of a call that the model gave none. Text ends before the first of the `stops`, or behind it
    with `keep_stop`. `lead` is no part of a text that the output begins with. `parallel` is whether calls behind the
    first are given out, `thoughts` whether thoughts are.
    """

    __slots__ = (
        "_apart",
        "_bare",
        "_channel",
        "_lead",
        "_mint",
        "_parallel",
        "_scanner",
        "_stops",
        "_tail",
        "_thinking",
        "_thoughts",
        "complete",
        "marker",
        "matched",
        "problems",
    )

    def __init__(
        self,
        mint: Callable[[], str],
        *,
        stops: tuple[str, ...] = (),
        keep_stop: bool = False,
        lead: str = "",
        parallel: bool = True,
        thoughts: bool = True,
    ) -> None:
        self._mint, self._lead, self._parallel, self._thoughts = mint, lead, parallel, thoughts
        self._stops: Callable[[], StopScanner] | None = (lambda: StopScanner(stops, keep=keep_stop)) if stops else None
        self._scanner = self._stops() if self._stops is not None else None
        self._thinking = False
        self._channel: str | None = None
        self._apart = False  # whether something stands between the last text, or thought, and what comes
        self._tail = {True: "", False: ""}  # the last characters of the thoughts, and of the text
        self._bare: set[int] = set()  # calls without a character of arguments yet
        self.problems: list[Problem] = []
        self.complete = 0  # calls
        self.matched: str | None = None
        """The stop of the caller's at which the text ends."""
        self.marker: str | None = None
        """The stop marker of the model's."""

    def feed(self, events: Iterable[Event]) -> list[ChatDelta]:
        """What these events say, neighbours joined; nothing behind a stop. Linear in their text."""
        out: list[ChatDelta] = []
        for event in events:
            if self.matched is not None:
                break
            match event:
                case ContentDelta(text=text, channel="refusal"):
                    self._apart = True
                    out.append(Refusal(text))
                case ContentDelta(text=text, channel=channel):
                    if self._apart or self._thinking or channel != self._channel:
                        self._release(out)
                        self._apart = True
                        self._thinking, self._channel = False, channel
                        text = self._parted(text)
                    if self.matched is None:
                        self._say(text, out)
                case ReasoningDelta(text=text):
                    if self._apart or not self._thinking:
                        self._release(out)
                        self._apart = self._thinking = True
                        self._lead = ""
                        text = self._parted(text)
                    if text and self._thoughts and self.matched is None:
                        self._tail[True] = text[-1]
                        out.append(Reasoning(text))
                case _:
                    self._other(event, out)
        return _joined(out)

    def finish(self) -> list[ChatDelta]:
        """What was held, since it could have become a stop."""
        out: list[ChatDelta] = []
        self._release(out)
        return out

    def finish_reason(self, engine: str | None) -> str | None:
        """Why the choice ended, in OpenAI's words: what the engine says, corrected by what was read, never made up."""
        if self.matched is not None:
            return "stop"
        if engine is not None and engine not in ("stop", "tool_calls", "function_call"):
            return engine
        if self.complete:
            return "tool_calls"
        return "stop" if engine is not None or self.marker is not None else None

    def _say(self, text: str, out: list[ChatDelta]) -> None:
        """Give out text, but for what is no part of it."""
        if self._lead:
            lead, self._lead = self._lead, ""
            text = text.removeprefix(lead)
        if self._scanner is not None:
            text = self._scanner.feed(text)
            self.matched = self._scanner.matched
        if text:
            self._tail[False] = text[-1]
            out.append(Content(text))

    def _parted(self, text: str) -> str:
        """A text, or thought, that begins anew, apart from the last of its kind."""
        apart, self._apart = self._apart, False
        tail = self._tail[self._thinking]
        return APART + text if apart and tail and not tail.isspace() and text and not text[0].isspace() else text

    def _release(self, out: list[ChatDelta]) -> None:
        """Give out what was held: no stop reaches from one text into the next, but a shorter one may be in it."""
        if self._scanner is None or self._stops is None or self.matched is not None:
            return
        text = self._scanner.finish()
        self.matched = self._scanner.matched
        if text:
            self._tail[False] = text[-1]
            out.append(Content(text))
        self._scanner = self._stops()

    def _other(self, event: Event, out: list[ChatDelta]) -> None:
        match event:
            case ArgumentsDelta(index=index, json=json):
                if self._wanted(index) and json:
                    self._bare.discard(index)
                    out.append(ToolArguments(index, json))
            case CallBegin(index=index, name=name, id=given):
                self._release(out)
                self._apart, self._lead = True, ""
                if self._wanted(index) and self.matched is None:
                    self._bare.add(index)
                    out.append(ToolName(index, given or self._mint(), name))
            case CallEnd(index=index, status=status, problems=problems):
                self.problems += problems
                self._apart = True
                if status is CallStatus.COMPLETE and self._wanted(index):
                    self.complete += 1
                    if index in self._bare:
                        out.append(ToolArguments(index, "{}"))
            case Problem():
                self.problems.append(event)
            case Markup() | Malformed():
                self._apart = True
            case Stop(marker=marker):
                self.marker = self.marker or marker
            case _:
                pass

    def _wanted(self, index: int) -> bool:
        return self._parallel or index == 0


def _joined(deltas: list[ChatDelta]) -> list[ChatDelta]:
    """The same, neighbours of one kind as one; linear."""
    if len(deltas) < 2:
        return deltas
    joined: list[ChatDelta] = []
    for _, same in groupby(deltas, _key):
        group = list(same)
        match group[0]:
            case Content():
                joined.append(Content("".join([one.text for one in group])))  # type: ignore[union-attr]
            case Refusal():
                joined.append(Refusal("".join([one.text for one in group])))  # type: ignore[union-attr]
            case Reasoning():
                joined.append(Reasoning("".join([one.text for one in group])))  # type: ignore[union-attr]
            case ToolArguments(index=index):
                joined.append(ToolArguments(index, "".join([one.json for one in group])))  # type: ignore[union-attr]
            case ToolName():
                joined += group
            case unknown:
                assert_never(unknown)
    return joined


def _key(delta: ChatDelta) -> tuple[type, int]:
    return type(delta), delta.index if isinstance(delta, ToolArguments) else 0
