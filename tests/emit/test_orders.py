from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from dragoman.emit.expand import expand
from dragoman.emit.guarantees import Effect
from dragoman.emit.rules import AnyOrder, Expr, Member, Rules, Text, sequence

from .meaning import accepts
from .some_rules import orders, sentences, words


def root(*items: Expr | str) -> Rules:
    return Rules({"root": sequence(*items)})


@given(st.data(), orders(words.map(Text)))
def test_members_come_in_any_order_each_once(data: st.DataObject, order: AnyOrder) -> None:
    rules = root("{", order, "}")
    plain, notes = expand(rules)
    assert not notes
    text = data.draw(sentences(rules))
    assert accepts(plain, text) == accepts(rules, text)


@given(st.data(), orders(words.map(Text), 5), st.integers(0, 2))
def test_more_members_lose_what_the_notes_say(data: st.DataObject, order: AnyOrder, limit: int) -> None:
    rules = root("{", order, "}")
    plain, notes = expand(rules, subset_limit=limit)
    text = data.draw(sentences(rules))
    lost = {note.effect for note in notes}
    if accepts(rules, text) and Effect.NARROWED not in lost:
        assert accepts(plain, text)
    if accepts(plain, text) and Effect.RELAXED not in lost:
        assert accepts(rules, text)


def members(required: str, optional: str = "") -> tuple[Member, ...]:
    return tuple(Member(Text(c), c in required) for c in required + optional)


def test_optional_members_of_many_may_come_again_between_the_required() -> None:
    plain, notes = expand(root(AnyOrder(members("ab", "xyz"), Text(","))), subset_limit=3)
    assert [str(note) for note in notes] == [
        "relaxed: unique at root: more than 3 members, so an optional one may come again"
    ]
    assert all(accepts(plain, text) for text in ("a,b", "b,a", "x,b,y,y,a,z"))
    assert not any(accepts(plain, text) for text in ("", "a", "a,a,b", "a,b,", ",a,b", "ab"))


def test_many_required_members_keep_their_order() -> None:
    plain, notes = expand(root(AnyOrder(members("abc", "x"), Text(","))), subset_limit=1)
    assert [note.what for note in notes] == ["order"]
    assert [",".join(each) for each in permutations("abc") if accepts(plain, ",".join(each))] == ["a,b,c"]


def test_the_rules_of_a_tool_with_twelve_properties_are_few() -> None:
    for required in range(13):
        names = "abcdefghijkl"
        plain, _ = expand(root(AnyOrder(members(names[:required], names[required:]), Text(","))))
        assert len(plain.rules) < 100


def test_required_members_alone_lose_nothing_where_one_more_than_the_limit_is_there() -> None:
    plain, notes = expand(root(AnyOrder(members("abc"), Text(","))), subset_limit=2)
    assert not notes
    assert all(accepts(plain, ",".join(each)) for each in permutations("abc"))


def test_no_members_are_an_empty_object() -> None:
    assert expand(root("{", AnyOrder((), Text(",")), "}"))[0].rules == {"root": Text("{}")}
