"""The view of a rendered conversation in a terminal: its text in colours, and in a gutter whose each line is.

    0 system    │ <|im_start|>system↵
                │ You help.<|im_end|>↵
    1 user      │ ...
    2 assistant │ <|im_start|>assistant↵
                ┃ Hello!<|im_end|>

A line of the text ends in ``↵``; what ends without one goes on in the next line, since a message ends there or the
terminal is too narrow. What the model samples, or is trained on, is underlined and has a thick rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ..segments import NOBODY, Kind
from .output import visible
from .stretches import STYLES, Page, Stretch

__all__ = ["draw_page"]

PROMPT, TOOLS = "prompt", "tools"
NARROWEST = 20
"""Characters of text that a line has at least, however narrow the terminal."""

LABEL = 16
"""Characters of a label that are shown."""


class Line:
    """A line of the view, as long as it may be."""

    def __init__(self) -> None:
        self.text = Text()
        self.message, self.word = NOBODY, ""
        self.marks: list[tuple[int, int]] = []
        self.edges: list[int] = []  # where control tokens begin and end
        self.stopped = self.strange = False  # by a stop marker; by text that is of no message

    def write(self, text: str, style: str, stretch: Stretch) -> None:
        """Add some characters of a stretch."""
        if stretch.message != NOBODY:
            self.message = stretch.message
        elif stretch.kind == Kind.TOOLS:
            self.word = TOOLS
        self.stopped = stretch.kind == Kind.STOP
        self.strange = self.strange or (stretch.message == NOBODY and stretch.kind == Kind.TEXT)
        if stretch.control:
            self.edges += [len(self.text), len(self.text) + len(text)]
        if stretch.marked:
            self.marks.append((len(self.text), len(self.text) + len(text)))
            style = f"{style} underline"
        self.text.append(visible(text), style=style.strip())

    def marked(self, start: int, end: int) -> bool:
        """Whether some of these characters are marked."""
        return any(begin < end and start < stop for begin, stop in self.marks)


def draw_page(console: Console, page: Page, title: str) -> None:
    """Write the legend, the text with its gutter, and a line that counts."""
    stretches = page.stretches()
    _legend(console, stretches, "trained on" if page.weights is not None else "sampled by the model")
    lines = list(_lines(stretches, page.prompt_at))
    labels = [_label(page, line) for line in lines]
    wide = max((cell_len(label) for label in labels), default=0)
    width = max(console.width - wide - 3, NARROWEST)
    last = ""
    for line, label in zip(lines, labels, strict=True):
        shown = "" if label == last else label
        last = label
        for row, start, end in _rows(line, width):
            bar = Text("┃ ", style="bold green") if line.marked(start, end) else Text("│ ", style="dim")
            gutter = Text(f"{shown:<{wide}} ", style="dim")
            console.print(Text.assemble(gutter, bar, row), soft_wrap=True)
            shown = ""
    console.print()
    console.print(Text(" · ".join((title, *_counts(page, stretches))), style="dim"), soft_wrap=True)


def _legend(console: Console, stretches: Sequence[Stretch], marked: str) -> None:
    words = {stretch.word for stretch in stretches}
    pieces: list[Text | str] = []
    for word, style in STYLES.items():
        if word in words:
            pieces += [Text(f" {word} ", style=style), " "]
    if any(stretch.marked for stretch in stretches):
        pieces += [" ", Text("┃ ", style="bold green"), Text(marked, style="underline")]
    console.print(Text.assemble(*pieces), soft_wrap=True)
    console.print()


def _lines(stretches: Sequence[Stretch], prompt_at: int | None) -> Iterator[Line]:
    """The lines of the text; none has two messages, and none goes on behind a stop marker."""
    line, at, prompts = Line(), 0, False
    for stretch in stretches:
        others = stretch.message != NOBODY and (line.strange or line.message not in (NOBODY, stretch.message))
        begins = prompt_at is not None and not prompts and at >= prompt_at
        if line.text and (others or begins or (line.stopped and not stretch.text.startswith("\n"))):
            yield line
            line = Line()
        prompts = prompts or begins
        at += len(stretch.text)
        first, *more = stretch.text.split("\n")
        for k, piece in enumerate((first, *more)):
            if k:
                line.write("↵", "dim", stretch)
                yield line
                line = Line()
            if prompts:
                line.word = PROMPT
            if piece:
                line.write(piece, STYLES[stretch.word], stretch)
    if line.text:
        yield line


def _label(page: Page, line: Line) -> str:
    label = line.word if line.message == NOBODY else f"{line.message} {page.role(line.message)}"
    return visible(label)[:LABEL]


def _rows(line: Line, width: int) -> Iterator[tuple[Text, int, int]]:
    """A line in rows that fit, cut behind a blank or beside a control token if there is one not too far back."""
    plain, start, cuts = line.text.plain, 0, [0]
    while start < len(plain):
        cells = accumulate(cell_len(char) for char in plain[start : start + width])
        end = start + max(sum(used <= width for used in cells), 1)
        if end < len(plain):
            near = [plain.rfind(" ", start, end) + 1, *(edge for edge in line.edges if edge <= end)]
            end = max((at for at in near if at > (start + end) // 2), default=end)
        cuts.append(end)
        start = end
    for row, begin, end in zip(line.text.divide(cuts[1:-1]), cuts, cuts[1:], strict=False):
        yield row, begin, end


def _counts(page: Page, stretches: Sequence[Stretch]) -> Iterator[str]:
    what = "tokens" if page.counts else "characters"
    yield f"{sum(each.end - each.start for each in stretches)} {what}"
    marked = sum(each.end - each.start for each in stretches if each.marked)
    yield f"{marked} {'sampled' if page.weights is None else 'trained on'}"
    if not page.counts:
        yield "for ids, give --tokenizer"
