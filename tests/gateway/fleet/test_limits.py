from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from dragoman.errors import InvalidConfig, Refused, WorkerFailed
from dragoman.gateway.fleet.limits import RETRY_AFTER, Gate, Outputs, Retries, is_retryable

LONG = 3600.0


class Visitor:
    """One that goes through the gate and stays until told to leave."""

    def __init__(self, gate: Gate, arrivals: list[Visitor]) -> None:
        self._gate, self._arrivals = gate, arrivals
        self._may_leave = asyncio.Event()
        self.is_in = False
        self.task = asyncio.create_task(self._go())

    async def _go(self) -> None:
        async with self._gate:
            self.is_in = True
            self._arrivals.append(self)
            try:
                await self._may_leave.wait()
            finally:
                self.is_in = False

    def leave(self) -> None:
        self._may_leave.set()

    @property
    def refusal(self) -> str | None:
        error = self.task.exception() if self.task.done() and not self.task.cancelled() else None
        return error.code if isinstance(error, Refused) else None


async def settle() -> None:
    """Let everything happen that can: a step or two for each that goes, one after the other."""
    for _ in range(20):
        await asyncio.sleep(0)


def scene(concurrent: int, queue: int, patience: float, play: Callable[[Gate, list[Visitor]], Awaitable[None]]) -> None:
    """Play with a gate, and see it empty at the end, whoever is left being sent away."""

    async def go() -> None:
        gate, visitors = Gate(concurrent, queue, patience), list[Visitor]()
        await play(gate, visitors)
        for visitor in visitors:
            visitor.task.cancel()
        await asyncio.gather(*(visitor.task for visitor in visitors), return_exceptions=True)
        assert (gate.inside, gate.waiting) == (0, 0)

    asyncio.run(go())


def test_so_many_are_let_in_and_so_many_wait() -> None:
    async def play(gate: Gate, visitors: list[Visitor]) -> None:
        visitors += [Visitor(gate, []) for _ in range(5)]
        await settle()
        assert (gate.inside, gate.waiting) == (2, 3)
        assert [visitor.is_in for visitor in visitors] == [True, True, False, False, False]

    scene(2, 3, LONG, play)


def test_one_too_many_is_refused_at_once() -> None:
    async def play(gate: Gate, visitors: list[Visitor]) -> None:
        visitors += [Visitor(gate, []) for _ in range(2)]
        await settle()
        with pytest.raises(Refused, match="too many requests: 1 are served and 1 wait") as caught:
            await gate.__aenter__()
        assert (caught.value.status, caught.value.code, caught.value.retry_after) == (429, "queue_full", RETRY_AFTER)

    scene(1, 1, LONG, play)


def test_who_waits_too_long_is_refused() -> None:
    async def play(gate: Gate, visitors: list[Visitor]) -> None:
        visitors.append(Visitor(gate, []))
        await settle()
        with pytest.raises(Refused, match="none ended within 0 seconds of waiting") as caught:
            await gate.__aenter__()
        assert (caught.value.status, caught.value.code, caught.value.retry_after) == (429, "queue_timeout", RETRY_AFTER)

    scene(1, 1, 0, play)


def test_who_came_first_goes_in_first() -> None:
    async def play(gate: Gate, visitors: list[Visitor]) -> None:
        arrivals: list[Visitor] = []
        visitors += [Visitor(gate, arrivals) for _ in range(6)]
        for visitor in visitors:
            await settle()
            visitor.leave()
        await settle()
        assert arrivals == visitors

    scene(1, 5, LONG, play)


def test_one_that_comes_just_as_one_leaves_does_not_overtake() -> None:
    async def play(gate: Gate, visitors: list[Visitor]) -> None:
        arrivals: list[Visitor] = []
        visitors += [Visitor(gate, arrivals) for _ in range(2)]
        await settle()
        visitors[0].leave()
        visitors.append(Visitor(gate, arrivals))
        await settle()
        assert arrivals == visitors[:2]

    scene(1, 5, LONG, play)


def test_a_waiter_that_is_cancelled_leaves_its_place_in_the_queue() -> None:
    async def play(gate: Gate, visitors: list[Visitor]) -> None:
        visitors += [Visitor(gate, []) for _ in range(3)]
        await settle()
        visitors[1].task.cancel()
        await settle()
        assert (gate.inside, gate.waiting) == (1, 1)
        visitors[0].leave()
        await settle()
        assert visitors[2].is_in

    scene(1, 2, LONG, play)


def test_a_turn_that_comes_to_one_that_is_just_cancelled_goes_to_the_next() -> None:
    async def play(gate: Gate, visitors: list[Visitor]) -> None:
        visitors += [Visitor(gate, []) for _ in range(3)]
        await settle()
        visitors[0].leave()
        await asyncio.sleep(0)
        assert (gate.inside, gate.waiting, visitors[1].is_in) == (1, 1, False)  # its turn has come, and it is not told
        visitors[1].task.cancel()
        await settle()
        assert visitors[2].is_in

    scene(1, 2, LONG, play)


