from __future__ import annotations

import asyncio

import pytest

from dragoman.gateway.fleet.fleet import Fleet
from dragoman.gateway.fleet.health import HealthCheck
from dragoman.gateway.fleet.policies import RoundRobin

from .crew import Clock, Hand


class Mute(Hand):
    """Never answers; counts how many questions are open."""

    open = 0

    async def is_well(self) -> bool:
        self.open += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.open -= 1
        return True


class Rude(Hand):
    async def is_well(self) -> bool:
        raise OSError("connection reset")


def fleet(*hands: Hand) -> Fleet:
    made = Fleet(RoundRobin(), now=Clock())
    for hand in hands:
        made.add(hand)
    return made


def health(fleet: Fleet) -> list[bool]:
    return [seat.is_well for seat in fleet.seats()]


def after(check: HealthCheck, rounds: int = 1) -> None:
    async def go() -> None:
        for _ in range(rounds):
            await check.check()

    asyncio.run(go())


def test_a_few_bad_answers_in_a_row_make_a_worker_unwell() -> None:
    hands = [Hand("a"), Hand("b")]
    subject = fleet(*hands)
    check = HealthCheck(subject, fails=3)
    hands[0].well = False
    after(check, 2)
    assert health(subject) == [True, True]
    after(check)
    assert health(subject) == [False, True]


def test_a_good_answer_in_between_makes_it_begin_anew() -> None:
    hand = Hand("a")
    subject = fleet(hand)
    check = HealthCheck(subject, fails=2)
    for hand.well in (False, True, False, True, False):
        after(check)
        assert health(subject) == [True]


def test_a_worker_that_is_restarted_comes_back() -> None:
    hand = Hand("a")
    subject = fleet(hand)
    check = HealthCheck(subject, fails=1, passes=2)
    seen = []
    for hand.well in (False, True, False, True, True, True):
        after(check)
        seen += health(subject)
    assert seen == [False, False, False, False, True, True]


def test_no_answer_in_time_is_a_bad_one() -> None:
    mute = Mute("a")
    subject = fleet(mute, Hand("b"))
    after(HealthCheck(subject, fails=1, timeout=0))
    assert (health(subject), mute.open) == ([False, True], 0)


def test_a_worker_that_raises_is_unwell_and_harms_no_other() -> None:
    subject = fleet(Rude("a"), Hand("b"))
    after(HealthCheck(subject, fails=1))
    assert health(subject) == [False, True]


def test_all_are_asked_at_once() -> None:
    subject = fleet(*(Mute(str(number)) for number in range(50)))

    async def go() -> None:
        async with asyncio.timeout(20):
            await HealthCheck(subject, fails=1, timeout=0.5).check()

    asyncio.run(go())
    assert health(subject) == [False] * 50


def test_a_worker_that_left_has_no_streak_any_more() -> None:
    hand = Hand("a")
    subject = fleet(hand)
    check = HealthCheck(subject, fails=2)
    hand.well = False
    after(check)
    subject.remove("a")
    subject.add(hand)
    after(check)
    assert health(subject) == [True]


def test_an_empty_fleet_can_be_asked() -> None:
    after(HealthCheck(fleet()))


def test_it_asks_again_and_again_and_rests_in_between() -> None:
    hand = Hand("a")
    subject = fleet(hand)
    rests: list[float] = []
    enough = asyncio.Event()

    async def rest(seconds: float) -> None:
        rests.append(seconds)
        hand.well = len(rests) >= 3
        if len(rests) == 6:
            enough.set()
        await asyncio.sleep(0)

    async def go() -> None:
        async with HealthCheck(subject, every=30, fails=2, passes=2, sleep=rest):
            await asyncio.wait_for(enough.wait(), 20)

    asyncio.run(go())
    assert rests[:6] == [30.0] * 6
    assert health(subject) == [True]


def test_it_leaves_no_task_behind_even_in_the_middle_of_a_question() -> None:
    mute = Mute("a")

    async def go() -> set[asyncio.Task[None]]:
        async with HealthCheck(fleet(mute), timeout=60):
            while not mute.open:
                await asyncio.sleep(0)
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(go()) == set()
    assert mute.open == 0


def test_a_check_that_broke_says_so_at_the_end() -> None:
    async def broken(_: float) -> None:
        raise RuntimeError("no clock")

    async def go() -> None:
        async with HealthCheck(fleet(), sleep=broken):
            await asyncio.sleep(0.01)

    with pytest.raises(RuntimeError, match="no clock"):
        asyncio.run(go())
