"""Dialects as the parameter of a test: one of each kind in the core suite, all of them with ``-m "slow or not slow"``.

What holds for the one holds for its kind, as a rule; what is special about the others is found by `make test`.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from dragoman import Dialect, dialects

__all__ = ["ALL", "CORE", "FEW", "each"]

CORE = frozenset(
    (
        *("gemma4", "gigachat3", "glm45", "granite", "harmony", "hermes"),
        *("kimi_k2", "lfm2", "llama3_json", "minimax_m3", "qwen3_coder", "think_only"),
    )
)
"""One dialect of each kind, the best known."""


def each(some: Iterable[Dialect]) -> pytest.MarkDecorator:
    """The test once for each of these dialects, slow for those that are not in the core suite."""
    return pytest.mark.parametrize(
        "dialect",
        [
            pytest.param(dialect, id=dialect.name, marks=() if dialect.name in CORE else pytest.mark.slow)
            for dialect in some
        ],
    )


ALL = each(dialects())
"""The test once for every dialect."""

FEW = each(dialect for dialect in dialects() if dialect.name in CORE)
"""The test once for each kind, where a slow one does the same at length for every dialect."""