def test_a_waiter_cancelled_before_its_turn_comes_is_passed_over() -> None:
    async def play(gate: Gate, visitors: list[Visitor]) -> None:
        visitors += [Visitor(gate, []) for _ in range(3)]
        await settle()
        visitors[0].leave()
        visitors[1].task.cancel()  # wakes up only after the first has left
        await settle()
        assert visitors[2].is_in

    scene(1, 2, LONG, play)


def test_what_fails_inside_gives_its_place_back() -> None:
    async def go() -> None:
        gate = Gate(1, 0, LONG)
        with pytest.raises(KeyError):
            async with gate:
                raise KeyError
        async with gate:
            assert gate.inside == 1

    asyncio.run(go())


def test_a_gate_that_nobody_could_pass_is_refused() -> None:
    with pytest.raises(InvalidConfig, match="concurrent should be at least 1, found 0"):
        Gate(0, 1, 1)


class GateMachine(RuleBasedStateMachine):
    """Visitors come, leave and are cancelled, several in one step of the loop: no place is lost, nobody overtakes."""

    concurrent, queue = 2, 3

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.gate, self.visitors = Gate(self.concurrent, self.queue, LONG), list[Visitor]()

    async def _come(self) -> None:
        self.visitors.append(Visitor(self.gate, []))

    @rule()
    def come(self) -> None:
        self.loop.run_until_complete(self._come())

    @rule(data=st.data(), cancelled=st.booleans(), both=st.booleans())
    def go(self, data: st.DataObject, cancelled: bool, both: bool) -> None:
        """No loop in between: what happens to several at once happens at the same moment."""
        for _ in range(1 + both):
            if self.visitors:
                visitor = data.draw(st.sampled_from(self.visitors))
                if cancelled:
                    visitor.task.cancel()
                visitor.leave()

    @rule()
    def settle(self) -> None:
        self.loop.run_until_complete(settle())
        assert {visitor.refusal for visitor in self.visitors} <= {None, "queue_full"}
        self.visitors = [visitor for visitor in self.visitors if not visitor.task.done()]
        inside = [visitor for visitor in self.visitors if visitor.is_in]
        assert (self.gate.inside, self.gate.waiting) == (len(inside), len(self.visitors) - len(inside))
        assert inside == self.visitors[: self.concurrent]

    @invariant()
    def no_more_than_allowed(self) -> None:
        assert 0 <= sum(visitor.is_in for visitor in self.visitors) <= self.gate.inside <= self.concurrent
        assert self.gate.waiting <= self.queue

    def teardown(self) -> None:
        for visitor in self.visitors:
            visitor.task.cancel()
        self.loop.run_until_complete(settle())
        refusals = {visitor.refusal for visitor in self.visitors}
        self.loop.close()
        assert refusals <= {None, "queue_full"}
        assert (self.gate.inside, self.gate.waiting) == (0, 0)


TestGateMachine = GateMachine.TestCase


def test_pauses_grow_up_to_a_cap() -> None:
    retries = Retries(base=1, factor=2, cap=5, jitter=0)
    assert [retries.pause(attempt, Random(1)) for attempt in (1, 2, 3, 4, 1_000_000)] == [1, 2, 4, 5, 5]


@given(st.integers(1, 50), st.integers())
def test_a_pause_is_never_off_by_more_than_its_jitter(attempt: int, seed: int) -> None:
    random = Random(seed)
    exact = Retries(jitter=0).pause(attempt, random)
    assert 0.8 * exact <= Retries(jitter=0.2).pause(attempt, random) <= 1.2 * exact


@pytest.mark.parametrize("status", [None, 408, 429, 500, 502, 503, 504])
def test_what_may_pass_is_tried_again(status: int | None) -> None:
    assert is_retryable(WorkerFailed("a", "no", status))


@pytest.mark.parametrize("status", [400, 401, 404, 422, 501])
def test_what_will_not_pass_is_not(status: int) -> None:
    assert not is_retryable(WorkerFailed("a", "no", status))


def test_who_wants_several_outputs_takes_as_many_places() -> None:
    async def run() -> None:
        gate = Gate(3, 8, LONG)
        async with gate:
            with Outputs(gate) as places:
                places.count(5)
                assert gate.inside == 5
                later = [Visitor(gate, []) for _ in range(4)]
                await settle()
                assert not any(visitor.is_in for visitor in later)
        await settle()
        assert [visitor.is_in for visitor in later] == [True, True, True, False]
        assert gate.inside == 3
        for visitor in later:
            visitor.leave()
            await settle()
        assert (gate.inside, gate.waiting) == (0, 0)

    asyncio.run(run())
