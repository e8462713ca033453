"""What adapters do to text before their library sees it: halves of characters, and runs that would exhaust it."""

from __future__ import annotations

import re

__all__ = ["LONGEST_RUN", "scalar", "stretches"]

LONGEST_RUN = 1 << 15
"""Characters of white space in a row after which a text is cut: the regular expressions that split text go back over
such a run, and the engine beneath gives up, with a panic, at some hundred thousand."""

RUN = re.compile(rf"\s{{{LONGEST_RUN}}}")


def scalar(text: str) -> str:
    """The text with each surrogate that is half a character as U+FFFD, since no vocabulary has them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def stretches(text: str) -> list[str]:
    """The text, cut where white space goes on for longer than `LONGEST_RUN`; hardly ever more than one piece."""
    if len(text) <= LONGEST_RUN:
        return [text]
    ends = [match.end() for match in RUN.finditer(text)]
    return [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
