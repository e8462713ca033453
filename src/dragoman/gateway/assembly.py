"""Puts the gateway together: from settings to models, workers, and what stands between them.

A worker that can't be reached when the gateway starts is asked again until it can. What it serves is told by the
settings, else by the worker itself: a model that nobody has configured is served if its dialect can be recognised.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from random import Random

from ..errors import DragomanError, InvalidConfig, WorkerFailed
from .catalog import Catalog
from .config import Settings, WorkerEntry
from .door import Hall
from .fleet.breaker import BreakerState
from .fleet.fleet import Fleet
from .fleet.keys import Access, Keys
from .fleet.limits import Gate
from .fleet.policies import policy_named
from .fleet.seat import Seat
from .observe.metrics import Metrics
from .pipeline import Pipeline
from .reply import Heart
from .rules import breaker_rules, retries, thresholds
from .served import ServedModel, load_model
from .transport.client import Client
from .transport.limits import Limits
from .workers.http_worker import HttpWorker
from .workers.local_llama import LocalLlama
from .workers.register import KINDS, discover
from .workers.replay import ReplayWorker
from .workers.worker import Capabilities, Speech, Worker

__all__ = ["AGAIN", "Assembly", "assembled", "served_by"]

AGAIN = 2.0
"""Seconds after which a worker is asked again that could not be reached."""

SHOWN_EVERY = 5.0
"""Seconds between two looks at the workers for the metrics."""

_STATES = {BreakerState.CLOSED: 0, BreakerState.HALF_OPEN: 1, BreakerState.OPEN: 2}

UNKNOWN = "generic"
"""The dialect in which a server's own parser is thought to leak where its model is not known."""

_log = logging.getLogger("dragoman.gateway")


class Assembly:
    """All parts of a running gateway."""

    def __init__(
        self, settings: Settings, catalog: Catalog, fleet: Fleet, pipeline: Pipeline, hall: Hall, client: Client
    ) -> None:
        self.settings, self.catalog, self.fleet, self.pipeline, self.hall = settings, catalog, fleet, pipeline, hall
        self.client = client
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Find the workers; those that are not there yet are waited for beside everything else."""
        entries = self.settings.workers or (WorkerEntry(kind="replay"),)
        for entry in entries:
            try:
                await self.add(entry)
            except WorkerFailed as error:
                _log.warning("%s; asked again every %g seconds", error, AGAIN)
                self._begin(self._until_there(entry))

    async def add(self, entry: WorkerEntry) -> Seat:
        """Register a worker; raises `WorkerFailed` if it can't be reached, `InvalidConfig` if it is of no use."""
        worker = await self._worker(entry)
        try:
            models = await self._models(entry, worker.capabilities)
            seat = self.fleet.add(worker, models)
        except BaseException:
            await worker.close()
            raise
        names = ", ".join(models) if len(models) < 5 else f"{len(models)} models"
        _log.info("worker %s (%s) serves %s", worker.name, worker.capabilities.kind, names)
        return seat

    def leave(self, worker: Worker) -> None:
        """Let go of a worker that has left the fleet."""
        self.hall.metrics.forget_worker(worker.name)
        self._begin(worker.close())

    def show(self) -> None:
        """Tell the metrics how the workers and the queue are now."""
        metrics = self.hall.metrics
        metrics.queued(self.hall.gate.waiting)
        for seat in self.fleet.seats():
            state = _STATES[seat.breaker.state]
            metrics.worker(seat.name).show(up=seat.is_well, load=seat.requests, breaker=state)

    async def keep_shown(self) -> None:
        """The same again and again, since another process may be asked for the metrics of all."""
        while True:
            self.show()
            await asyncio.sleep(SHOWN_EVERY)

    async def close(self) -> None:
        """Let go of everything."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for seat in self.fleet.seats():
            await seat.worker.close()
        await self.client.close()

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _until_there(self, entry: WorkerEntry) -> None:
        while True:
            await asyncio.sleep(AGAIN)
            try:
                await self.add(entry)
            except WorkerFailed:
                continue
            except DragomanError as error:
                _log.error("a worker is left out: %s", error)
            return

    async def _worker(self, entry: WorkerEntry) -> Worker:
        key = entry.key.reveal() if entry.key is not None else None
        if entry.gguf is not None:
            return await LocalLlama.start(entry.gguf, self.client)
        if entry.url is None:
            return ReplayWorker()
        wire, capabilities = await discover(entry.url, self.client, kind=entry.kind, key=key)
        health = "/v1/models" if wire.kind == "openai" else "/health"
        return HttpWorker(entry.url, wire, self.client, capabilities, key=key, health=health)

    async def _models(self, entry: WorkerEntry, capabilities: Capabilities) -> dict[str, str]:
        if not self.settings.models:
            if capabilities.lays_out:  # its models are dialects: each is made when somebody asks for it
                self.catalog.offer(capabilities.models)
                return {name: name for name in entry.models or capabilities.models}
            for name in entry.models or capabilities.models:
                if name not in self.catalog.loaded:
                    learnt = await asyncio.to_thread(_learnt, name, capabilities)  # a tokenizer takes seconds to read
                    if learnt is not None:
                        self.catalog.add(learnt)
        loaded = self.catalog.loaded
        models = [self.catalog[name] for name in entry.models or self.catalog.names if name in loaded]
        return served_by(entry, capabilities, models)


def _learnt(name: str, capabilities: Capabilities) -> ServedModel | None:
    """A model that a worker has and nobody has configured, ``None`` if it can't be served."""
    path = capabilities.path
    folder = path if path is not None and Path(path).is_dir() else None
    try:
        return load_model(name, tokenizer=folder, template=capabilities.template)
    except InvalidConfig as error:
        if Speech.CHAT not in capabilities.speech:
            _log.warning("%s is not served: %s", name, error)
            return None
        return load_model(name, dialect=UNKNOWN)


