from __future__ import annotations

from random import Random

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from dragoman.errors import InvalidConfig, Refused, WorkerFailed
from dragoman.gateway.fleet.breaker import BreakerRules
from dragoman.gateway.fleet.fleet import RETRY_AFTER, Fleet
from dragoman.gateway.fleet.policies import Ask, LeastLoad, PrefixAware, RoundRobin
from dragoman.gateway.fleet.seat import Lease
from dragoman.gateway.workers.worker import Worker

from .crew import Clock, Hand

RULES = BreakerRules(faults=1, pause=7.5, successes=1)
BROKEN = WorkerFailed("a", "broke off")


def fleet(*names: str) -> Fleet:
    made = Fleet(RoundRobin(), now=Clock(), rules=RULES)
    for name in names:
        made.add(Hand(name))
    return made


def refusal(fleet: Fleet, ask: Ask) -> tuple[int, str, str | None, int | None]:
    with pytest.raises(Refused) as caught:
        fleet.lease(ask)
    return caught.value.status, caught.value.code, caught.value.param, caught.value.retry_after


def test_a_request_gets_a_worker_that_serves_its_model() -> None:
    subject = fleet()
    subject.add(Hand("a", "small"))
    subject.add(Hand("b", "large", "small"))
    assert [subject.lease(Ask(model="large")).worker.name for _ in range(2)] == ["b", "b"]
    assert subject.models() == ("large", "small")


def test_a_models_name_is_turned_into_the_workers_own() -> None:
    subject = fleet()
    subject.add(Hand("a"), {"chat": "org/chat-7b", "chat-7b": "org/chat-7b"})
    lease = subject.lease(Ask(model="chat", tokens=30))
    assert (lease.model, lease.seat.load, subject.models()) == ("org/chat-7b", (1, 30), ("chat", "chat-7b"))


def test_a_model_that_nobody_serves_now_may_be_served_later() -> None:
    assert refusal(fleet("a"), Ask(model="other")) == (503, "no_worker_available", None, RETRY_AFTER)


def test_where_nobody_is_well_nobody_is_available() -> None:
    subject = fleet("a")
    subject.seats()[0].is_well = False
    assert refusal(subject, Ask(model="m")) == (503, "no_worker_available", None, RETRY_AFTER)


def test_where_all_breakers_are_open_the_first_to_close_is_waited_for() -> None:
    clock = Clock()
    subject = Fleet(RoundRobin(), now=clock, rules=RULES)
    for name in "ab":
        subject.add(Hand(name))
        subject.lease(Ask(model="m")).failed(BROKEN)
        clock.passes(2)
    assert refusal(subject, Ask(model="m")) == (503, "no_worker_available", None, 4)
    clock.passes(3.5)
    assert subject.lease(Ask(model="m")).worker.name == "a"
    assert refusal(subject, Ask(model="m")) == (503, "no_worker_available", None, 1)


def test_who_was_tried_is_not_tried_again_while_there_are_others() -> None:
    subject = fleet("a", "b", "c")
    tried = frozenset({"a", "c"})
    assert {subject.lease(Ask(model="m", without=tried)).worker.name for _ in range(3)} == {"b"}


def test_who_is_unfit_is_asked_only_where_all_are() -> None:
    subject = fleet("a", "b")
    unfit = frozenset({"a"})
    assert {subject.lease(Ask(model="m", unfit=unfit, without=frozenset({"b"}))).worker.name for _ in range(3)} == {"b"}
    assert subject.lease(Ask(model="m", unfit=frozenset({"a", "b"}))).worker.name in "ab"
    subject.seats()[1].is_well = False
    assert refusal(subject, Ask(model="m", unfit=unfit))[:2] == (503, "no_worker_available")


def test_who_was_tried_is_tried_again_where_there_is_no_other() -> None:
    assert fleet("a").lease(Ask(model="m", without=frozenset("a"))).worker.name == "a"


def test_who_drains_gets_nothing_more_and_leaves_with_its_last_request() -> None:
    left: list[Worker] = []
    subject = Fleet(RoundRobin(), now=Clock(), removed=left.append)
    hand = Hand("a")
    subject.add(hand)
    leases = [subject.lease(Ask(model="m")) for _ in range(2)]
    subject.drain("a")
    assert refusal(subject, Ask(model="m"))[:2] == (503, "no_worker_available")
    leases[0].release()
    assert (left, subject.models()) == ([], ("m",))
    leases[1].release()
    assert (left, subject.seats()) == ([hand], ())
    assert refusal(subject, Ask(model="m"))[:2] == (503, "no_worker_available")


