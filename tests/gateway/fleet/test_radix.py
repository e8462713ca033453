from __future__ import annotations

from array import array
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.gateway.fleet.radix import NODE, Match, RadixTree, _Node

ALL = frozenset("abc")
ROOMY = 1 << 30


def packed(*ids: int) -> bytes:
    return array("I", ids).tobytes()


def tree(**prompts: str) -> RadixTree:
    """Of texts, by the worker that they were given to."""
    made = RadixTree(1, ROOMY)
    for name, text in prompts.items():
        made.insert(text.encode(), name)
    return made


def test_an_empty_tree_knows_nothing() -> None:
    assert RadixTree(4, ROOMY).find(packed(1, 2), ALL) == Match(0, frozenset())


def test_the_longest_beginning_wins() -> None:
    assert tree(a="hello world", b="hello there").find(b"hello town", ALL) == Match(7, frozenset("b"))


def test_all_who_were_given_as_much_are_named() -> None:
    assert tree(a="hello world", b="hello there").find(b"hello!", ALL) == Match(5, frozenset("ab"))


def test_only_those_that_are_asked_for_are_named() -> None:
    assert tree(a="hello world", b="hello there").find(b"hello there", frozenset("a")) == Match(6, frozenset("a"))
    assert tree(a="hello").find(b"hello", frozenset("b")) == Match(0, frozenset())


def test_ids_that_share_bytes_only_share_nothing() -> None:
    subject = RadixTree(4, ROOMY)
    subject.insert(packed(0x01020304, 7), "a")
    assert subject.find(packed(0x99020304, 7), ALL).length == 0
    assert subject.find(packed(0x01020304, 0x107), ALL).length == 1


def test_a_prompt_that_goes_on_needs_no_more_than_one_node_more() -> None:
    subject = tree(a="question")
    subject.insert(b"question answer", "a")
    assert len(subject) == 2
    assert subject.weight == len(b"question answer") + 2 * NODE


def test_who_is_forgotten_has_no_marks_and_leaves_no_nodes() -> None:
    subject = tree(a="hello world", b="hello there")
    subject.forget("a")
    assert subject.find(b"hello world", ALL) == Match(6, frozenset("b"))
    subject.forget("b")
    assert (len(subject), subject.weight) == (0, 0)


def test_the_longest_unused_is_forgotten_first() -> None:
    subject = RadixTree(1, 3 * (NODE + 10))
    for text in (b"x" * 10, b"y" * 10, b"z" * 10, b"x" * 10, b"w" * 10):
        subject.insert(text, "a")
    assert [subject.find(text * 10, ALL).length for text in (b"w", b"x", b"y", b"z")] == [10, 10, 0, 10]


def test_a_beginning_that_others_go_on_from_is_not_forgotten_before_them() -> None:
    subject = RadixTree(1, 4 * NODE)
    for end in range(20):
        subject.insert(b"system prompt %d" % end, "a")
    assert subject.find(b"system prompt 19", ALL).length == 16
    assert subject.find(b"system prompt 3", ALL).length == 14


@pytest.mark.parametrize("limit", [0, NODE, NODE + 10])
def test_a_prompt_that_is_too_long_is_cut(limit: int) -> None:
    subject = RadixTree(4, limit)
    subject.insert(packed(*range(100)), "a")
    assert subject.weight <= limit
    assert subject.find(packed(*range(100)), ALL).length == max(0, limit - NODE) // 4


# Few different tokens, so that prompts share beginnings; some ids differ only in their high bytes.
prompts = st.lists(st.sampled_from([1, 2, 0x101, 0x10002]), max_size=12).map(lambda ids: packed(*ids))
steps = st.lists(st.tuples(prompts, st.sampled_from("abc")) | st.sampled_from("abc"), max_size=30)


def replay(subject: RadixTree, steps: list[tuple[bytes, str] | str]) -> list[tuple[bytes, str]]:
    """Do it all with the tree; returns what a list would hold that forgets nothing by itself."""
    held: list[tuple[bytes, str]] = []
    for step in steps:
        if isinstance(step, str):
            subject.forget(step)
            held = [(key, name) for key, name in held if name != step]
        else:
            subject.insert(*step)
            held.append(step)
    return held


def naive(held: list[tuple[bytes, str]], key: bytes, names: frozenset[str]) -> Match:
    def common(other: bytes) -> int:
        return next(n for n in count() if n * 4 >= min(len(key), len(other)) or key[n * 4 :][:4] != other[n * 4 :][:4])

    lengths = {name: max(common(other) for other, by in held if by == name) for name in names & {by for _, by in held}}
    longest = max(lengths.values(), default=0)
    return Match(longest, frozenset(name for name, n in lengths.items() if n == longest if longest))


def check(subject: RadixTree) -> None:
    """The tree's own promises: its weight, its two orders, its units."""
    place = {node: at for at, node in enumerate(subject._order)}

    def walk(node: _Node) -> int:
        weight = 0
        for first, child in node.children.items():
            assert child.parent is node
            assert child.edge[:4] == first
            assert len(child.edge) % 4 == 0
            assert child.marks
            if node is not subject._root:
                assert child.marks <= node.marks
                assert place[child] < place[node]
            weight += len(child.edge) + NODE + walk(child)
        return weight

    assert walk(subject._root) == subject.weight <= subject.limit


@given(steps, prompts, st.frozensets(st.sampled_from("abc")))
def test_it_finds_what_a_list_of_all_prompts_would(
    steps: list[tuple[bytes, str] | str], key: bytes, names: frozenset[str]
) -> None:
    subject = RadixTree(4, ROOMY)
    held = replay(subject, steps)
    check(subject)
    assert subject.find(key, names) == naive(held, key, names)


@given(steps, prompts, st.integers(0, 8))
def test_what_is_bounded_knows_less_but_nothing_wrong(
    steps: list[tuple[bytes, str] | str], key: bytes, nodes: int
) -> None:
    subject = RadixTree(4, nodes * (NODE + 8))
    held = replay(subject, steps)
    check(subject)
    for name in ALL:
        assert subject.find(key, frozenset(name)).length <= naive(held, key, frozenset(name)).length
