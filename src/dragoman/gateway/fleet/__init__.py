"""Which worker gets a request, and whether it may: seats and leases, policies, breakers, health, limits and keys.

Clocks, chance and workers are passed in; nothing here knows a protocol or opens a connection.
"""

from .breaker import Breaker, BreakerRules, BreakerState
from .fleet import Fleet
from .health import HealthCheck
from .keys import Access, Keys
from .limits import Gate, Retries, is_retryable
from .policies import Ask, Policy, Thresholds, policy_named
from .seat import Lease, Seat

__all__ = [
    "Access",
    "Ask",
    "Breaker",
    "BreakerRules",
    "BreakerState",
    "Fleet",
    "Gate",
    "HealthCheck",
    "Keys",
    "Lease",
    "Policy",
    "Retries",
    "Seat",
    "Thresholds",
    "is_retryable",
    "policy_named",
]
