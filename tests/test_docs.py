"""Every Python snippet and every ``$ dragoman`` block in the README and the pages is run and compared.

A page's ``python`` blocks share their names; what a block prints must be what the ``output`` block behind it shows. A
block that begins with ``# name.py`` is a file of that name too. In a ``console`` block the commands that begin with
``dragoman``, ``printf``, ``sed`` or ``curl`` are run beside those files and their output compared. A line of three dots
stands for any lines, and ``…`` for the rest of a line.

Blocks that speak to a gateway at its usual place speak to one that runs for these tests, with recorded answers.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from dragoman import dialects
from tests.gateway.served_process import running

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FENCE = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
RUN = ("dragoman ", "printf ", "sed ", "curl ")
PLACE = "127.0.0.1:8000"
"""Where a gateway listens on the pages."""
ADMIN = "a-key-of-the-pages"
"""The administrator's key on the pages."""
FILE = re.compile(r"# (\w+\.py)\n")


class Block(Struct, frozen=True):
    """A fenced block: its language, its text, and the line on which its text begins."""

    language: str
    body: str
    line: int


class Session(Struct, frozen=True):
    """A command and what it should write."""

    command: str
    expected: str


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(m["language"], m["body"], text[: m.start()].count("\n") + 2) for m in FENCE.finditer(text)]


def sessions(body: str) -> Iterator[Session]:
    """The commands of a console block; one goes on behind a backslash, and where a line begins with ``> ``."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        first, *lines = part.split("\n")
        command = [first]
        while lines and (command[-1].endswith("\\") or lines[0].startswith("> ")):
            command.append(lines.pop(0).removeprefix("> "))
        yield Session("\n".join(command), "\n".join(lines).strip("\n"))


def matches(expected: str, written: str) -> bool:
    """Equality line by line; a line of three dots stands for any lines, and … for any characters in its line."""
    lines = (
        "(?s:.*)" if line.strip() == "..." else ".*".join(map(re.escape, line.split("…")))
        for line in expected.split("\n")
    )
    return re.fullmatch("\n".join(lines), written.strip("\n")) is not None


def pages_with(language: str) -> list[object]:
    """The pages that have such blocks; those for which a gateway must run are slow."""
    pages = {page: [block for block in blocks(page) if block.language == language] for page in PAGES}
    return [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=[pytest.mark.slow] if any(PLACE in block.body for block in found) else [],
        )
        for page, found in pages.items()
        if found
    ]


@pytest.fixture(scope="module")
def place() -> Iterator[str]:
    """Where the gateway is that the pages speak to."""
    command = ["-m", "dragoman.cli", "serve", "--port", "0", "--json", "--keys-admin", ADMIN]
    with running(*command) as gateway:
        yield gateway.url.removeprefix("http://")


@pytest.mark.parametrize("page", pages_with("python"))
def test_python_blocks_run_and_print_what_they_show(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_files(page, tmp_path)
    names: dict[str, object] = {"__name__": page.stem}
    printed = ""
    for block in blocks(page):
        if block.language == "python":
            body = placed(block.body, request)
            exec(compile("\n" * (block.line - 1) + body, str(page), "exec", dont_inherit=True), names)
            printed = capsys.readouterr().out
        elif block.language == "output":
            assert matches(block.body.strip("\n"), printed), f"{page.name}:{block.line}\n{printed}"


@pytest.mark.slow
@pytest.mark.parametrize("page", pages_with("console"))
def test_console_blocks_write_what_they_show(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    write_files(page, tmp_path)
    for block in blocks(page):
        for session in sessions(block.body) if block.language == "console" else ():
            if session.command.startswith(RUN):
                written = run(placed(session.command, request), tmp_path)
                assert matches(session.expected, written), f"{page.name}:{block.line}\n{written}"


def test_links_lead_to_files() -> None:
    found = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
    links = [(page, target) for page in PAGES for target in found.findall(page.read_text(encoding="utf-8"))]
    assert [
        (str(page.relative_to(ROOT)), target) for page, target in links if not (page.parent / target).exists()
    ] == []


def test_make_commands_that_are_named_exist() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {
        str(page.relative_to(ROOT)): set(re.findall(r"`make (\w+)`", page.read_text(encoding="utf-8")))
        for page in PAGES
    }
    assert {name: commands - targets for name, commands in named.items() if commands - targets} == {}


def test_the_readme_names_dialects_that_there_are() -> None:
    named = re.findall(r"^\| `(\w+)` \|", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) <= {dialect.name for dialect in dialects()}


def test_dots_stand_for_any_lines_and_nothing_else_does() -> None:
    assert matches("a\n...\nd", "a\nb\nc\nd\n")
    assert not matches("a\n...\nd", "a\nb\nc\n")
    assert matches("a…\nd", "abc\nd\n")
    assert not matches("a…d", "abc\nd\n")
    assert not matches("a.c", "abc")


def placed(text: str, request: pytest.FixtureRequest) -> str:
    """The text with the place of the gateway that runs, which is started for the first that needs it."""
    return text.replace(PLACE, request.getfixturevalue("place")) if PLACE in text else text


def write_files(page: Path, folder: Path) -> None:
    for block in blocks(page):
        if block.language == "python" and (name := FILE.match(block.body)):
            (folder / name[1]).write_text(block.body, encoding="utf-8")


def run(command: str, folder: Path) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    environment = {**os.environ, "PATH": path, "COLUMNS": "110", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, capture_output=True, timeout=60, check=False
    )
    return (done.stdout + done.stderr).decode()
