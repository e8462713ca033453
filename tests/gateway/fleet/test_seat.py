from __future__ import annotations

import pytest

from dragoman.errors import WorkerFailed
from dragoman.gateway.fleet.breaker import Breaker, BreakerRules, BreakerState
from dragoman.gateway.fleet.seat import Seat

from .crew import Clock, Hand

ONCE = BreakerRules(faults=1)


def seat(vacated: list[Seat] | None = None) -> Seat:
    told = vacated.append if vacated is not None else None
    return Seat(Hand("a"), {"fast": "org/fast-7b"}, Breaker(ONCE, Clock()), told)


def test_a_lease_counts_as_long_as_it_is_held() -> None:
    subject = seat()
    lease = subject.lease("fast", 100)
    assert subject.load == (1, 100)
    lease.release()
    assert subject.load == (0, 0)


def test_a_lease_is_released_once_only() -> None:
    subject = seat()
    subject.lease("fast", 5)
    lease = subject.lease("fast", 100)
    lease.release()
    lease.release()
    assert subject.load == (1, 5)


def test_a_lease_knows_the_worker_and_its_own_name_of_the_model() -> None:
    subject = seat()
    lease = subject.lease("fast")
    assert (lease.worker, lease.model) == (subject.worker, "org/fast-7b")


def test_a_block_releases_its_lease_whatever_happens() -> None:
    subject = seat()
    with pytest.raises(KeyError), subject.lease("fast", 7):
        raise KeyError
    assert subject.load == (0, 0)
    assert subject.is_usable


def test_a_failure_that_leaves_the_block_is_reported() -> None:
    subject = seat()
    with pytest.raises(WorkerFailed), subject.lease("fast"):
        raise WorkerFailed("a", "broke off")
    assert subject.breaker.state is BreakerState.OPEN


@pytest.mark.parametrize("status", [400, 404, 422, 429, 503])
def test_what_a_worker_refuses_is_not_its_fault(status: int) -> None:
    subject = seat()
    with subject.lease("fast") as lease:
        lease.failed(WorkerFailed("a", "no", status))
    assert subject.is_usable


@pytest.mark.parametrize("status", [None, 500, 502, 504])
def test_what_a_worker_fails_at_is(status: int | None) -> None:
    subject = seat()
    with subject.lease("fast") as lease:
        lease.failed(WorkerFailed("a", "broke", status))
    assert not subject.is_usable


def test_of_several_reports_the_first_counts() -> None:
    subject = seat()
    with subject.lease("fast") as lease:
        lease.succeeded()
        lease.failed(WorkerFailed("a", "broke off"))
    assert subject.is_usable


def test_a_report_after_the_release_does_not_count() -> None:
    subject = seat()
    lease = subject.lease("fast")
    lease.release()
    lease.failed(WorkerFailed("a", "broke off"))
    assert subject.is_usable


def test_a_trial_ends_with_its_report_though_the_lease_goes_on() -> None:
    clock = Clock()
    subject = Seat(Hand("a"), {"m": "m"}, Breaker(BreakerRules(faults=1, pause=1, successes=2), clock))
    subject.lease("m").failed(WorkerFailed("a", "broke off"))
    clock.passes(1)
    trial = subject.lease("m")
    assert not subject.is_usable
    trial.succeeded()
    assert subject.is_usable


def test_who_is_unwell_or_draining_is_not_usable() -> None:
    subject = seat()
    subject.is_well = False
    assert not subject.is_usable
    subject.is_well, subject.is_draining = True, True
    assert not subject.is_usable


def test_it_is_told_when_nothing_is_left_to_do() -> None:
    told: list[Seat] = []
    subject = seat(told)
    first, second = subject.lease("fast"), subject.lease("fast")
    first.release()
    assert told == []
    second.release()
    second.release()
    assert told == [subject]


def test_it_is_shown_with_what_it_has_to_do() -> None:
    subject = seat()
    subject.lease("fast")
    assert repr(subject) == "<Seat a: 1 requests, closed>"
