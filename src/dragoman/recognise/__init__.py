"""Which dialect does a model speak? Told by a name, a model's id, a tokenizer, a chat template, or the output itself.

Each way to ask is a function that gives an `Answer`: a dialect, what tells that it is this one, and how sure that is.
`recognise` finds out which way is meant. None of them guesses: what fits nothing raises `Unrecognised` or
`UnknownDialect`, what fits several equally raises `AmbiguousDialect`. For the output, see `stream`.

All that is known of a dialect stands in its own file; here are only the rules by which it is compared.
"""

from __future__ import annotations

from pathlib import Path

from ..errors import UnknownDialect, Unrecognised
from ..registry import dialects, near_names
from .answer import Answer, Certainty
from .models import by_model, model_answers
from .names import by_name
from .stream import HOLD, Detection
from .templates import by_template, normal_template, template_hash
from .tokenizers import by_tokenizer, by_tokens

__all__ = [
    "HOLD",
    "Answer",
    "Certainty",
    "Detection",
    "by_model",
    "by_name",
    "by_template",
    "by_tokenizer",
    "by_tokens",
    "normal_template",
    "recognise",
    "template_hash",
]

LONGEST_NAME = 4096
"""Characters of a name, an id or a path; what is longer, or has several lines, is a chat template."""

TEXTS = frozenset({"", ".json", ".jinja", ".jinja2", ".j2", ".txt"})
"""How the files of a tokenizer, and those of chat templates, end."""


def recognise(what: str | Path) -> Answer:
    """The dialect that a name, a model id, a tokenizer's folder or file, or a chat template (its text or file) tells.

    A name goes before a file of that name, and a file before a model id. Raises `UnknownDialect`, its kind
    `Unrecognised`, `AmbiguousDialect`, or `InvalidTokenizer`.
    """
    if isinstance(what, Path):
        return by_tokenizer(what)
    if len(what) > LONGEST_NAME or "\n" in what or "{{" in what or "{%" in what:
        return by_template(what)
    try:
        return by_name(what)
    except UnknownDialect as error:
        if _is_tokenizer(what):
            return by_tokenizer(what)
        if model_answers(what):
            return by_model(what)
        if error.near and "/" not in what:
            raise
        known = tuple(dialect.name for dialect in dialects())
        raise Unrecognised(what, ("name", "file", "model id"), near_names(what), known) from None


def _is_tokenizer(what: str) -> bool:
    """Whether it is a folder, or a file of text; the weights of a model are known by their name."""
    try:
        path = Path(what)
        return bool(what) and (path.is_dir() or (path.is_file() and path.suffix in TEXTS))
    except (OSError, ValueError):  # what can't be a path at all
        return False
