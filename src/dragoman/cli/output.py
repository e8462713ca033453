"""Where the commands write: coloured text in a terminal, the same text plainly when piped.

`Ink` is for text that must appear at once, `table` for rows that are complete. Control characters of a model's
output never reach a terminal: an escape sequence could forge what the reader sees.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["Ink", "lines", "open_console", "table", "visible"]

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)


def open_console(stream: TextIO | None = None) -> Console:
    """A console on a stream (the standard output by default); characters it can't encode are escaped."""
    stream = stream or sys.stdout
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return Console(file=stream, highlight=False, markup=False, emoji=False)


def visible(text: str) -> str:
    """Control characters as pictures (␛), but for tab and line feed."""
    return text if text.isprintable() else text.translate(_PICTURES)


def lines(text: str) -> Iterator[str]:
    """The lines of a text with their line feeds; other line breaks stay inside."""
    *whole, rest = text.split("\n")
    yield from (line + "\n" for line in whole)
    if rest:
        yield rest


class Ink:
    """Writes pieces of text without wrapping or waiting; ``at_line_start`` knows where the pen is."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self.styled = console.is_terminal
        self.at_line_start = True

    def write(self, text: str, style: str = "") -> None:
        """Write a piece at once; in a terminal with a style, else byte for byte."""
        if not text:
            return
        if self.styled:
            self._console.print(Text(visible(text), style=style), end="", soft_wrap=True)
        else:
            self._console.file.write(text)
            self._console.file.flush()
        self.at_line_start = text.endswith("\n")

    def line(self, text: str, style: str = "") -> None:
        """Write a line of its own, ending one that was begun."""
        self.fresh_line()
        self.write(text, style)
        self.write("\n")

    def fresh_line(self) -> None:
        """End the line, if one was begun."""
        if not self.at_line_start:
            self.write("\n")


def table(console: Console, headings: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    """Write rows: ruled and coloured in a terminal, else in columns that line up, one line a row."""
    if console.is_terminal:
        drawn = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in headings:
            drawn.add_column(heading, overflow="fold")
        for row in rows:
            drawn.add_row(*(cell if isinstance(cell, Text) else Text(visible(cell)) for cell in row))
        console.print(drawn)
        return
    plain = [list(headings), *([str(cell).replace("\n", " ") for cell in row] for row in rows)]
    widths = [max(map(cell_len, column)) for column in zip(*plain, strict=True)]
    for line in plain:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True))
        console.file.write("  ".join(padded).rstrip() + "\n")
