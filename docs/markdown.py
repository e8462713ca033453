"""Text as Markdown: code, blocks, cells of tables."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence


def prose(text: str) -> str:
    """Text of a docstring: its code, and whatever looks like a tag, as code."""

    def shown(found: re.Match[str]) -> str:
        return f"\\{found['plain']}" if found["plain"] else f"`{found['code'] or found['bare']}`"

    code = r'``(?P<code>.+?)``|(?P<bare><[^<>\s]+>|start="\w+")|(?P<plain>[<>*\\])'
    return re.sub(code, shown, text, flags=re.DOTALL)


def filled(text: str) -> str:
    """A paragraph in lines."""
    return textwrap.fill(text, 118, break_long_words=False, break_on_hyphens=False)


def fenced(text: str, language: str = "text") -> str:
    """A block of plain text."""
    fence = "~~~" if "```" in text else "```"
    return f"{fence}{language}\n{text}\n{fence}"


def code(text: str) -> str:
    """Text as code within a line; the fence is longer than any in it."""
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    edge = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{edge}{text}{edge}{fence}"


def listed(items: Iterable[str]) -> str:
    return ", ".join(map(code, items))


def rows(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table; a cell is one line, and its bars are escaped."""
    whole = [headings, ["---"] * len(headings), *lines]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in whole)


def columns(lines: Sequence[Sequence[str]]) -> str:
    """Plain rows whose cells stand below each other; the last one is as long as it likes."""
    widths = [max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1]]
    return "\n".join(
        "  ".join([*(text.ljust(width) for text, width in zip(line, widths, strict=False)), line[-1]]) for line in lines
    )
