"""The generated pages say what the dialects say, and the words of grammars are all explained."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from prometheus_client import CollectorRegistry
from starlette.routing import Route

from docs import build, markdown, page, parameters, settings
from dragoman import (
    Dialect,
    Example,
    Message,
    TextPart,
    ThinkingPart,
    ToolCall,
    dialects,
    get_dialect,
    idioms,
    parse,
)
from dragoman.gateway.app import create_app
from dragoman.gateway.config import Settings
from dragoman.gateway.leaves import leaves
from dragoman.gateway.observe.families import Families
from dragoman.gateway.protocol.chat import HARMLESS, LEGACY
from dragoman.gateway.protocol.sampling import PASSED_ON
from dragoman.gateway.sources import read_settings
from dragoman.gateway.workers.register import KINDS
from dragoman.grammar import build as words
from dragoman.idioms.define import layout
from dragoman.types import UnparsedToolCall

ROOT = Path(__file__).parents[1]
FEW = tuple(map(get_dialect, ("harmony", "kimi_vl")))
"""Dialects whose pages are looked at in the core suite; all are where there is time."""


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "dialects", lambda: FEW)


@pytest.fixture
def folder(tmp_path: Path, few: None) -> Path:
    assert build.main([], tmp_path) == 0
    return tmp_path


@pytest.mark.slow
def test_all_pages_are_fresh() -> None:
    assert build.main(["--check"]) == 0, "run `make docs`"


def test_some_pages_and_the_index_are_fresh() -> None:
    wanted = {"README.md": build.index(dialects())} | build.files(FEW)
    for name, text in wanted.items():
        assert (build.FOLDER / name).read_text(encoding="utf-8") == text, f"{name} is stale: run `make docs`"


def test_the_reference_of_the_settings_is_fresh() -> None:
    assert build.SETTINGS.read_text(encoding="utf-8") == settings.page(), "run `make docs`"


def test_the_reference_names_every_setting() -> None:
    shown = settings.page()
    assert [
        leaf.key for leaf in leaves() if len(leaf.path) > 1 and f"| `{leaf.key}` | `{leaf.flag}` |" not in shown
    ] == []


def test_the_table_of_parameters_is_fresh() -> None:
    assert build.PARAMETERS.read_text(encoding="utf-8") == parameters.page(), "run `make docs`"


def test_the_table_of_parameters_has_every_field_that_is_read() -> None:
    assert parameters.named() == parameters.read()
    assert [name for name in parameters.OTHERS if not parameters.ignored(name)] == []


def test_every_field_of_openais_is_somewhere_on_the_page() -> None:
    from openai.types.chat import completion_create_params as params

    fields = set(params.CompletionCreateParamsStreaming.__annotations__) | set(
        params.CompletionCreateParamsBase.__annotations__
    )
    assert sorted(fields - parameters.read() - HARMLESS - set(parameters.OTHERS) - LEGACY.keys()) == []


def test_what_is_passed_on_reaches_every_kind_of_server() -> None:
    assert [name for name in sorted(PASSED_ON) if not parameters.passed_on(name)] == []


def test_there_is_a_page_and_a_picture_of_every_dialect() -> None:
    names = {f"{dialect.name}{ending}" for dialect in dialects() for ending in (".md", ".svg")}
    assert {path.name for path in build.FOLDER.iterdir()} == names | {"README.md"}, "run `make docs`"


def test_the_readme_says_how_many_families_there_are() -> None:
    text = build.README.read_text(encoding="utf-8")
    assert build.FAMILIES.findall(text) == [str(len(dialects()))], "run `make docs`"
    assert build.readme(FEW).count("2 families") == 1


def test_writing_twice_changes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert build.main([], folder) == 0
    assert build.main(["--check"], folder) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", ["harmony.md", "harmony.svg"])
def test_a_file_that_says_something_else_is_stale(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).write_text("# harmony\n", encoding="utf-8")
    capsys.readouterr()
    assert build.main(["--check"], folder) == 1
    assert capsys.readouterr().out == f"stale: {name}\n"
    assert (folder / name).read_text(encoding="utf-8") == "# harmony\n"


@pytest.mark.parametrize("name", ["gone.md", "gone.svg"])
def test_a_file_without_a_dialect_is_removed(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / name).write_text("# gone\n", encoding="utf-8")
    assert build.main(["--check"], folder) == 1
    assert build.main([], folder) == 0
    assert f"removed: {name}" in capsys.readouterr().out
    assert not (folder / name).exists()


def test_a_missing_page_is_written(folder: Path) -> None:
    (folder / "harmony.md").unlink()
    assert build.main(["--check"], folder) == 1
    assert build.main([], folder) == 0
    assert (folder / "harmony.md").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_pages_do_not_depend_on_the_order_of_sets(seed: str) -> None:
    paths = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    command = [sys.executable, "-m", "docs.build", "--check"]
    assert subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def test_the_index_names_every_dialect_below_its_kind() -> None:
    index = build.index(dialects())
    assert sorted(re.findall(r"^\| \[`(\w+)`\]\(\1\.md\) \|", index, re.MULTILINE)) == [d.name for d in dialects()]
    arrays = index.split("## An array of JSON\n", 1)[1].split("\n## ", 1)[0]
    assert "[`jamba`]" in arrays
    assert "[`hermes`]" not in arrays


def test_the_index_does_not_list_many_models() -> None:
    (cells,) = build.lines([_with_models(9)])
    assert cells[2].endswith("`m/5` and 3 more")
    (cells,) = build.lines([_with_models(6)])
    assert cells[2].endswith("`m/5`")


def _with_models(count: int) -> Dialect:
    return replace(FEW[0], models=tuple(f"m/{k}" for k in range(count)))


@pytest.mark.slow
def test_the_layout_that_a_dialect_shows_can_be_read() -> None:
    for dialect in dialects():
        assert not layout(dialect.doc) or parse(layout(dialect.doc), dialect).parts


def test_a_page_shows_the_layout_once() -> None:
    for dialect in FEW:
        shown = page.page(dialect)
        assert shown.count(markdown.fenced(dialect.examples[0].text)) == 1
        assert f"]({dialect.name}.svg)" in shown


def test_a_page_tells_what_becomes_of_broken_outputs() -> None:
    shown = page.page(get_dialect("kimi_vl"))
    assert "## What else is read" in shown
    assert re.search(r"^\| truncated reasoning.*\| `think: .*<br>\*unclosed reasoning\* \|$", shown, re.MULTILINE)


def test_the_parts_of_a_message_are_told_each_in_a_line() -> None:
    said = (
        ThinkingPart("a"),
        TextPart("b\n"),
        TextPart("c", "final"),
        ToolCall("f", "{}"),
        ToolCall("g", "{}", "1"),
        UnparsedToolCall("<x", "why"),
    )
    assert page.parts(Message("assistant", said)).split("\n")[1:-1] == [
        'thought        "a"',
        'text           "b\\n"',
        'text on final  "c"',
        "call           f {}",
        "call           g {}, id 1",
        'unread         "<x"',
    ]


def test_an_example_that_begins_elsewhere_says_so() -> None:
    shown = list(page.further(FEW[0], Example("t", "x", Message("assistant", (TextPart("x"),)), start="reasoning")))
    assert shown[1] == 'The prompt has begun it: `start="reasoning"`.'
    assert "## What else is read" not in page.page(replace(FEW[1], name="no_cases"))
    assert list(page.told([])) == []


def test_the_readme_is_written_too(tmp_path: Path, few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "FOLDER", tmp_path)
    monkeypatch.setattr(build, "README", tmp_path.parent / "README.md")
    build.README.write_text("It reads 7 families.\n", encoding="utf-8")
    assert build.main(["--check"], tmp_path) == 1
    assert build.main([], tmp_path) == 0
    assert build.README.read_text(encoding="utf-8") == "It reads 2 families.\n"
    assert build.main(["--check"], tmp_path) == 0


def test_prose_shows_code_and_tags_as_code() -> None:
    assert markdown.prose("a ``x y`` in <tag> is < 3 * 4") == "a `x y` in `<tag>` is \\< 3 \\* 4"


@pytest.mark.parametrize(
    ("text", "shown"),
    [("a", "`a`"), ("a`b", "``a`b``"), ("`a", "`` `a ``"), ("```", "```` ``` ````"), (" a", "`  a `")],
)
def test_code_stands_in_a_fence_that_it_does_not_hold(text: str, shown: str) -> None:
    assert markdown.code(text) == shown


def test_bars_in_cells_are_escaped() -> None:
    assert markdown.rows(("a", "b"), [("x|y", "z")]).split("\n") == ["| a | b |", "| --- | --- |", r"| x\|y | z |"]


def test_every_function_that_makes_calls_or_dialects_is_named_where_dialects_are_written() -> None:
    page = (ROOT / "docs" / "add-a-dialect.md").read_text(encoding="utf-8")
    made = [name for name in idioms.__all__ if _makes(getattr(idioms, name)) in ("Calls", "Dialect")]
    assert "tagged_json" in made
    assert [name for name in made if not re.search(rf"`{name}`", page)] == []


def _makes(value: object) -> object:
    return getattr(value, "__annotations__", {}).get("return")


def test_every_dialect_says_what_its_calls_look_like() -> None:
    assert [dialect.name for dialect in dialects() if not dialect.kind] == []


def test_every_word_of_the_vocabulary_is_explained() -> None:
    page = (ROOT / "docs" / "grammar.md").read_text(encoding="utf-8")
    assert [word for word in words.__all__ if not re.search(rf"`{word}[(`]|\b{word}\(|\bb\.{word}\b", page)] == []


def test_the_file_with_settings_that_is_shown_can_be_read(tmp_path: Path) -> None:
    shown = (build.SETTINGS.parent / "deployment.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```toml\n(.*?)^```$", shown, re.MULTILINE | re.DOTALL)
    key = tmp_path / "key"
    key.write_text("k")
    file = tmp_path / "gateway.toml"
    file.write_text(text.replace("/run/secrets/dragoman-admin", str(key)), encoding="utf-8")
    assert len(read_settings(file, {"DRAGOMAN_CLIENT_KEY": "k"}).workers) == 2


def test_every_metric_is_in_the_table() -> None:
    registry = CollectorRegistry()
    Families(registry)
    names = [f"{family.name}_total" if family.type == "counter" else family.name for family in registry.collect()]
    shown = (build.SETTINGS.parent / "deployment.md").read_text(encoding="utf-8")
    assert [name for name in names if f"| `{name}` |" not in shown] == []


def test_every_error_of_the_gateway_is_in_the_table() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src/dragoman/gateway").rglob("*.py"))
    codes = {(status, code) for status, code in re.findall(r'Refused\((\d+), "(\w+)"', source)}
    rows = re.findall(r"^\| (\d{3}) \| ([^|]*) \|", _guide(), re.MULTILINE)
    shown = {(status, code) for status, cell in rows for code in re.findall(r"`(\w+)`", cell)}
    assert len(codes) > 15
    assert codes - shown == set()


def test_every_endpoint_is_in_the_table() -> None:
    rows = re.findall(r"^\| (\w+) \| (`/[^|]*) \|", _guide(), re.MULTILINE)
    shown = {(method, path) for method, cell in rows for path in re.findall(r"`([^`]+)`", cell)}
    routes = [route for route in create_app(Settings()).routes if isinstance(route, Route)]
    there = {(method, route.path.replace(":path", "")) for route in routes for method in route.methods or ()}
    assert shown == there - {(method, path) for method, path in there if method == "HEAD"}


def test_every_kind_of_worker_has_a_page() -> None:
    linked = re.findall(r"\]\(workers/([\w-]+)\.md\)", _guide())
    pages = {path.stem for path in (build.SETTINGS.parent / "workers").iterdir()}
    assert set(linked) == pages
    assert {kind.removesuffix("-generate").replace(".", "-") for kind in KINDS} <= pages


def _guide() -> str:
    return (build.SETTINGS.parent / "README.md").read_text(encoding="utf-8")
