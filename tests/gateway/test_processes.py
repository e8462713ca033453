"""Several processes: one port, numbers of all, and none is missed when it dies."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from .served_process import LIVENESS, STAND_IN, Asking, Running, run_to_end, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(socket, "SO_REUSEPORT"), reason="the system can't share a port"),
]


def workers(server: Running, asked: int = 40) -> set[int]:
    """Who answers."""
    return {msgspec.json.decode(server.get("/whoami")[1])["pid"] for _ in range(asked)}


def until(truth: Callable[[], bool]) -> bool:
    """Whether something has come true in good time."""
    deadline = time.monotonic() + LIVENESS
    while time.monotonic() < deadline:
        with suppress(OSError):
            if truth():
                return True
        time.sleep(0.05)
    return False


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_they_share_a_port_and_tell_the_numbers_of_all() -> None:
    with running(*STAND_IN, "2", "5") as server:
        found = workers(server)
        assert len(found) == 2
        assert server.process.pid not in found
        line = 'dragoman_requests_total{endpoint="chat",model="m",status="200"} 40.0'
        assert all(line in server.get("/metrics")[1] for _ in range(6))
        assert server.stop() == 0
        assert not any(map(is_there, found))


def test_one_that_dies_is_started_anew(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running(*STAND_IN, "2", "5", log=log) as server:
        before = workers(server)
        with suppress(OSError):
            server.get("/die")
        assert until(lambda: len(workers(server) | before) == 3)
        assert server.stop() == 0
    assert "ended with 7 and is started anew" in log.read_text()


def test_all_drain_when_their_parent_is_told_to_stop() -> None:
    with running(*STAND_IN, "2", "60") as server:
        asking = [Asking(server, "/v1/chat/completions?n=6&pause=0.2") for _ in range(4)]
        time.sleep(0.5)
        assert server.stop() == 0
        assert all(each.answer()[1].endswith("data: [DONE]\n\n") for each in asking)


def test_interrupted_twice_they_do_not_wait() -> None:
    with running(*STAND_IN, "2", "1000") as server:
        asking = Asking(server, "/v1/chat/completions?n=1000&pause=0.1")
        time.sleep(0.5)
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert server.stop(signal.SIGINT) == 0
        assert '"code":"shutting_down"' in asking.answer()[1]


def test_they_end_when_their_parent_is_gone() -> None:
    with running(*STAND_IN, "2", "5") as server:
        found = workers(server)
        server.process.kill()
        server.process.wait()
        assert until(lambda: not any(map(is_there, found)))


def test_what_keeps_one_from_starting_ends_all() -> None:
    done = run_to_end([*STAND_IN, "2", "1", "localhost"])
    assert done.returncode == 1
    assert done.stdout == ""
