from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from dragoman.errors import InvalidConfig
from dragoman.gateway.fleet.breaker import Breaker, BreakerRules, BreakerState, Verdict

from .crew import Clock

RULES = BreakerRules(faults=3, window=10, share=0, pause=5, trials=2, successes=2)


def breaker(**changes: float) -> tuple[Breaker, Clock]:
    clock = Clock()
    fields = {name: getattr(RULES, name) for name in RULES.__struct_fields__}
    return Breaker(BreakerRules(**{**fields, **changes}), clock), clock


def report(breaker: Breaker, *verdicts: Verdict) -> None:
    for verdict in verdicts:
        breaker.settle(breaker.begin(), verdict)


SUCCESS, FAULT, NOTHING = Verdict


def test_it_is_closed_at_first() -> None:
    subject, _ = breaker()
    assert (subject.state, subject.lets_through, subject.wait) == (BreakerState.CLOSED, True, 0)


def test_it_opens_with_the_last_of_so_many_faults() -> None:
    subject, _ = breaker()
    report(subject, FAULT, FAULT)
    assert subject.lets_through
    report(subject, FAULT)
    assert (subject.state, subject.lets_through, subject.wait) == (BreakerState.OPEN, False, 5)


def test_faults_that_are_far_apart_do_not_open_it() -> None:
    subject, clock = breaker()
    for _ in range(10):
        report(subject, FAULT)
        clock.passes(6)
    assert subject.state is BreakerState.CLOSED


def test_what_tells_nothing_does_not_open_it() -> None:
    subject, _ = breaker()
    report(subject, *[NOTHING] * 10)
    assert subject.state is BreakerState.CLOSED


def test_a_few_faults_among_many_successes_do_not_open_it() -> None:
    subject, _ = breaker(share=0.2)
    for _ in range(20):
        report(subject, *[SUCCESS] * 7, FAULT)
    assert subject.state is BreakerState.CLOSED


def test_many_faults_among_successes_open_it() -> None:
    subject, _ = breaker(share=0.2)
    report(subject, *[SUCCESS] * 100, FAULT, *[SUCCESS] * 5, FAULT, *[SUCCESS] * 5, FAULT)
    assert subject.state is BreakerState.OPEN


def test_after_the_pause_it_lets_a_few_trials_through() -> None:
    subject, clock = breaker()
    report(subject, FAULT, FAULT, FAULT)
    clock.passes(5)
    assert (subject.state, subject.wait) == (BreakerState.HALF_OPEN, 0)
    first = subject.begin()
    subject.begin()
    assert not subject.lets_through
    subject.settle(first, NOTHING)
    assert subject.lets_through


def test_it_closes_with_the_last_of_so_many_successes() -> None:
    subject, clock = breaker()
    report(subject, FAULT, FAULT, FAULT)
    clock.passes(5)
    report(subject, SUCCESS, NOTHING)
    assert subject.state is BreakerState.HALF_OPEN
    report(subject, SUCCESS)
    assert subject.state is BreakerState.CLOSED


def test_a_trial_that_fails_opens_it_again() -> None:
    subject, clock = breaker()
    report(subject, FAULT, FAULT, FAULT)
    clock.passes(5)
    report(subject, SUCCESS, FAULT)
    assert (subject.state, subject.wait) == (BreakerState.OPEN, 5)


def test_a_request_from_before_it_opened_tells_nothing_any_more() -> None:
    subject, clock = breaker()
    old = [subject.begin(), subject.begin()]
    report(subject, FAULT, FAULT, FAULT)
    clock.passes(5)
    subject.settle(old[0], FAULT)
    assert subject.state is BreakerState.HALF_OPEN
    subject.settle(old[1], SUCCESS)
    report(subject, SUCCESS)
    assert subject.state is BreakerState.HALF_OPEN


def test_a_request_that_is_sent_in_spite_of_it_counts_for_nothing() -> None:
    subject, _ = breaker()
    report(subject, FAULT, FAULT, FAULT, SUCCESS, SUCCESS, FAULT)
    assert subject.wait == 5


@pytest.mark.parametrize("name", ["faults", "trials", "successes"])
def test_a_breaker_that_could_never_open_or_close_is_refused(name: str) -> None:
    with pytest.raises(InvalidConfig, match=f"breaker.{name} should be at least 1, found 0"):
        BreakerRules(**{name: 0})


class BreakerMachine(RuleBasedStateMachine):
    """Beside a model that keeps everything and looks at all of it each time."""

    tickets = Bundle("tickets")

    def __init__(self) -> None:
        super().__init__()
        self.breaker, self.clock = breaker()
        self.state, self.since, self.faults, self.good, self.trials = BreakerState.CLOSED, 0.0, list[float](), 0, 0
        self.turns = 0

    def turn(self, state: BreakerState) -> None:
        self.state, self.since, self.faults, self.good, self.trials = state, self.clock(), [], 0, 0
        self.turns += 1

    @rule(seconds=st.sampled_from([0.5, 2.0, 5.0, 11.0]))
    def wait(self, seconds: float) -> None:
        self.clock.passes(seconds)
        if self.state is BreakerState.OPEN and self.clock() - self.since >= RULES.pause:
            self.state = BreakerState.HALF_OPEN

    @rule(target=tickets)
    def begin(self) -> tuple[int, int | None]:
        let = self.breaker.lets_through
        if let and self.state is BreakerState.HALF_OPEN:
            self.trials += 1
        return self.breaker.begin(), self.turns if let else None

    @rule(pair=consumes(tickets), verdict=st.sampled_from(Verdict))
    def settle(self, pair: tuple[int, int | None], verdict: Verdict) -> None:
        ticket, turns = pair
        self.breaker.settle(ticket, verdict)
        if turns != self.turns:
            return
        if self.state is BreakerState.HALF_OPEN:
            self.trials -= 1
            self.good += verdict is SUCCESS
            if verdict is FAULT:
                self.turn(BreakerState.OPEN)
            elif self.good == RULES.successes:
                self.turn(BreakerState.CLOSED)
        elif verdict is FAULT:
            self.faults.append(self.clock())
            if sum(self.clock() - time <= RULES.window for time in self.faults) >= RULES.faults:
                self.turn(BreakerState.OPEN)

    @invariant()
    def it_agrees_with_the_model(self) -> None:
        assert self.breaker.state is self.state
        free = self.state is BreakerState.HALF_OPEN and self.trials < RULES.trials
        assert self.breaker.lets_through == (self.state is BreakerState.CLOSED or free)
        assert 0 <= self.trials <= RULES.trials


TestBreakerMachine = BreakerMachine.TestCase
