"""The spellings of control tokens: where a text has them, and how an encoding that met one is mended.

`control_pattern` finds them in text. `broken` is the net under every adapter whose library may make a control token of
ordinary text: it puts the pieces of the spelling in the token's place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from weakref import WeakKeyDictionary

from .protocol import Tokenizer

__all__ = ["broken", "control_pattern", "one_of"]

NOTHING = re.compile(r"(?!)")

_patterns: WeakKeyDictionary[Tokenizer, re.Pattern[str]] = WeakKeyDictionary()


def control_pattern(tokenizer: Tokenizer) -> re.Pattern[str]:
    """What finds the spellings of control tokens in text, the longest where several begin; made once a tokenizer.

    It reads no character more often than the longest spelling has characters. The tokenizer must be hashable.
    """
    known = _patterns.get(tokenizer)
    if known is None:
        known = _patterns[tokenizer] = one_of(tokenizer.control)
    return known


def one_of(spellings: Iterable[str]) -> re.Pattern[str]:
    """What finds any of the spellings, the longest first; the empty one is none."""
    spellings = sorted(filter(None, set(spellings)))
    return re.compile(_branches(spellings)) if spellings else NOTHING


def _branches(spellings: Sequence[str]) -> str:
    """A pattern in which a character decides which of the sorted spellings go on, so that there is nothing to retry."""
    first, last = spellings[0], spellings[-1]
    shared = first[: next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))]
    rest = [spelling[len(shared) :] for spelling in spellings]
    if len(rest) == 1:
        return re.escape(shared)
    ends_here = rest[0] == ""
    groups: dict[str, list[str]] = {}
    for spelling in rest[ends_here:]:
        groups.setdefault(spelling[0], []).append(spelling)
    inner = "|".join(map(_branches, groups.values()))
    return f"{re.escape(shared)}(?:{inner}){'?' if ends_here else ''}"


def broken(ids: Iterable[int], spelled: Mapping[int, str], encode: Callable[[str], Iterable[int]]) -> list[int]:
    """The ids, with those of control tokens replaced by the ids of their spelling, cut behind its first character.

    `encode` is the ordinary encoding of what stands inside a text. A spelling of one character stays as it is.
    """
    mended: list[int] = []
    for token in ids:
        spelling = spelled.get(token, "")
        if len(spelling) > 1:
            mended += [*encode(spelling[:1]), *encode(spelling[1:])]
        else:
            mended.append(token)
    return mended
