r"""Markdown code fences in the visible answer, labelled as they stream: an optional step after the parser.

`Fences` reads the parser's events and splits each `ContentDelta` that touches fenced code into `CodeBegin` (the
opening line), `CodeDelta` (the code) and `CodeEnd` (the closing line); all else passes as it is. Not a Markdown
parser: it knows CommonMark's rules for fences and nothing of lists, quotes or indented code. The rules:

* A fence is a line of its own: at most three spaces, three or more of "`" or "~", for an opening line an info string
  (without "`" after backticks), for a closing line only blanks. It closes what is at most as long, of its character.
* ``\n`` ends a line; a ``\r`` before it is a blank. A fence line longer than `LONGEST_FENCE_LINE` is plain text.
* A line is a run of adjacent characters of one channel: after anything that has characters of its own (markup, a
  call, reasoning, another channel) content begins a new line. Markup often owns the line break beside it.
* Before any other event, or content of another channel, what is held is decided as if the input ended there.
* Open code stays open across other events, each channel on its own, until its closing line, a `Stop` or `finish`.

Every character stays in exactly one event with the span it had: the texts of content and code are the content that
was fed. The labels depend on that content, not on how it was cut; `merge` is the form to compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

from msgspec import Struct

from dragoman import events as plain
from dragoman.events import ContentDelta, Event, Stop

__all__ = ["LONGEST_FENCE_LINE", "CodeBegin", "CodeDelta", "CodeEnd", "FencedEvent", "Fences", "merge"]

LONGEST_FENCE_LINE = 256
"""Characters, without the line break; also the most that `Fences` holds back, as it may not guess at a line's end."""

_BLANKS = " \t\r"

# Each pattern finds a fence line, or what may yet become one if the text goes on; the latter has no group "fence".
_OPENING = re.compile(
    r"^ {0,3}+(?:(?P<fence>`{3,}+(?![^`\n]*+`)|~{3,}+)(?P<info>[^\n]*+)(?:\n|\Z)|(?:`{0,2}|~{0,2})\Z)",
    re.MULTILINE,
)


@lru_cache(maxsize=64)
def _closing(fence: str) -> re.Pattern[str]:
    mark, length = fence[0], len(fence)
    return re.compile(
        rf"^ {{0,3}}+(?:(?P<fence>{mark}{{{length},}}+)[{_BLANKS}]*+(?:\n|\Z)|{mark}{{0,{length - 1}}}\Z)",
        re.MULTILINE,
    )


class CodeBegin(Struct, frozen=True, gc=False, tag="code_begin"):
    """The opening line of fenced code; ``text`` is the line as written, its line break included.

    ``fence`` is the run of "`" or "~"; ``info`` is what follows it, as written but for blanks at its ends;
    ``language`` is the first word of that, ``None`` where there is none.
    """

    language: str | None
    info: str
    fence: str
    text: str
    start: int
    end: int
    channel: str | None = None


class CodeDelta(Struct, frozen=True, gc=False, tag="code_delta"):
    """A piece of what stands between the fences: whole lines in the end, nothing stripped."""

    text: str
    start: int
    end: int
    channel: str | None = None


class CodeEnd(Struct, frozen=True, gc=False, tag="code_end"):
    """The closing line of fenced code as written, or, where the answer ended before it, an empty one.

    ``closed`` tells the two apart: a closing line is never invented.
    """

    text: str
    closed: bool
    start: int
    end: int
    channel: str | None = None


FencedEvent: TypeAlias = Event | CodeBegin | CodeDelta | CodeEnd


