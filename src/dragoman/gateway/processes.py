"""Runs the gateway in several processes that share a port: starts them, starts them anew when they die, stops them.

Each has a socket of its own (SO_REUSEPORT), and the system deals connections out among them. They share nothing but
the files of their metrics. The parent serves nothing: it holds the port, so that nobody else gets it between two
children, and passes signals on. If the parent is gone, its children drain.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from types import FrameType

from msgspec.structs import replace

from ..errors import InvalidConfig
from .config import Settings
from .observe.logs import open_log
from .observe.metrics import SHARED
from .server import CUT_SECONDS, Create, listen, serve

__all__ = ["LONGEST_PAUSE", "serve_many"]

SHORT_LIFE = 10.0
"""Seconds; a child that died sooner is waited with before it is started anew."""

LONGEST_PAUSE = 30.0
"""Seconds that a child which dies again and again is waited with."""

_GRACE = 5.0
"""Seconds after which a child that should have ended is killed, beyond those that it may take."""

_LOG = logging.getLogger("dragoman.processes")


def serve_many(create: Create, settings: Settings, started: Callable[[socket.socket], None]) -> int:
    """Serve until a signal has come and all have drained; gives the exit code: 1 if they could not start.

    `create` is a function of a module, which the children import. `started` is told a socket with the address, once
    all of them take connections.
    """
    if not hasattr(socket, "SO_REUSEPORT"):
        raise InvalidConfig("server.processes", "1 where the system can't share a port", str(settings.server.processes))
    with listen(settings.server, shared=True) as held, _shared_metrics() as forget:
        settings = replace(settings, server=replace(settings.server, port=held.getsockname()[1]))
        return _Supervisor(create, settings, lambda: started(held), forget).run()


@contextmanager
def _shared_metrics() -> Iterator[Callable[[int], None]]:
    """A folder in which children share their numbers; what is given tells it that one has died."""
    with tempfile.TemporaryDirectory(prefix="dragoman-metrics-", ignore_cleanup_errors=True) as folder:
        before = os.environ.get(SHARED)
        os.environ[SHARED] = folder
        from prometheus_client.multiprocess import mark_process_dead

        try:
            yield lambda pid: mark_process_dead(pid, folder)  # type: ignore[no-untyped-call]
        finally:
            os.environ.pop(SHARED)
            if before is not None:
                os.environ[SHARED] = before


class _Child:
    """A process, or the place of one that is to be started when it is `due`."""

    def __init__(self) -> None:
        self.process: SpawnProcess | None = None
        self.pipe: Connection | None = None
        self.is_ready = False
        self.due = self.begun = 0.0
        self.pause = 1.0

    def start(self, create: Create, settings: Settings) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self.process = context.Process(target=_work, args=(create, settings, theirs), name="dragoman")
        self.process.start()
        theirs.close()
        self.begun, self.is_ready = time.monotonic(), False

    def ended(self) -> tuple[int, int]:
        """Take leave of a process that has died; gives its id and exit code."""
        assert self.process is not None
        assert self.pipe is not None
        self.process.join()
        pid, code = self.process.pid or 0, self.process.exitcode or 0
        self.process.close()
        self.pipe.close()
        self.process = self.pipe = None
        lived = time.monotonic() - self.begun
        self.pause = 1.0 if lived > SHORT_LIFE else min(2 * self.pause, LONGEST_PAUSE)
        self.due = time.monotonic() + (0.0 if lived > SHORT_LIFE else self.pause / 2)
        return pid, code


class _Supervisor:
    """Looks after the children until none is left."""

    def __init__(
        self, create: Create, settings: Settings, started: Callable[[], None], forget: Callable[[int], None]
    ) -> None:
        self._create, self._settings, self._started, self._forget = create, settings, started, forget
        self._children = [_Child() for _ in range(settings.server.processes)]
        self._signals, self._wake = multiprocessing.Pipe(duplex=False)
        self._is_open = self._is_stopping = False
        self._deadline = float("inf")
        self._code = 0

    def run(self) -> int:
        with self._signals, self._wake, _handled(self._note):
            while not self._is_stopping or any(child.process for child in self._children):
                self._start_due()
                self._look(wait(self._watched(), self._patience()))
                self._kill_late()
        return self._code

    def _note(self, number: int, _: FrameType | None) -> None:
        self._wake.send(number)

    def _watched(self) -> list[Connection | int]:
        alive = [child for child in self._children if child.process is not None]
        pipes = [child.pipe for child in alive if child.pipe is not None and not child.is_ready]
        return [self._signals, *pipes, *(child.process.sentinel for child in alive if child.process)]

    def _patience(self) -> float | None:
        """Seconds until something is to be done without anything having happened."""
        due = [child.due for child in self._children if child.process is None and not self._is_stopping]
        next_one = min([*due, self._deadline])
        return None if next_one == float("inf") else max(0.0, next_one - time.monotonic())

    def _start_due(self) -> None:
        for child in self._children:
            if child.process is None and not self._is_stopping and child.due <= time.monotonic():
                child.start(self._create, self._settings)

    def _look(self, ready: Sequence[object]) -> None:
        for child in self._children:
            if child.pipe in ready and not child.is_ready:
                self._greet(child)
            if child.process is not None and child.process.sentinel in ready:
                self._part(child)
        if self._signals in ready:
            self._pass_on(self._signals.recv())

    def _greet(self, child: _Child) -> None:
        assert child.pipe is not None
        try:
            child.pipe.recv()
        except (EOFError, OSError):  # it has died, which its sentinel tells
            return
        child.is_ready = True
        if not self._is_open and all(each.is_ready for each in self._children):
            self._is_open = True
            self._started()

    def _part(self, child: _Child) -> None:
        pid, code = child.ended()
        self._forget(pid)
        if self._is_stopping:
            return
        if not self._is_open:  # what keeps one from starting keeps all
            self._code = 1
            self._pass_on(signal.SIGTERM)
        else:
            _LOG.error("process %d ended with %d and is started anew", pid, code)

    def _pass_on(self, number: int) -> None:
        if not self._is_stopping:
            self._is_stopping, number = True, signal.SIGTERM  # a child that starts has no handler of interrupts yet
            self._deadline = time.monotonic() + self._settings.server.drain_seconds + 2 * CUT_SECONDS + _GRACE
        for child in self._children:
            if child.process is not None and child.process.pid is not None and child.process.is_alive():
                os.kill(child.process.pid, number)

    def _kill_late(self) -> None:
        if time.monotonic() >= self._deadline:
            for child in self._children:
                if child.process is not None:
                    _LOG.error("process %d did not end in time and is killed", child.process.pid)
                    child.process.kill()
            self._deadline = time.monotonic() + _GRACE


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _work(create: Create, settings: Settings, parent: Connection) -> None:
    """A child's life."""
    os.setpgid(0, 0)  # a terminal interrupts its foreground group: the parent alone, who passes it on

    def started() -> None:
        loop = asyncio.get_running_loop()
        loop.add_reader(parent.fileno(), orphaned, loop)
        parent.send(True)

    def orphaned(loop: asyncio.AbstractEventLoop) -> None:
        loop.remove_reader(parent.fileno())
        signal.raise_signal(signal.SIGTERM)

    open_log(settings.log.level, settings.log.format, sys.stderr)
    try:
        code = serve(create, settings, listen(settings.server, shared=True), started)
    except InvalidConfig as error:
        sys.stderr.write(f"dragoman: {error}\n")
        code = 2
    raise SystemExit(code)
