"""What was made before and is kept for the next time, in a dict that never holds more than a limit.

Renderers, constraints and compiled tools are made in several threads at once, so that no step here may fall between
two others: each is one operation of a dict, which no other thread sees half done.
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["keep"]

K = TypeVar("K")
V = TypeVar("V")


def keep(known: dict[K, V], key: K, made: V, limit: int) -> V:
    """Keeps a value, and lets go of the oldest beyond the limit; returns the one of another thread that came first."""
    kept = known.setdefault(key, made)
    for oldest in list(known)[: max(0, len(known) - limit)]:
        known.pop(oldest, None)
    return kept
