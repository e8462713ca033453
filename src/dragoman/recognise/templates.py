"""By the text of a chat template: known to the letter, or by the markers that it writes.

The hash is over the text without a byte order mark, with ``\\n`` as line end, without blanks at the ends of lines and
without empty lines at its beginning and end. The markers are looked for outside of Jinja's comments: a dialect fits
whose signature the text holds, one of its alternatives whole, and nothing of what it `lacks`. A dialect gives way to
another if the markers found of it are fewer than, and all among, those of the other.
"""

from __future__ import annotations

import re
from hashlib import sha256

from ..dialect import Dialect
from ..registry import dialects
from .answer import Answer, Certainty, settled

__all__ = ["HASH_DIGITS", "by_template", "normal_template", "template_answers", "template_hash"]

TRIED = "chat template"

HASH_DIGITS = 16
"""Hexadecimal digits of a hash that are kept: 64 bits, for some hundred templates that nobody forges."""

SHOWN = 40
"""Characters of a template that an error shows."""

_trailing = re.compile(r"[ \t]+$", re.MULTILINE)
_comments = re.compile(r"\{#.*?#\}", re.DOTALL)


def by_template(template: str) -> Answer:
    """The dialect that a chat template is written in; linear in its length.

    Raises `AmbiguousDialect` if several fit and none is the more specific, `Unrecognised` if none fits.
    """
    shown = template if len(template) <= SHOWN else template[:SHOWN] + "..."
    return settled(shown, template_answers(template), (TRIED,))


def template_answers(template: str) -> tuple[Answer, ...]:
    """The dialects that fit best; several if none is the most specific."""
    digest = template_hash(template)
    known = [dialect for dialect in dialects() if digest in dialect.templates]
    if known:
        return tuple(
            Answer(dialect, f"the chat template is a known one ({digest})", Certainty.EXACT) for dialect in known
        )
    text = _comments.sub("", template)
    found = [(dialect, markers) for dialect in dialects() if (markers := _markers(dialect, text))]
    best = [(dialect, markers) for dialect, markers in found if not any(markers < more for _, more in found)]
    return tuple(Answer(dialect, _evidence(dialect, markers), Certainty.STRONG) for dialect, markers in best)


def template_hash(template: str) -> str:
    """The hash of a chat template's normal form."""
    return sha256(normal_template(template).encode("utf-8", "surrogatepass")).hexdigest()[:HASH_DIGITS]


def normal_template(template: str) -> str:
    """The text without what differs between copies of one template."""
    lines = template.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _trailing.sub("", lines).strip("\n")


def _markers(dialect: Dialect, text: str) -> frozenset[str]:
    """What of the dialect's signatures is in the text; empty if it does not fit."""
    if any(marker in text for marker in dialect.lacks):
        return frozenset()
    whole = (signature for signature in dialect.signatures if all(marker in text for marker in signature))
    return frozenset(marker for signature in whole for marker in signature)


def _evidence(dialect: Dialect, markers: frozenset[str]) -> str:
    first = dict.fromkeys(marker for signature in dialect.signatures for marker in signature if marker in markers)
    return "the chat template has " + " ".join(first)
