"""The command as a whole: help, versions, and every way out."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import COMMAND, Run, environment


def test_help_shows_commands_and_examples(dragoman: Run) -> None:
    done = dragoman("--help")
    assert done.code == 0
    for word in ("parse", "render", "tokens", "dialects", "explain", "check", "demo", "examples:"):
        assert word in done.out


@pytest.mark.parametrize("command", ["parse", "render", "tokens", "dialects", "explain", "check", "demo"])
def test_help_of_a_command_has_an_example(dragoman: Run, command: str) -> None:
    assert f"dragoman {command}" in dragoman(command, "--help").out.partition("example:")[2]


def test_version(process: Run) -> None:
    done = process("--version")
    assert (done.code, done.out) == (0, "dragoman 0.1.0\n")


@pytest.mark.parametrize("args", [(), ("translate",), ("parse",), ("parse", "--dialect", "hermes", "--chunk", "0")])
def test_wrong_usage_is_told_and_exits_with_2(dragoman: Run, args: tuple[str, ...]) -> None:
    done = dragoman(*args)
    assert done.code == 2
    assert done.err.startswith("usage: dragoman")


def test_a_mistake_is_one_line_and_exits_with_2(dragoman: Run) -> None:
    done = dragoman("parse", "--dialect", "hermse")
    assert (done.code, done.out) == (2, "")
    assert done.err == "dragoman: unknown dialect 'hermse'; did you mean 'hermes'?\n"


def test_without_rich_the_command_says_what_to_install() -> None:
    code = "import sys, runpy; sys.modules['rich'] = None; runpy.run_module('dragoman.cli', run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "dragoman: the command needs the package rich; install it with: pip install 'dragoman[cli]'\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="pipes and signals of POSIX")
class TestInterrupted:
    def test_a_reader_that_leaves_is_no_error(self) -> None:
        ours, theirs = os.pipe()
        os.close(ours)
        done = subprocess.run(
            [*COMMAND, "demo", "--fast"], stdout=theirs, stderr=subprocess.PIPE, env=environment(), check=False
        )
        os.close(theirs)
        assert (done.returncode, done.stderr) == (141, b"")

    def test_an_interrupt_leaves_without_a_traceback(self) -> None:
        with subprocess.Popen(
            [*COMMAND, "parse", "--dialect", "hermes"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        ) as process:
            assert process.stdin
            assert process.stdout
            process.stdin.write(b"Hello")
            process.stdin.flush()
            assert process.stdout.read(5) == b"Hello"
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130
            assert process.stderr
            assert process.stderr.read() == b"\n"

    @pytest.mark.parametrize(
        ("closed", "command", "code"),
        [("<&-", "parse --dialect hermes", 2), (">&-", "dialects", 0), ("2>&-", "dialects nowhere", 2)],
    )
    def test_a_closed_stream_is_no_reason_for_a_traceback(self, closed: str, command: str, code: int) -> None:
        line = f"{' '.join(COMMAND)} {command} {closed}"
        done = subprocess.run(line, shell=True, capture_output=True, text=True, env=environment(), check=False)
        assert done.returncode == code
        assert done.stderr in ("", "dragoman: standard input: is closed\n")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device to write to")
    def test_a_full_disk_is_told(self) -> None:
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [*COMMAND, "dialects"], stdout=full, stderr=subprocess.PIPE, text=True, env=environment(), check=False
            )
        assert done.returncode == 2
        assert done.stderr == "dragoman: can't write: No space left on device\n"