def served_by(entry: WorkerEntry, capabilities: Capabilities, models: Sequence[ServedModel]) -> dict[str, str]:
    """The gateway's names of what a worker serves, each with the worker's own; raises `InvalidConfig` for none.

    A name that the worker knows is its own; the only model of a worker is what it is asked for under any name.
    """
    own = capabilities.models
    found: dict[str, str] = {}
    for model in models:
        if entry.models and model.name not in entry.models:
            continue
        spoken = (model.dialect.name,) if capabilities.lays_out else ()
        known = [name for name in (model.name, *model.aliases, *spoken) if name in own]
        if known:
            found[model.name] = known[0]
        elif len(own) <= 1 and (entry.models or len(models) == 1):
            found[model.name] = own[0] if own else model.name
    if not found:
        where = entry.url or entry.gguf or "replay"
        listed = ", ".join(own[:5]) or "no model that it names"
        raise InvalidConfig(f"workers.{where}", "a worker of a model that is served", f"one of {listed}")
    return found


def assembled(settings: Settings, *, clock: Callable[[], float], now: Callable[[], float]) -> Assembly:
    """The parts of a gateway, without its workers yet."""
    _require_kinds(settings)
    limits = settings.limits
    catalog = _catalog(settings)
    random = Random(os.urandom(8))
    policy = policy_named(settings.routing.policy, random, thresholds(settings))
    metrics = Metrics(_version())
    parts: Assembly

    def removed(worker: Worker) -> None:
        parts.leave(worker)

    fleet = Fleet(policy, now=clock, rules=breaker_rules(settings), removed=removed)
    pipeline = Pipeline(
        catalog,
        fleet,
        retries=retries(settings),
        now=now,
        clock=clock,
        random=random,
        prompt_limit=limits.prompt_tokens,
    )
    hall = Hall(
        access=Access(
            Keys.of(key.reveal() for key in settings.keys.api), Keys.of(key.reveal() for key in settings.keys.admin)
        ),
        gate=Gate(limits.concurrent, limits.queue, limits.queue_seconds),
        metrics=metrics,
        heart=Heart(settings.server.keep_alive_comment_seconds, limits.stall_seconds, clock),
        clock=clock,
        body_bytes=limits.body_bytes,
    )
    client = Client(
        Limits(connect=limits.connect_seconds, stall=limits.stall_seconds, gather=settings.server.gather_seconds)
    )
    parts = Assembly(settings, catalog, fleet, pipeline, hall, client)
    return parts


def _require_kinds(settings: Settings) -> None:
    known = (*KINDS, "replay")
    for index, entry in enumerate(settings.workers):
        if entry.kind is not None and entry.kind not in known:
            raise InvalidConfig(f"workers[{index}].kind", f"one of {', '.join(known)}", repr(entry.kind))


def _version() -> str:
    try:
        return version("dragoman")
    except PackageNotFoundError:  # run from its source
        return ""


def _catalog(settings: Settings) -> Catalog:
    models = [
        load_model(
            entry.name,
            dialect=entry.dialect,
            family=entry.family,
            tokenizer=entry.tokenizer,
            chat_template=entry.chat_template,
            aliases=entry.aliases,
            options=entry.options,
            reasoning=entry.reasoning_field,
        )
        for entry in settings.models
    ]
    return Catalog(models)
