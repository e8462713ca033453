"""What Prometheus is told: requests, tokens, times, problems, workers; on a registry of its own.

`Metrics.bound` gives the counters of one model at one endpoint, looked up once, so that a request costs a handful of
additions and a token none. Label values come from a closed list or are bounded in number: what a client can make up
never becomes one. Several processes share their numbers through files, in the folder that `SHARED` names before
prometheus_client is first imported; each then tells those of all. `families` lists the names.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from msgspec import Struct
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from .families import Families

__all__ = ["OTHER", "SHARED", "Bound", "Metrics", "Tokens", "WorkerGauges"]

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the folder of several processes."""

OTHER = "(other)"
"""The label of what has none of its own."""

LABELS = 200
"""Values of a label; all further ones are `OTHER`."""

_Child = TypeVar("_Child", Counter, Histogram)


class Tokens(Struct, frozen=True, gc=False):
    """How much a request was; `first_seconds` is when its first token came.

    As in OpenAI's usage, what was cached is part of the prompt, and what was thought part of the completion.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    first_seconds: float | None = None
    reasoning: int = 0


class Metrics:
    """All that is counted and measured in this process."""

    def __init__(self, version: str = "") -> None:
        self._folder = os.environ.get(SHARED)
        self._registry = CollectorRegistry(auto_describe=False)
        self._families = families = Families(self._registry)
        families.build.labels(version, platform.python_version()).set(1)
        if self._folder is None:
            ProcessCollector(namespace="dragoman", registry=self._registry)
        self._models = _Names()
        self._names = _Names()
        self._stages = _Children(families.stages.labels)
        self._residue = _Children(families.residue.labels)
        self._bound: dict[tuple[str, str], Bound] = {}
        self._workers: dict[str, WorkerGauges] = {}

    def bound(self, model: str | None, endpoint: str) -> Bound:
        """The counters of a model at an endpoint; a model that is not served has no name here (``None``)."""
        key = (OTHER if model is None else self._models.bounded(model), endpoint)
        found = self._bound.get(key)
        if found is None:
            found = self._bound[key] = Bound(self._families, self._stages, self._residue, *key)
        return found

    def worker(self, name: str) -> WorkerGauges:
        """The gauges of a worker."""
        name = self._names.bounded(name)
        found = self._workers.get(name)
        if found is None:
            each = self._families
            found = self._workers[name] = WorkerGauges(
                each.up.labels(name), each.load.labels(name), each.breaker.labels(name), each.retries.labels(name)
            )
        return found

    def forget_worker(self, name: str) -> None:
        """Tell no more of a worker that is gone; the files of several processes keep it, at zero."""
        gauges = self._workers.pop(name, None)
        if gauges is None:
            return
        gauges.show(up=False, load=0, breaker=0)
        if self._folder is None:
            self._names.forget(name)
            each = self._families
            for metric in (each.up, each.load, each.breaker, each.retries):
                metric.remove(name)

    def queued(self, count: int) -> None:
        """So many requests wait for their turn."""
        self._families.queued.set(count)

    def stream_opened(self) -> None:
        """A stream to a client has begun."""
        self._families.streams.inc()

    def stream_closed(self) -> None:
        """It has ended, in whatever way."""
        self._families.streams.dec()

    def exposition(self, accept: str = "") -> tuple[bytes, str]:
        """The page of all numbers, of all processes, and its media type; ``accept`` is the scraper's header."""
        encode, kind = choose_encoder(accept)
        if self._folder is None:
            return encode(_Lean(self._registry)), kind
        registry = CollectorRegistry(auto_describe=False)
        MultiProcessCollector(registry, self._folder)  # type: ignore[no-untyped-call]
        return encode(registry), kind


class Bound:
    """What is counted of one model at one endpoint; made by `Metrics.bound`."""

    def __init__(
        self,
        families: Families,
        stages: _Children[Histogram],
        residue: _Children[Counter],
        model: str,
        endpoint: str,
    ) -> None:
        each = (model, endpoint)
        self._running = families.running.labels(*each)
        self._seconds = families.seconds.labels(*each)
        self._first = families.first.labels(*each)
        self._each = families.each.labels(*each)
        self._rate = families.rate.labels(*each)
        self._prompt = families.tokens.labels(*each, "prompt")
        self._completion = families.tokens.labels(*each, "completion")
        self._reasoning = families.tokens.labels(*each, "reasoning")
        self._cached = families.tokens.labels(*each, "cached")
        self._status = _Children(lambda status: families.requests.labels(*each, status))
        self._problems = families.problems
        self._stages, self._residue, self._retries = stages, residue, families.retries

    def begun(self) -> None:
        """A request has come; `finished` must follow, exactly once."""
        self._running.inc()

    def first_token(self, seconds: float) -> None:
        """Its answer's first token has come, so long after it."""
        self._first.observe(seconds)

    def stage(self, name: str, seconds: float) -> None:
        """A stage of it took so long."""
        self._stages.of(name).observe(seconds)

    def problem(self, dialect: str, kind: str, count: int = 1) -> None:
        """A parser found so much wrong with the model's output; both words come from closed lists."""
        self._problems.labels(dialect, kind).inc(count)

    def residue(self, dialect: str, count: int = 1) -> None:
        """So many marks of a dialect were left in an answer."""
        self._residue.of(dialect).inc(count)

    def finished(self, status: int, seconds: float, tokens: Tokens | None = None) -> None:
        """It has ended, in whatever way; 499 is the status of a client that left."""
        self._running.dec()
        self._status.of(str(status)).inc()
        self._seconds.observe(seconds)
        if tokens is not None:
            self._used(tokens, seconds)

    def _used(self, tokens: Tokens, seconds: float) -> None:
        self._prompt.inc(tokens.prompt)
        self._completion.inc(tokens.completion)
        self._reasoning.inc(tokens.reasoning)
        self._cached.inc(tokens.cached)
        if tokens.first_seconds is not None and tokens.completion > 1 and seconds > tokens.first_seconds:
            each = (seconds - tokens.first_seconds) / (tokens.completion - 1)
            self._each.observe(each)
            self._rate.observe(1 / each)


class WorkerGauges:
    """What is told of one worker; made by `Metrics.worker`."""

    def __init__(self, up: Gauge, load: Gauge, breaker: Gauge, retries: Counter) -> None:
        self._up, self._load, self._breaker, self._retries = up, load, breaker, retries

    def show(self, *, up: bool, load: int, breaker: int) -> None:
        """How it is now; the breaker is 0 closed, 1 half open, 2 open."""
        self._up.set(up)
        self._load.set(load)
        self._breaker.set(breaker)

    def retried(self) -> None:
        """It failed, and its request went to another one."""
        self._retries.inc()


class _Lean(Collector):
    """A registry without the times at which counters were made: as many lines again as there are."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family


class _Names:
    """Values of a label, never more than `LABELS`."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def bounded(self, name: str) -> str:
        if name not in self._known:
            if len(self._known) >= LABELS:
                return OTHER
            self._known.add(name)
        return name

    def forget(self, name: str) -> None:
        self._known.discard(name)


class _Children(Generic[_Child]):
    """The children of a metric with one label left, never more than `LABELS`."""

    def __init__(self, make: Callable[[str], _Child]) -> None:
        self._make: Callable[[str], _Child] = make
        self._known: dict[str, _Child] = {}

    def of(self, name: str) -> _Child:
        found = self._known.get(name)
        if found is None:
            if len(self._known) >= LABELS:
                return self._make(OTHER)
            found = self._known[name] = self._make(name)
        return found
