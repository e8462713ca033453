"""Values for any setting, for properties over all of them: what a file has, and the same as a text."""

from __future__ import annotations

from typing import get_args, get_origin

from hypothesis import strategies as st
from msgspec import Meta

from dragoman.gateway.config import ModelEntry, WorkerEntry
from dragoman.gateway.leaves import Kind, Leaf, bare, element, leaves
from dragoman.gateway.secret import Secret

WORDS = st.text("abcXYZ019-_.", min_size=1, max_size=8)

ENTRIES: dict[Kind, st.SearchStrategy[str]] = {
    ModelEntry: WORDS,
    WorkerEntry: st.one_of(st.just("replay"), WORDS.map("{}.gguf".format), WORDS.map("http://h:1/{}".format)),
}

SINGLE = st.sampled_from([leaf for leaf in leaves() if element(leaf.kind) is None])
"""A setting that is one value."""


def plain(leaf: Leaf) -> st.SearchStrategy[object]:
    """A value that a file may have for a setting."""
    item = element(leaf.kind)
    if item is not None:
        words = ENTRIES.get(item, WORDS)
        return st.lists(words, min_size=1, max_size=3, unique=True)
    if get_origin(leaf.kind) is not None:
        return st.sampled_from(get_args(leaf.kind))
    low, high = _bounds(leaf)
    strategies: dict[Kind, st.SearchStrategy[object]] = {
        bool: st.booleans(),
        str: WORDS,
        int: st.integers(int(low), int(high)),
        float: st.floats(low, high, exclude_min=low == 0),
        Secret: WORDS,
    }
    return strategies[leaf.kind]


def as_text(value: object) -> str:
    """A value as a variable has it."""
    if isinstance(value, list):
        return ",".join(map(as_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _bounds(leaf: Leaf) -> tuple[float, float]:
    metas: tuple[Meta, ...] = bare(leaf.strict)[1]
    low = [float(bound) for meta in metas for bound in (meta.ge, meta.gt) if bound is not None]
    high = [float(meta.le) for meta in metas if meta.le is not None]
    return max(low, default=0.0), min(high, default=1e9)
