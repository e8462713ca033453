"""Residue: markers that still stand in visible text after parsing, counted as an alarm that a dialect has drifted.

Nothing is changed or held back by it. Markers that Markdown code quotes are no residue; those of which plain prose
speaks can't be told from leaked ones and are counted. Beside the dialect's own, markers of well-known formats count:
they show that it is another dialect.
"""

from __future__ import annotations

import re
from functools import lru_cache

from ..events import ContentDelta
from ..grammar.json import SHORT
from ..grammar.labels import CLEAN_LIMIT, TextLabel
from ..grammar.prose import Mode, ProseFrame, ProseStep

__all__ = ["FOREIGN", "LONGEST_FENCE", "Residue"]

FOREIGN = (
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<function=",
    "</function>",
    "<|channel|>",
    "<|message|>",
    "<|start|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<|constrain|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "<|endoftext|>",
    "<|tool_calls_section_begin|>",
    "<|tool_call_begin|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁call▁begin｜>",
    "<｜end▁of▁sentence｜>",
    "<｜DSML｜",
    "<minimax:tool_call>",
    "<start_function_call>",
    "[TOOL_CALLS]",
    "[TOOL_RESULTS]",
    "[/INST]",
    "[THINK]",
    "[/THINK]",
)
"""Markers of formats that many models speak."""

LONGEST_FENCE = 64
"""Backticks of code that is still known to be open when a text goes on after an interruption."""

_looks_like_markup = re.compile(r"[<\[{|▁｜◁▷]").search


class Residue:
    """Counts markers in visible text that comes in pieces of any size; linear in it."""

    __slots__ = ("_frame", "_held", "_suspects", "counts")

    def __init__(self, marks: tuple[str, ...]) -> None:
        self._suspects = _suspects(marks)
        self._frame = ProseFrame()
        self._held = ""
        self.counts: dict[str, int] = {}

    def feed(self, text: str) -> None:
        """Look at more of the text."""
        if not self._held and not self._frame.mode:
            suspects = self._suspects
            if text in suspects.clean:
                return
            if suspects.search(text) is None:
                suspects.remember(text)
                return
        self._look(self._held + text, False)

    def settle(self) -> None:
        """Something else comes between: no marker goes on behind it, but code that is open stays open."""
        if self._held:
            self._look(self._held, True)

    @property
    def code(self) -> str:
        """A beginning of code in which text goes on as it does here; empty outside of code, and in an endless fence."""
        frame = self._frame
        if max(frame.size, frame.run) > LONGEST_FENCE:
            return ""
        opened, run = "`" * frame.size, "`" * frame.run
        match frame.mode:
            case Mode.TEXT:
                return ""
            case Mode.OPENING | Mode.SPAN | Mode.INFO | Mode.CLOSING:
                return opened + run if frame.mode == Mode.OPENING else f"{opened}x{run}"
            case _:
                return f"{opened}\n{run}" if frame.mode == Mode.LINE else f"{opened}\nx"

    def _look(self, text: str, ended: bool) -> None:
        at, step = 0, self._suspects.step
        while True:
            at, found = step.advance(self._frame, text, at, ended)
            mark = step.delimiters.match(text, at) if found and at < len(text) else None
            if mark is None:
                break
            self.counts[mark.group()] = self.counts.get(mark.group(), 0) + 1
            at = mark.end()
        self._held = "" if ended else text[at:]


class _Suspects:
    """The markers that are looked for, and texts that hold none: chunks are tokens, and tokens come again."""

    __slots__ = ("clean", "search", "step")

    def __init__(self, words: tuple[str, ...]) -> None:
        self.step = ProseStep(words, (), TextLabel(ContentDelta))
        self.search = re.compile(f"[`{re.escape(self.step.delimiters.firsts)}]").search
        self.clean: set[str] = set()

    def remember(self, text: str) -> None:
        """This text is clean, whenever it comes."""
        if len(text) <= SHORT and len(self.clean) < CLEAN_LIMIT:
            self.clean.add(text)


@lru_cache(maxsize=128)
def _suspects(marks: tuple[str, ...]) -> _Suspects:
    """Markers that no prose has by chance; of those that begin alike the shortest, which is in the others."""
    known = sorted({mark.strip() for mark in (*marks, *FOREIGN)})
    words = [mark for mark in known if len(mark) > 3 and _looks_like_markup(mark)]
    shortest: list[str] = []
    for word in words:
        if not shortest or not word.startswith(shortest[-1]):
            shortest.append(word)
    return _Suspects(tuple(shortest))
