"""A raw output as a picture: each span in its colour, as text that can be selected.

Each character is placed by itself, so that it stands in its cell whatever font the reader has. The picture brings its
own ground, and so can be read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct
from rich.cells import cell_len

from dragoman.cli.looks import LOOKS
from dragoman.cli.spans import Span

CELL, LINE, MARGIN, SIZE = 8, 19, 16, 13
"""Pixels: the width of a narrow character, the height of a line, the edge, the height of the letters."""

COLUMNS = 104
"""Cells of a line; what is longer goes on in the next one, behind a mark."""

NEAR = 30
"""Cells before the end of a line within which it is rather broken where a span begins."""

TAB = 8
GROUND, FAINT, EDGE = "#1c2027", "#6b7585", "#3a4250"
FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace"
FEED, GOES_ON = "↵", "↪"


class Glyph(Struct, frozen=True):
    """A character in its place: its cell in the line, and how many cells it fills."""

    text: str
    kind: str
    column: int
    width: int

    @property
    def end(self) -> int:
        return self.column + self.width


def picture(text: str, spans: Sequence[Span], title: str) -> str:
    """The picture, with a legend of the kinds that occur."""
    kinds = {span.kind for span in spans}
    shown = [kind for kind in LOOKS if kind in kinds]
    lines = list(placed(text, spans))
    label = sum(cell_len(LOOKS[kind].word) + 4 for kind in shown)
    width = 2 * MARGIN + CELL * max(label, *(line[-1].end + 2 if line else 0 for line in lines))
    height = 2 * MARGIN + LINE * (len(lines) + 2)
    drawn = [legend(shown, MARGIN + SIZE)]
    for k, line in enumerate(lines):
        drawn += written(line, MARGIN + SIZE + LINE * (k + 2))
    size = f'width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}" role="img">'
    card = f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" fill="{GROUND}" stroke="{EDGE}"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", style(shown), card, *drawn, "</svg>"]) + "\n"


def style(kinds: Iterable[str]) -> str:
    rules = [f"text {{ font: {SIZE}px {FONT}; white-space: pre; }}"]
    for kind in kinds:
        look = LOOKS[kind]
        rules.append(f".{kind} {{ fill: {look.colour}; font-weight: {look.weight}; font-style: {look.slant}; }}")
    rules.append(f".faint {{ fill: {FAINT}; user-select: none; }}")
    return "<style>\n" + "\n".join(rules) + "\n</style>"


def placed(text: str, spans: Iterable[Span]) -> Iterator[list[Glyph]]:
    """The lines, broken where they are too long; a line feed is a glyph of its own at the end of its line."""
    line: list[Glyph] = []
    for span in spans:
        for k in range(span.start, span.end):
            column = line[-1].end if line else 0
            if text[k] == "\n":
                yield [*line, Glyph("\n", span.kind, column, 1)]
                line = []
                continue
            width = TAB - column % TAB if text[k] == "\t" else cell_len(text[k])
            if column + width > COLUMNS:
                at = broken(line)
                yield [*line[:at], Glyph(GOES_ON, "faint", line[at - 1].end, 1)]
                line = moved(line[at:])
                column = line[-1].end if line else 0
            line.append(Glyph(text[k], span.kind, column, width))
    yield line


def broken(line: Sequence[Glyph]) -> int:
    """Where a line that is too long is broken: before the last span that begins near its end, else at its end."""
    near = (k for k in range(len(line) - 1, 0, -1) if line[k].kind != line[k - 1].kind)
    at = next(near, len(line))
    return at if line[at - 1].end >= COLUMNS - NEAR else len(line)


def moved(glyphs: Sequence[Glyph]) -> list[Glyph]:
    """Glyphs at the beginning of a line."""
    first = glyphs[0].column if glyphs else 0
    return [Glyph(glyph.text, glyph.kind, glyph.column - first, glyph.width) for glyph in glyphs]


def written(line: Sequence[Glyph], base: int) -> Iterator[str]:
    """The grounds of a line's spans, and its text."""
    runs: list[list[Glyph]] = []
    for glyph in line:
        if runs and runs[-1][-1].kind == glyph.kind:
            runs[-1].append(glyph)
        else:
            runs.append([glyph])
    for run in runs:
        look = LOOKS.get(run[0].kind)
        if look is not None and look.ground:
            yield ground(look.ground, MARGIN + CELL * run[0].column, base, CELL * (run[-1].end - run[0].column))
    if runs:
        yield f'<text xml:space="preserve" y="{base}">{"".join(map(spelled, runs))}</text>'


def ground(colour: str, left: int, base: int, width: int) -> str:
    return f'<rect x="{left}" y="{base - SIZE}" width="{width}" height="{LINE - 2}" fill="{colour}"/>'


def spelled(run: Sequence[Glyph]) -> str:
    """A run of one kind; a line feed at its end is a mark that is not selected."""
    if run[-1].text != "\n":
        return span_of(run, run[0].kind)
    feed = span_of([Glyph(FEED, "faint", run[-1].column, 1)], "faint")
    return span_of(run[:-1], run[0].kind) + feed if run[:-1] else feed


def span_of(run: Sequence[Glyph], kind: str) -> str:
    """Characters of which each has its place; those beyond U+FFFF have one for both of their halves."""
    places = " ".join(str(MARGIN + CELL * glyph.column) for glyph in run for _ in range(1 + (glyph.text > "\uffff")))
    return (
        f"<tspan class={quoteattr(kind)} x={quoteattr(places)}>{escape(''.join(glyph.text for glyph in run))}</tspan>"
    )


def legend(kinds: Iterable[str], base: int) -> str:
    """The words of the kinds, each as the text that it stands for."""
    drawn, column = [], 0
    for kind in kinds:
        look = LOOKS[kind]
        width = cell_len(look.word) + 2
        if look.ground:
            drawn.append(ground(look.ground, MARGIN + CELL * column, base, CELL * width))
        word = [Glyph(char, kind, column + 1 + k, 1) for k, char in enumerate(look.word)]
        drawn.append(f'<text xml:space="preserve" y="{base}">{span_of(word, kind)}</text>')
        column += width + 2
    return "\n".join(drawn)
