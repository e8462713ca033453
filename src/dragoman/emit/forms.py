"""Forms: the ways in which dialects write JSON's values, as frozen values; JSON itself is one.

They say how words, strings and keys are written, and what stands between them. `spelling` makes rules by them.
"""

from __future__ import annotations

import re

from msgspec import Struct

__all__ = ["JSON", "PYTHON", "Form", "Strings", "bare_form"]

BARE = r"\w.$-"
"""The characters of a key that may stand bare, as a class of a regular expression."""

_is_bare = re.compile(rf"[{BARE}]+").fullmatch


class Strings(Struct, frozen=True, cache_hash=True):
    r"""Strings between two of a `mark`; `escaped` characters are written with a backslash, as in JSON.

    Where there are any, control characters must be, and ``\u`` stands for all others; where there are none, all is
    text up to the next mark. A `special` mark is a marker.
    """

    mark: str = '"'
    escaped: str = '"\\/\b\f\n\r\t'
    special: bool = False


class Form(Struct, frozen=True, cache_hash=True):
    """A way to write values.

    Keys may be `bare`: words without marks. With `layout`, JSON's whitespace may stand between tokens; without it,
    members are divided by `comma`, and keys from values by `colon`, as they are.
    """

    true: str = "true"
    false: str = "false"
    null: str = "null"
    strings: Strings = Strings()
    bare: bool = False
    layout: bool = True
    comma: str = ", "
    colon: str = ": "

    def is_bare(self, key: str) -> bool:
        """Whether this key is written without marks."""
        return self.bare and _is_bare(key) is not None


JSON = Form()
"""JSON, in any layout."""

PYTHON = Form("True", "False", "None", Strings("'", "'\\\b\f\n\r\t"), layout=False)
"""Python's literals, strings in single quotes."""


def bare_form(mark: str, *, null: str = "null") -> Form:
    """Dicts with bare keys, strings between two of the `mark`, a control token, without escapes."""
    return Form(null=null, strings=Strings(mark, "", special=True), bare=True, layout=False, comma=",", colon=":")
