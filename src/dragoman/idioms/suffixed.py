"""Dialects whose markers end in a suffix that differs from checkpoint to checkpoint."""

from __future__ import annotations

import re
from typing import Unpack

from ..dialect import Dialect, Facts
from ..errors import InvalidDialect
from .define import define
from .pair_calls import PairLayout, PairMarks, paired_values
from .turns import Think

__all__ = ["suffixed_values"]


def suffixed_values(
    doc: str,
    *,
    name: str,
    suffix: str,
    marks: PairMarks,
    layout: PairLayout,
    stops: tuple[str, ...],
    turns: tuple[str, ...] = (),
    source: str,
    **facts: Unpack[Facts],
) -> Dialect:
    """Thoughts and pairs of key and value between markers that end in a colon and the `suffix`.

    `doc`, `stops` and `turns` hold that suffix, `marks` do not. The dialect's variants are its other suffixes; the
    empty one means markers without any. They raise `InvalidDialect` for what can't be one.
    """

    def variant(other: str) -> Dialect:
        if not re.fullmatch(r"[\w.-]*", other):
            raise InvalidDialect(f"{name}:{other}", "a suffix of letters, digits and ._-", repr(other))
        end = f":{other}" if other else ""

        def spelled(text: str) -> str:
            return text.replace(f":{suffix}", end)

        return define(
            spelled(doc),
            name=name if other == suffix else f"{name}:{other}",
            think=Think.tight(f"<think{end}>", f"</think{end}>"),
            calls=paired_values(marks.suffixed(end), layout),
            stops=tuple(dict.fromkeys(map(spelled, stops))),
            turns=tuple(dict.fromkeys(map(spelled, turns))),
            source=source,
            variant=variant,
            **(facts if other == suffix else Facts()),
        )

    return variant(suffix)
