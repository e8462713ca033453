"""One process: a port of its own, and a way out on which running requests are ended or told."""

from __future__ import annotations

import gc
import signal
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import closing

import pytest

from dragoman.errors import InvalidConfig
from dragoman.gateway.config import Server, Settings
from dragoman.gateway.server import listen, serve, url_of

from .doubles.stand_in import create
from .served_process import LIVENESS, STAND_IN, Asking, run_to_end, running, until


def test_a_free_port_is_picked() -> None:
    with closing(listen(Server(port=0))) as listener:
        assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_a_port_that_is_taken_is_a_mistake() -> None:
    with closing(listen(Server(port=0))) as listener:
        listener.listen()
        port = listener.getsockname()[1]
        with pytest.raises(InvalidConfig, match=rf"found 127\.0\.0\.1:{port}, Address already in use"):
            listen(Server(port=port))


def test_an_address_of_nobody_is_a_mistake() -> None:
    for host in ("no such host", "a" * 300):
        with pytest.raises(InvalidConfig, match=r"server\.host should be an address of this machine"):
            listen(Server(host=host, port=0))


@pytest.mark.skipif(not hasattr(socket, "SO_REUSEPORT"), reason="the system can't share a port")
def test_a_shared_port_may_be_bound_again() -> None:
    with closing(listen(Server(port=0), shared=True)) as one:
        port = one.getsockname()[1]
        with closing(listen(Server(port=port), shared=True)) as other:
            assert other.getsockname() == one.getsockname()


def test_all_addresses_are_asked_at_this_machine() -> None:
    with closing(listen(Server(host="0.0.0.0", port=0))) as listener:
        assert url_of(listener).startswith("http://127.0.0.1:")


@pytest.fixture
def collected() -> Iterator[None]:
    """The garbage collector as it was."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


@pytest.mark.usefixtures("collected")
def test_in_a_program_of_ones_own_it_serves_until_a_signal_comes() -> None:
    settings = Settings(server=Server(port=0, drain_seconds=0.1))
    answered: list[tuple[int, str]] = []

    def ask(url: str) -> None:
        with urllib.request.urlopen(f"{url}/ready", timeout=LIVENESS) as answer:
            answered.append((answer.status, answer.read().decode()))
        signal.raise_signal(signal.SIGTERM)

    with listen(settings.server) as listener:
        asking = threading.Thread(target=ask, args=(url_of(listener),))
        assert serve(create, settings, listener, asking.start) == 0
    asking.join()
    assert answered == [(200, '{"status":"ready"}')]


def test_an_app_that_can_not_begin_gives_the_code_of_a_failure() -> None:
    settings = Settings(server=Server(host="localhost", port=0))
    with listen(settings.server) as listener:
        assert serve(create, settings, listener, pytest.fail) == 1


def test_it_answers_and_stops_without_delay() -> None:
    with running(*STAND_IN, "1", "60") as server:
        assert server.get("/ready") == (200, '{"status":"ready"}')
        assert server.stop() == 0


@pytest.mark.slow
def test_a_running_stream_is_ended_before_it_stops() -> None:
    with running(*STAND_IN, "1", "60") as server:
        asking = Asking(server, "/v1/chat/completions?n=8&pause=0.3")
        assert asking.begun.wait(LIVENESS)
        server.process.send_signal(signal.SIGTERM)
        assert until(lambda: server.get("/ready")[0] == 503)
        assert server.get("/ready") == (503, '{"status":"draining"}')
        assert server.get("/whoami")[0] == 503
        status, body = asking.answer()
        assert status == 200
        assert body.endswith("data: 7\n\ndata: [DONE]\n\n")
        assert server.process.wait(LIVENESS) == 0


def test_a_stream_that_takes_too_long_is_cut_with_an_error() -> None:
    with running(*STAND_IN, "1", "0.2") as server:
        asking = Asking(server, "/v1/chat/completions?n=1000&pause=0.1")
        assert asking.begun.wait(LIVENESS)
        assert server.stop() == 0
        _, body = asking.answer()
        assert '"code":"shutting_down"' in body.split("\n\n")[-3]


@pytest.mark.slow
def test_interrupted_twice_it_does_not_wait() -> None:
    with running(*STAND_IN, "1", "1000") as server:
        asking = Asking(server, "/v1/responses?n=1000&pause=0.1")
        assert asking.begun.wait(LIVENESS)
        server.process.send_signal(signal.SIGINT)
        assert until(lambda: server.get("/ready")[0] == 503)
        assert server.process.poll() is None
        assert server.stop(signal.SIGINT) == 0
        assert "event: error\n" in asking.answer()[1]


@pytest.mark.slow
def test_an_app_that_can_not_start_is_told_by_the_exit_code() -> None:
    done = run_to_end([*STAND_IN, "1", "1", "localhost"])
    assert done.returncode == 1
    assert "server.host should be another" in done.stderr
    assert "Traceback" not in done.stderr
