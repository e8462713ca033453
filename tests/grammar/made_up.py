"""Grammars of a few nodes, and texts that they may match."""

from __future__ import annotations

from hypothesis import strategies as st

from dragoman.grammar import build as b
from dragoman.grammar.nodes import Node

__all__ = ["GRAMMARS", "LEAVES", "RULE", "TEXTS"]

WORDS = ("a", "b", "ab", "ba", "aa", "<a", "<ab>", "(", ")", '"a"')
LEAVES = st.one_of(
    st.sampled_from(WORDS).map(b.literal),
    st.builds(b.chars, st.sampled_from(("a", "ab", "^b", "a-b")), st.integers(0, 2), st.sampled_from((None, 2, 3))),
    st.sampled_from((b.any(), b.end(), b.json(), b.json_string(), b.ref("r"))),
    st.sampled_from((("b",), ("<a", "ba"), ("\nb", "b"))).flatmap(
        lambda words: st.integers(0, 1).map(lambda low: b.until(*words, low=low))
    ),
)


def deeper(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        some.map(lambda items: b.sequence(*items)),
        some.map(lambda items: b.choice(*items)),
        inner.map(b.optional),
        inner.map(b.zero_or_more),
        inner.map(b.one_or_more),
        inner.map(lambda item: b.repeat(item, 1, 2)),
        inner.map(b.peek),
        inner.map(b.negate),
        st.tuples(st.sampled_from("xy"), inner).map(lambda pair: b.tag(*pair)),
    )


# The rule reads a bracket before it calls itself, so no grammar made of these is left-recursive.
RULE = b.rule("r", "(" + b.optional(b.ref("r")) + ")" | b.literal("a"))
GRAMMARS = st.recursive(LEAVES, deeper, max_leaves=8)
TEXTS = st.lists(st.sampled_from((*WORDS, "<", ">", "\n", '"', "1", "c", "[1]")), max_size=8).map("".join)