def test_who_has_nothing_to_do_drains_at_once() -> None:
    subject = fleet("a", "b")
    subject.drain("a")
    assert [seat.name for seat in subject.seats()] == ["b"]


def test_who_is_removed_leaves_at_once_and_only_once() -> None:
    left: list[Worker] = []
    subject = Fleet(RoundRobin(), now=Clock(), removed=left.append)
    old, new = Hand("a"), Hand("a")
    subject.add(old)
    lease = subject.lease(Ask(model="m"))
    subject.drain("a")
    subject.remove("a")
    subject.add(new)
    lease.release()
    assert (left, [seat.worker for seat in subject.seats()]) == ([old], [new])


def test_the_policy_forgets_who_has_left() -> None:
    subject = Fleet(PrefixAware(Random(1)), now=Clock())
    ask = Ask(model="m", ids=(1, 2, 3))
    subject.add(Hand("a"))
    subject.lease(ask).release()
    subject.remove("a")
    for name in "ab":
        subject.add(Hand(name))
    subject.seats()[0].lease("m")
    assert subject.lease(ask).worker.name == "b"


def test_two_workers_of_one_name_are_refused() -> None:
    with pytest.raises(InvalidConfig, match="workers should be names that differ, found 'a' twice"):
        fleet("a", "a")


def test_who_is_not_there_cant_leave() -> None:
    subject = fleet("a")
    for leave in (subject.drain, subject.remove):
        with pytest.raises(Refused, match="no worker has the name 'b'") as caught:
            leave("b")
        assert (caught.value.status, caught.value.code) == (404, "worker_not_found")


class FleetMachine(RuleBasedStateMachine):
    """Workers come and go, requests begin and end in any order: what seats count is what leases hold, always."""

    leases = Bundle("leases")

    def __init__(self) -> None:
        super().__init__()
        self.clock, self.left, self.added = Clock(), list[Worker](), list[Worker]()
        self.fleet = Fleet(LeastLoad(Random(1)), now=self.clock, rules=RULES, removed=self.left.append)
        self.held: dict[Lease, int] = {}

    def names(self) -> list[str]:
        return [seat.name for seat in self.fleet.seats()]

    @rule(name=st.sampled_from("abc"))
    def add(self, name: str) -> None:
        if name not in self.names():
            self.added.append(self.fleet.add(Hand(name)).worker)

    @rule(name=st.sampled_from("abc"))
    def drain(self, name: str) -> None:
        if name in self.names():
            self.fleet.drain(name)

    @rule(name=st.sampled_from("abc"))
    def remove(self, name: str) -> None:
        if name in self.names():
            self.fleet.remove(name)

    @rule(target=leases, tokens=st.integers(0, 9))
    def lease(self, tokens: int) -> Lease | None:
        usable = [seat for seat in self.fleet.seats() if seat.is_usable]
        ask = Ask(model="m", tokens=tokens)
        if not usable:
            assert refusal(self.fleet, ask)[0] == 503
            return None
        lease = self.fleet.lease(ask)
        assert lease.seat in usable
        self.held[lease] = tokens
        return lease

    @rule(lease=leases, status=st.sampled_from([None, 400, 500, 503]))
    def fail(self, lease: Lease | None, status: int | None) -> None:
        if lease:
            lease.failed(WorkerFailed("a", "failed", status))

    @rule(lease=leases)
    def succeed(self, lease: Lease | None) -> None:
        if lease:
            lease.succeeded()

    @rule(lease=consumes(leases), times=st.integers(1, 3))
    def release(self, lease: Lease | None, times: int) -> None:
        if lease:
            del self.held[lease]
            for _ in range(times):
                lease.release()

    @rule(seconds=st.sampled_from([1, 8]))
    def wait(self, seconds: int) -> None:
        self.clock.passes(seconds)

    @invariant()
    def what_seats_count_is_what_leases_hold(self) -> None:
        for seat in {*self.fleet.seats(), *(lease.seat for lease in self.held)}:
            tokens = [tokens for lease, tokens in self.held.items() if lease.seat is seat]
            assert seat.load == (len(tokens), sum(tokens))

    @invariant()
    def who_drains_has_something_to_do(self) -> None:
        assert all(seat.requests for seat in self.fleet.seats() if seat.is_draining)

    @invariant()
    def everyone_who_was_added_is_there_or_has_left_once(self) -> None:
        assert sorted(map(id, [seat.worker for seat in self.fleet.seats()] + self.left)) == sorted(map(id, self.added))


TestFleetMachine = FleetMachine.TestCase
