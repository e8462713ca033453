"""The fleet's rules are those of the settings, and by default those that the fleet has anyway."""

from __future__ import annotations

from dragoman.gateway.config import Breaker, Retries, Routing, Settings
from dragoman.gateway.fleet.breaker import RULES, BreakerRules
from dragoman.gateway.fleet.limits import Retries as FleetRetries
from dragoman.gateway.fleet.policies import THRESHOLDS, Thresholds
from dragoman.gateway.rules import breaker_rules, retries, thresholds


def test_the_defaults_of_both_are_the_same() -> None:
    settings = Settings()
    assert (thresholds(settings), breaker_rules(settings), retries(settings)) == (THRESHOLDS, RULES, FleetRetries())


def test_every_number_arrives() -> None:
    settings = Settings(
        routing=Routing(share=0.5, absolute=1, relative=2.0, remembered=3, bound=4.0),
        breaker=Breaker(faults=1, window_seconds=2.0, share=0.3, pause_seconds=4.0, trials=5, successes=6),
        retries=Retries(attempts=1, pause_seconds=2.0, factor=3.0, longest_seconds=4.0, jitter=0.5),
    )
    assert thresholds(settings) == Thresholds(share=0.5, absolute=1, relative=2.0, remembered=3, bound=4.0)
    assert breaker_rules(settings) == BreakerRules(faults=1, window=2.0, share=0.3, pause=4.0, trials=5, successes=6)
    assert retries(settings) == FleetRetries(attempts=1, base=2.0, factor=3.0, cap=4.0, jitter=0.5)
