"""``dragoman serve``: one word starts a gateway, and every setting has its flag."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from dragoman.gateway.config import Settings
from dragoman.gateway.leaves import leaves
from dragoman.gateway.server import listen
from tests.gateway.served_process import LIVENESS, Asking, Running, run_to_end, running

from .conftest import Run

SERVE = ("-m", "dragoman.cli", "serve", "--port", "0")
CHAT = "/v1/chat/completions"
QUESTION = {"model": "harmony", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No settings from the tests' own environment."""
    monkeypatch.setattr("os.environ", {"PATH": "", "KEY": "hunter2"})


def asked(server: Running, **more: object) -> tuple[int, str]:
    return server.post(CHAT, {**QUESTION, **more})


def test_the_help_names_every_flag(dragoman: Run) -> None:
    said = dragoman("serve", "--help").out
    assert [leaf.flag for leaf in leaves() if leaf.flag not in said and f"--no-{leaf.flag[2:]}" not in said] == []


@pytest.mark.parametrize("leaf", leaves(), ids=lambda leaf: leaf.key)
def test_every_flag_is_taken(dragoman: Run, leaf: object) -> None:
    (one,) = [each for each in leaves() if each is leaf]
    values = {"models": "m", "workers": "replay", "keys.api": "k", "keys.admin": "k", "limits.prompt_tokens": "7"}
    given = [] if one.kind is bool else [values.get(one.key, str(one.default))]
    done = dragoman("serve", one.flag, *given, "--print-config")
    assert (done.code, done.err) == (0, "")


def test_flags_go_before_variables_and_those_before_the_file(
    dragoman: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text("[server]\nport = 1\nhost = 'h'\nprocesses = 3\n")
    monkeypatch.setattr("os.environ", {"DRAGOMAN_SERVER__PORT": "2", "DRAGOMAN_SERVER__HOST": "g"})
    lines = dragoman("serve", "--config", str(file), "--port", "9", "--print-config").out.splitlines()
    assert {"port = 9", 'host = "g"', "processes = 3"} <= set(lines)


def test_without_a_worker_recordings_are_replayed(dragoman: Run) -> None:
    assert 'kind = "replay"' in dragoman("serve", "--print-config").out


def test_a_model_and_its_worker_are_two_words(dragoman: Run) -> None:
    out = dragoman("serve", "--model", "qwen3", "--worker", "http://127.0.0.1:30000", "--print-config").out
    assert 'name = "qwen3"' in out
    assert 'url = "http://127.0.0.1:30000"' in out


def test_a_gguf_file_is_one_worker_more(dragoman: Run) -> None:
    out = dragoman("serve", "--gguf", 'a "b".bin', "--worker", "http://a", "--print-config").out
    assert 'gguf = "a \\"b\\".bin"' in out
    assert 'url = "http://a"' in out


def test_keys_are_never_printed(dragoman: Run) -> None:
    done = dragoman("serve", "--keys-api", "env:KEY", "--keys-admin", "hunter3", "--print-config")
    assert "hunter" not in done.out
    assert 'api = ["env:KEY"]' in done.out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--port", "x"), "--port should be a whole number from 0 to 65535, found 'x'"),
        (("--worker", "a:1"), "--worker[0].url should be http://HOST:PORT, found 'a:1'"),
        (("--config", "none.toml"), "none.toml should be a file that can be read, found No such file or directory"),
        (("--processes", "2", "--gguf", "a"), "server.processes should be 1 with a GGUF file"),
    ],
)
def test_a_mistake_is_one_line(dragoman: Run, arguments: tuple[str, ...], sentence: str) -> None:
    done = dragoman("serve", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"dragoman: {sentence}")
    assert done.err.count("\n") == 1


def test_the_other_commands_do_not_import_the_gateway() -> None:
    code = "import sys, dragoman.cli.main; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {name.split(".")[0] for name in done.stdout.split()} & {"prometheus_client", "starlette", "uvicorn"} == set()


def test_it_answers_and_stops(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running(*SERVE, "--json", "--log-format", "json", "--keys-api", "hunter2", log=log) as server:
        assert server.get("/health")[0] == 200
        assert asked(server)[0] == 401
        assert "dragoman_requests_total" in server.get("/metrics")[1]
        assert server.stop() == 0
    events = [msgspec.json.decode(line) for line in log.read_text().splitlines()]
    assert any(event.get("status") == 401 for event in events)
    assert "hunter2" not in log.read_text()


@pytest.mark.slow
def test_a_recorded_answer_is_chatted() -> None:
    with running(*SERVE, "--json") as server:
        status, body = asked(server)
        assert status == 200
        assert msgspec.json.decode(body)["choices"][0]["message"]["content"]
        assert server.stop(signal.SIGINT) == 0


@pytest.mark.slow
def test_what_is_being_said_is_said_to_the_end() -> None:
    with running(*SERVE, "--json") as server:
        asking = Asking(
            server, CHAT, {"model": "harmony", "stream": True, "messages": [{"role": "user", "content": "x"}]}
        )
        assert asking.begun.wait(LIVENESS)
        assert server.stop() == 0
        assert asking.answer()[1].endswith("data: [DONE]\n\n")


@pytest.mark.slow
def test_several_processes_serve_together() -> None:
    with running(*SERVE, "--json", "--processes", "2") as server:
        assert {asked(server, max_tokens=5)[0] for _ in range(4)} == {200}
        counted = [
            line for line in server.get("/metrics")[1].splitlines() if line.startswith("dragoman_requests_total")
        ]
        assert [line.rsplit(" ", 1)[1] for line in counted if 'endpoint="chat"' in line] == ["4.0"]
        assert server.stop() == 0


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that is told to stop as soon as it listens."""

    def run(settings: Settings, started: Callable[[socket.socket], None]) -> int:
        with listen(settings.server) as listener:
            started(listener)
        return 0

    monkeypatch.setattr("dragoman.gateway.serving.run", run)


@pytest.mark.usefixtures("bound")
@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ((), '-d \'{"model":"harmony","stream":true,'),
        (("--model", "a", "--model", "b"), '-d \'{"model":"a","stream":true,'),
        (("--worker", "http://w"), '-d \'{"stream":true,'),
        (("--keys-api", "k"), "-H 'authorization: Bearer KEY' -d "),
    ],
)
def test_piped_it_tells_plainly_how_it_is_asked(dragoman: Run, arguments: tuple[str, ...], asked: str) -> None:
    done = dragoman("serve", "--port", "0", *arguments)
    first, second = done.out.splitlines()
    assert re.fullmatch(r"dragoman listens at http://127\.0\.0\.1:\d+", first)
    assert second.startswith("try: curl -N http://127.0.0.1:")
    assert f"/v1/chat/completions {asked}" in second
    assert "\x1b" not in done.out


@pytest.mark.usefixtures("bound")
def test_a_script_gets_the_url_as_json(dragoman: Run) -> None:
    told = msgspec.json.decode(dragoman("serve", "--port", "0", "--json").out)
    assert told["url"].startswith("http://127.0.0.1:")


@pytest.mark.slow
def test_a_port_that_is_taken_is_a_mistake() -> None:
    with running(*SERVE, "--json") as server:
        done = run_to_end(["-m", "dragoman.cli", "serve", "--port", server.url.rsplit(":", 1)[1]])
    assert done.returncode == 2
    assert "Address already in use" in done.stderr
