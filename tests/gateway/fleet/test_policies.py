from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dragoman.errors import InvalidConfig
from dragoman.gateway.fleet.policies import (
    Ask,
    AtRandom,
    ConsistentHash,
    LeastLoad,
    Policy,
    PowerOfTwo,
    PrefixAware,
    RoundRobin,
    Thresholds,
    policy_named,
)
from dragoman.gateway.fleet.radix import NODE

from .crew import seat, seats

NAMES = ["random", "round_robin", "power_of_two", "least_load", "consistent_hash", "prefix_aware"]
ASK = Ask(model="m")


def chosen(policy: Policy, among: list[int], ask: Ask = ASK, times: int = 1) -> str:
    """The names, one after the other, that are chosen among seats with so many requests."""
    candidates = seats(*among)
    return "".join(policy.choose(candidates, ask).name for _ in range(times))


def prompt(*ids: int, model: str = "m") -> Ask:
    return Ask(model=model, ids=ids)


def test_at_random_everyone_is_as_likely() -> None:
    counts = Counter(chosen(AtRandom(Random(1)), [0, 0, 9], times=900))
    assert all(250 < counts[name] < 350 for name in "abc")


def test_round_robin_takes_turns() -> None:
    assert chosen(RoundRobin(), [0, 9, 0], times=7) == "abcabca"


def test_round_robin_takes_turns_whatever_the_others_do() -> None:
    policy, (a, b, c) = RoundRobin(), seats(0, 0, 0)
    order = [policy.choose(some, ASK).name for some in ([a, b], [c], [a, b], [b, c], [a, c], [a, b])]
    assert order == ["a", "c", "b", "c", "a", "b"]


def test_round_robin_begins_anew_with_a_worker_that_left() -> None:
    policy = RoundRobin()
    assert chosen(policy, [0, 0], times=3) == "aba"
    policy.forget("a")
    policy.forget("never there")
    assert chosen(policy, [0, 0], times=2) == "ab"


def test_least_load_counts_requests_and_then_tokens() -> None:
    policy = LeastLoad(Random(1))
    assert chosen(policy, [3, 1, 2]) == "b"
    assert policy.choose([seat("a", 1, 500), seat("b", 1, 20), seat("c", 2, 0)], ASK).name == "b"


def test_least_load_does_not_always_take_the_first_of_equals() -> None:
    assert set(chosen(LeastLoad(Random(1)), [1, 1, 1], times=20)) == set("abc")


def test_power_of_two_never_takes_the_worst_and_spreads_over_the_others() -> None:
    assert set(chosen(PowerOfTwo(Random(1)), [1, 2, 9], times=50)) == set("ab")


def test_power_of_two_takes_the_only_one_there_is() -> None:
    assert chosen(PowerOfTwo(Random(1)), [5]) == "a"


def test_a_session_stays_where_it_is() -> None:
    policy = ConsistentHash(Random(1))
    for session in map(str, range(50)):
        assert len(set(chosen(policy, [0, 0, 0, 0], Ask(model="m", session=session), times=3))) == 1


def test_sessions_are_spread() -> None:
    policy = ConsistentHash(Random(1))
    counts = Counter(chosen(policy, [0, 0, 0, 0], Ask(model="m", session=str(number))) for number in range(400))
    assert all(50 < counts[name] < 150 for name in "abcd")


def test_who_leaves_moves_only_its_own_sessions() -> None:
    policy, everyone = ConsistentHash(Random(1)), seats(0, 0, 0, 0)
    asks = [Ask(model="m", session=str(number)) for number in range(200)]
    before = [policy.choose(everyone, ask).name for ask in asks]
    policy.forget("b")
    after = [policy.choose([seat for seat in everyone if seat.name != "b"], ask).name for ask in asks]
    assert [(old, new) for old, new in zip(before, after, strict=True) if old not in ("b", new)] == []
    assert [policy.choose(everyone, ask).name for ask in asks] == before


def test_a_request_of_no_session_goes_where_there_is_least_to_do() -> None:
    assert chosen(ConsistentHash(Random(1)), [3, 1, 2]) == "b"


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8), st.text("abc", max_size=3), st.sampled_from([1, 1.25, 2]))
def test_no_session_makes_a_worker_exceed_the_bound(loads: list[int], session: str, bound: float) -> None:
    policy, everyone = ConsistentHash(Random(1), bound), seats(*loads)
    got = policy.choose(everyone, Ask(model="m", session=session))
    assert got.requests + 1 < bound * (sum(loads) + 1) / len(loads) + 1


def test_a_bound_below_the_mean_is_refused() -> None:
    with pytest.raises(InvalidConfig, match=r"policy.bound should be at least 1, found 0.5"):
        Thresholds(bound=0.5)


def test_who_had_the_beginning_of_a_prompt_gets_the_rest() -> None:
    policy = PrefixAware(Random(1))
    first = chosen(policy, [0, 0, 0, 0], prompt(1, 2, 3, 4))
    assert chosen(policy, [0, 0, 0, 0], prompt(1, 2, 3, 4, 5, 6), times=9) == first * 9