class Fences:
    """Labels fenced code in a stream of events.

    Total, and linear in the text; holds at most `LONGEST_FENCE_LINE` characters of one line. Expects what a parser
    promises: spans in order, and ``end - start`` of content as long as its text. Empty content is dropped.
    """

    __slots__ = ("_channel", "_fences", "_held", "_line_end", "_line_start", "_position")

    def __init__(self) -> None:
        self._fences: dict[str | None, str] = {}  # per channel with open code, the fence that opened it
        self._channel: str | None = None  # of the current line
        self._line_start = True  # what is held begins a line; False also says that nothing is held
        self._held = ""
        self._line_end = 0  # where the current line must go on, if it does
        self._position = 0

    def feed(self, events: Iterable[Event]) -> list[FencedEvent]:
        """Return ``events`` with fenced code labelled, as far as that is certain."""
        out: list[FencedEvent] = []
        for event in events:
            if isinstance(event, ContentDelta):
                if event.text:
                    self._read(event, out)
            else:
                self._settle(out)
                if isinstance(event, Stop):
                    self._abandon(out)
                out.append(event)
            self._position = event.end
        return out

    def finish(self) -> list[FencedEvent]:
        """Return what was held, and an end for each code block that is still open."""
        out: list[FencedEvent] = []
        self._settle(out)
        self._abandon(out)
        return out

    def copy(self) -> Fences:
        """Return an independent copy of the present state."""
        twin = Fences()
        twin._fences = self._fences.copy()
        twin._channel, twin._line_start, twin._held = self._channel, self._line_start, self._held
        twin._line_end, twin._position = self._line_end, self._position
        return twin

    def _read(self, event: ContentDelta, out: list[FencedEvent]) -> None:
        if event.channel != self._channel or event.start != self._line_end:
            self._settle(out)
            self._channel, self._line_start = event.channel, True
        self._line_end = event.end
        if self._line_start:
            self._scan(self._held + event.text, event.start - len(self._held), 0, out)
        elif newline := event.text.find("\n") + 1:
            self._scan(event.text, event.start, newline, out)
        elif event.channel in self._fences:
            self._say(event.text, event.start, out)
        else:
            out.append(event)

    def _scan(self, text: str, start: int, at: int, out: list[FencedEvent]) -> None:
        """Read ``text``, which begins at ``start`` and whose first undecided line begins at index ``at``."""
        said = 0
        while line := self._pattern().search(text, at):
            begin, at = line.span()
            unfinished = not line[0].endswith("\n")
            if at - begin - (not unfinished) > LONGEST_FENCE_LINE:
                if unfinished:
                    break
                continue
            self._say(text[said:begin], start + said, out)
            if unfinished:
                self._held, self._line_start = line[0], True
                return
            self._mark(line, start + begin, out)
            said = at
        self._say(text[said:], start + said, out)
        self._held, self._line_start = "", False

    def _pattern(self) -> re.Pattern[str]:
        fence = self._fences.get(self._channel)
        return _OPENING if fence is None else _closing(fence)

    def _say(self, text: str, start: int, out: list[FencedEvent]) -> None:
        if text:
            kind = CodeDelta if self._channel in self._fences else ContentDelta
            out.append(kind(text, start, start + len(text), self._channel))

    def _mark(self, line: re.Match[str], start: int, out: list[FencedEvent]) -> None:
        end = start + len(line[0])
        if self._fences.pop(self._channel, None) is not None:
            out.append(CodeEnd(line[0], True, start, end, self._channel))
            return
        fence = self._fences[self._channel] = line["fence"]
        info = line["info"].strip(_BLANKS)
        language = re.split(f"[{_BLANKS}]", info, maxsplit=1)[0] or None
        out.append(CodeBegin(language, info, fence, line[0], start, end, self._channel))

    def _settle(self, out: list[FencedEvent]) -> None:
        """Decide what is held as if the input ended here."""
        if not self._held:
            return
        line = self._pattern().fullmatch(self._held)
        start = self._line_end - len(self._held)
        if line and line["fence"]:
            self._mark(line, start, out)
        else:
            self._say(self._held, start, out)
        self._held, self._line_start = "", False

    def _abandon(self, out: list[FencedEvent]) -> None:
        here = self._position
        out += [CodeEnd("", False, here, here, channel) for channel in self._fences]
        self._fences.clear()
        self._line_start = True


def merge(events: Iterable[FencedEvent]) -> list[FencedEvent]:
    """Join neighbouring deltas like `dragoman.events.merge`, code included; O(n) in the events and their text."""
    merged: list[FencedEvent] = []
    for _, group in groupby(events, type):
        run = list(group)
        code = plain.merge(ContentDelta(e.text, e.start, e.end, e.channel) for e in run if isinstance(e, CodeDelta))
        merged += (CodeDelta(e.text, e.start, e.end, e.channel) for e in code if isinstance(e, ContentDelta))
        merged += (e for e in run if isinstance(e, CodeBegin | CodeEnd))
        merged += plain.merge(e for e in run if not isinstance(e, CodeBegin | CodeDelta | CodeEnd))
    return merged
