"""The control tokens that an output may hold: engines leave such tokens out of its text unless they are told not to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from ..emit.rules import Scan, Text
from .constraint import Constraint

__all__ = ["markers_of"]

LIKE_TOKENS = re.compile(r"<[^<>\s]+>|\[[^\[\]\s]+\]|｜[^｜<>\s]+｜")
"""How vocabularies spell control tokens, the names of DeepSeek's tags among them."""


def markers_of(constraint: Constraint, control: Mapping[str, int] | None = None) -> tuple[str, ...]:
    """The control tokens in what the dialect writes; where the vocabulary's own are not known, all that may be some."""
    written = dict.fromkeys((*constraint.layout.marks, *_written(constraint)))
    if control is not None:
        return tuple(token for token in control if any(token in text for text in written))
    likely = (token for text in written for token in LIKE_TOKENS.findall(text))
    return tuple(dict.fromkeys((*constraint.layout.marks, *likely)))


def _written(constraint: Constraint) -> Iterator[str]:
    """The texts of the dialect's layout; a lazy constraint's are among them."""
    for part in constraint.rules.walk():
        if isinstance(part, Text) and part.mark:
            yield part.text
        elif isinstance(part, Scan):
            yield from (word for word, _ in part.words)