def test_texts_count_where_there_are_no_ids() -> None:
    policy = PrefixAware(Random(1))
    first = chosen(policy, [0, 0, 0, 0], Ask(model="m", text="Once upon a time \ud800"))
    assert chosen(policy, [0, 0, 0, 0], Ask(model="m", text="Once upon a time, it rained"), times=9) == first * 9


def test_too_short_a_beginning_does_not_count() -> None:
    policy = PrefixAware(Random(1))
    candidates = seats(1, 0)
    assert policy.choose(candidates[:1], prompt(1, 2)).name == "a"
    assert policy.choose(candidates, prompt(1, 2, 3, 4)).name == "b"
    assert policy.choose(candidates, prompt(1, 2, 3)).name == "b"  # had all of it just now


def test_of_those_who_had_as_much_the_one_with_less_to_do_is_taken() -> None:
    policy, (a, b, c) = PrefixAware(Random(1)), seats(3, 2, 0)
    policy.choose([a], prompt(1, 2, 3, 4))
    policy.choose([b], prompt(1, 2, 3, 5))
    assert policy.choose([a, b, c], prompt(1, 2, 3, 6)) is b


def test_a_queue_that_is_too_long_elsewhere_is_of_no_account() -> None:
    policy, everyone = PrefixAware(Random(1)), seats(5, 90, 0)
    policy.choose(everyone[:1], prompt(1, 2, 3, 4))
    assert policy.choose(everyone, prompt(1, 2, 3, 4)).name == "a"


@pytest.mark.parametrize(
    ("loads", "name"), [([9, 0], "b"), ([8, 0], "a"), ([31, 20], "b"), ([30, 20], "a"), ([4, 0], "a")]
)
def test_a_queue_that_is_too_long_comes_before_the_prefix(loads: list[int], name: str) -> None:
    policy, everyone = PrefixAware(Random(1)), seats(*loads)
    policy.choose(everyone[:1], prompt(1, 2, 3, 4))
    assert policy.choose(everyone, prompt(1, 2, 3, 4)).name == name


def test_the_same_ids_of_another_model_are_another_prompt() -> None:
    policy, everyone = PrefixAware(Random(1)), seats(1, 0)
    policy.choose(everyone[:1], prompt(1, 2, 3, 4))
    assert policy.choose(everyone, prompt(1, 2, 3, 4, model="other")).name == "b"


def test_a_worker_that_left_has_nothing_in_its_cache() -> None:
    policy, everyone = PrefixAware(Random(1)), seats(1, 0)
    policy.choose(everyone[:1], prompt(1, 2, 3, 4))
    policy.choose(everyone[:1], Ask(model="m", text="text"))
    policy.choose(everyone[1:], Ask(model="m", text="other"))
    policy.forget("a")
    assert policy.choose(everyone, prompt(1, 2, 3, 4)).name == "b"


def test_no_more_is_remembered_than_is_allowed() -> None:
    policy, everyone = PrefixAware(Random(1), Thresholds(remembered=NODE)), seats(1, 0)
    policy.choose(everyone[:1], prompt(*range(100)))
    for start in range(1, 9):
        policy.choose(everyone[1:], prompt(*range(start, 100)))
    assert policy.choose(everyone, prompt(*range(100))).name == "b"


@pytest.mark.parametrize("ask", [ASK, prompt(-1), prompt(1 << 40)], ids=["none", "negative", "huge"])
def test_a_prompt_that_is_not_known_goes_where_there_is_least_to_do(ask: Ask) -> None:
    assert chosen(PrefixAware(Random(1)), [3, 1, 2], ask) == "b"


@pytest.mark.parametrize("ask", [prompt(), Ask(model="m", text="")], ids=["ids", "text"])
def test_an_empty_prompt_goes_where_there_is_least_to_do(ask: Ask) -> None:
    assert chosen(PrefixAware(Random(1)), [3, 1, 2], ask, times=3) == "bbb"


asks = st.builds(
    Ask,
    model=st.sampled_from("mn"),
    ids=st.none() | st.lists(st.integers(0, 3), max_size=6),
    text=st.none() | st.text("aé\ud800", max_size=6),
    session=st.none() | st.text("abc", max_size=2),
)


@pytest.mark.parametrize("name", NAMES)
@given(loads=st.lists(st.integers(0, 60), min_size=1, max_size=6), some=st.lists(asks, max_size=6), data=st.data())
def test_every_policy_chooses_one_of_those_it_is_given(
    name: str, loads: list[int], some: list[Ask], data: st.DataObject
) -> None:
    policy, everyone = policy_named(name, Random(1)), seats(*loads)
    for ask in some:
        given = data.draw(st.lists(st.sampled_from(everyone), min_size=1, unique_by=id))
        assert policy.choose(given, ask) in given
        policy.forget(data.draw(st.sampled_from("abcxyz")))


def test_an_unknown_policy_is_refused_by_name() -> None:
    with pytest.raises(InvalidConfig, match=r"policy should be random, .* or prefix_aware, found 'luck'"):
        policy_named("luck", Random(1))
