"""The settings of routing, retries and breakers, as the fleet takes them."""

from __future__ import annotations

from .config import Settings
from .fleet.breaker import BreakerRules
from .fleet.limits import Retries
from .fleet.policies import Thresholds

__all__ = ["breaker_rules", "retries", "thresholds"]


def thresholds(settings: Settings) -> Thresholds:
    """The numbers by which policies decide."""
    routing = settings.routing
    return Thresholds(
        share=routing.share,
        absolute=routing.absolute,
        relative=routing.relative,
        remembered=routing.remembered,
        bound=routing.bound,
    )


def breaker_rules(settings: Settings) -> BreakerRules:
    """When a breaker opens and closes."""
    breaker = settings.breaker
    return BreakerRules(
        faults=breaker.faults,
        window=breaker.window_seconds,
        share=breaker.share,
        pause=breaker.pause_seconds,
        trials=breaker.trials,
        successes=breaker.successes,
    )


def retries(settings: Settings) -> Retries:
    """How often a request is sent."""
    given = settings.retries
    return Retries(
        attempts=given.attempts,
        base=given.pause_seconds,
        factor=given.factor,
        cap=given.longest_seconds,
        jitter=given.jitter,
    )
