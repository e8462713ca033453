"""The list of all that Prometheus is told: names, labels, and the steps of histograms.

Names end in their unit, counters in ``_total``. `dragoman.gateway.observe.metrics` counts.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

__all__ = ["Families"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_FIRST = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.25, 0.5, 0.75, 1, 2.5, 5, 10, 30, 60)
_PER_TOKEN = (0.001, 0.0025, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.2, 0.5, 1)
_RATES = (1, 5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 500, 1000, 2000)
_STAGES = (0.00001, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5)

_OfAll: TypeAlias = Literal["livesum", "livemin", "livemax"]
"""What several living processes' values of a gauge become: of load the sum, of states the worst."""


class Families:
    """Every metric, on a registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        each = ("model", "endpoint")

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"dragoman_{name}", about, labels, registry=registry)

        def gauge(name: str, about: str, *labels: str, of_all: _OfAll = "livesum") -> Gauge:
            return Gauge(f"dragoman_{name}", about, labels, registry=registry, multiprocess_mode=of_all)

        def histogram(name: str, about: str, steps: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(f"dragoman_{name}", about, labels, registry=registry, buckets=steps)

        self.requests = counter("requests", "Requests that have ended", *each, "status")
        self.running = gauge("requests_in_flight", "Requests that run", *each)
        self.queued = gauge("requests_queued", "Requests that wait for their turn")
        self.streams = gauge("streams_open", "Streams to clients")
        self.seconds = histogram("request_duration_seconds", "From a request to its last byte", _SECONDS, *each)
        self.first = histogram("time_to_first_token_seconds", "From a request to its first token", _FIRST, *each)
        self.each = histogram("time_per_output_token_seconds", "From one token to the next", _PER_TOKEN, *each)
        self.rate = histogram("output_tokens_per_second", "Tokens of an answer by its time", _RATES, *each)
        self.stages = histogram("stage_duration_seconds", "A stage of a request", _STAGES, "stage")
        self.tokens = counter("tokens", "Tokens of prompts and answers", *each, "kind")
        self.problems = counter("parse_problems", "What parsers found wrong", "dialect", "kind")
        self.residue = counter("residue", "Marks of a dialect that were left in answers", "dialect")
        self.retries = counter("retries", "Requests that went to another worker after this one failed", "worker")
        self.up = gauge("worker_up", "Whether a worker is well", "worker", of_all="livemin")
        self.load = gauge("worker_requests_in_flight", "Requests that a worker has", "worker")
        self.breaker = gauge("worker_breaker_state", "0 closed, 1 half open, 2 open", "worker", of_all="livemax")
        self.build = gauge("build_info", "Versions", "version", "python", of_all="livemax")
