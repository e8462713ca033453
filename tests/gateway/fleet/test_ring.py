from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from dragoman.gateway.fleet.ring import Ring

NAMES = [f"http://127.0.0.1:{port}" for port in range(8000, 8008)]
KEYS = [f"session-{number}" for number in range(400)]

members = st.sets(st.sampled_from(NAMES), min_size=1)


def ring(names: set[str] | list[str]) -> Ring:
    made = Ring()
    for name in names:
        made.join(name)
    return made


def owners(ring: Ring) -> dict[str, str]:
    return {key: next(ring.walk(key)) for key in KEYS}


def test_an_empty_ring_has_nobody() -> None:
    assert list(Ring().walk("key")) == []


def test_the_place_of_a_key_is_the_same_in_every_process() -> None:
    assert list(ring(NAMES[:3]).walk("alice")) == [NAMES[2], NAMES[1], NAMES[0]]


def test_keys_are_spread_over_the_members() -> None:
    shares = Counter(owners(ring(NAMES[:4])).values())
    assert all(50 < share < 150 for share in shares.values())


def test_a_key_may_be_any_text() -> None:
    assert next(ring(["a"]).walk("\ud800")) == "a"


@given(members, st.sampled_from(KEYS))
def test_a_walk_meets_every_member_once(names: set[str], key: str) -> None:
    assert sorted(ring(names).walk(key)) == sorted(names)


@given(members, st.sampled_from(NAMES))
def test_who_joins_gets_keys_and_moves_no_others(names: set[str], name: str) -> None:
    subject = ring(names - {name} or {"other"})
    before = owners(subject)
    subject.join(name)
    subject.join(name)
    assert name in subject
    assert all(owner in (before[key], name) for key, owner in owners(subject).items())


@given(members, st.sampled_from(NAMES))
def test_who_leaves_moves_only_its_own_keys(names: set[str], name: str) -> None:
    subject = ring(names | {name, "other"})
    before = owners(subject)
    subject.leave(name)
    subject.leave(name)
    assert name not in subject
    assert all(owner == before[key] or before[key] == name for key, owner in owners(subject).items())


@given(members)
def test_the_order_of_joining_is_of_no_account(names: set[str]) -> None:
    assert owners(ring(sorted(names))) == owners(ring(sorted(names, reverse=True)))
