"""How properties cut a stream, and how hard they look for one that breaks a promise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st

__all__ = ["cut", "cuts", "hard"]

hard = settings(max_examples=max(60, settings().max_examples * 10))
"""For properties whose cases are cheap: sixty at least, and ten times what the profile says."""

Pieces = TypeVar("Pieces", str, bytes)


def cut(whole: Pieces, places: Sequence[int]) -> list[Pieces]:
    """The whole in pieces, cut at these places (taken modulo its length); some may be empty."""
    at = sorted(place % (len(whole) + 1) for place in places)
    return [whole[a:b] for a, b in zip([0, *at], [*at, len(whole)], strict=True)]


def cuts() -> st.SearchStrategy[list[int]]:
    """Places to `cut` at: none, or a few."""
    return st.lists(st.integers(0, 1 << 20), max_size=5)
