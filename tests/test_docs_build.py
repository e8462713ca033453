"""The generated pages say what the dialects say, and the words of grammars are all explained."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from dragoman import dialects, parse
from dragoman.grammar import build as words

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


def _load() -> ModuleType:
    spec = spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


build = _load()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    assert build.main([], tmp_path) == 0
    return tmp_path


def test_the_pages_are_fresh() -> None:
    assert build.main(["--check"]) == 0, "run `make docs`"


def test_writing_twice_changes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert build.main([], folder) == 0
    assert build.main(["--check"], folder) == 0
    assert capsys.readouterr().out == ""


def test_a_page_that_says_something_else_is_stale(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "hermes.md").write_text("# hermes\n", encoding="utf-8")
    capsys.readouterr()
    assert build.main(["--check"], folder) == 1
    assert capsys.readouterr().out == "stale: hermes.md\n"
    assert (folder / "hermes.md").read_text(encoding="utf-8") == "# hermes\n"


def test_a_page_without_a_dialect_is_removed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "gone.md").write_text("# gone\n", encoding="utf-8")
    assert build.main(["--check"], folder) == 1
    assert build.main([], folder) == 0
    assert "removed: gone.md" in capsys.readouterr().out
    assert not (folder / "gone.md").exists()


def test_a_missing_page_is_written(folder: Path) -> None:
    (folder / "hermes.md").unlink()
    assert build.main(["--check"], folder) == 1
    assert build.main([], folder) == 0
    assert (folder / "hermes.md").is_file()


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["1", "2"])
def test_pages_do_not_depend_on_the_order_of_sets(seed: str) -> None:
    command = [sys.executable, str(ROOT / "docs" / "build.py"), "--check"]
    assert subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, check=False).returncode == 0


def test_the_index_names_every_dialect() -> None:
    index = build.pages()[build.FOLDER / "README.md"]
    assert re.findall(r"^\| \[`(\w+)`\]\(\1\.md\) \|", index, re.MULTILINE) == [d.name for d in dialects()]


def test_the_spans_of_an_example_cover_it() -> None:
    for dialect in dialects():
        example = dialect.examples[0]
        shown = build.spans(dialect, example)
        places = [(int(a), int(b)) for a, b in re.findall(r"^(\d+)-(\d+) ", shown, re.MULTILINE)]
        assert [start for start, _ in places] == [0, *(end for _, end in places[:-1])]
        assert places[-1][1] == len(example.text)


def test_the_layout_that_a_dialect_shows_can_be_read() -> None:
    for dialect in dialects():
        layout = re.search(r"```text\n(.*?)\n(?:```|~~~)$", build.page(dialect), re.DOTALL | re.MULTILINE)
        assert layout is None or parse(layout[1], dialect).parts


def test_grammars_are_laid_out_without_losing_a_word() -> None:
    text = '"a" (content(until("b c", "| d")) | [|(]+ call(("x" ^) (y)))* | "' + "e" * 120 + '"'
    laid_out = build.laid_out(text, "  ")
    assert "".join(laid_out.split()) == "".join(text.split())
    assert max(map(len, laid_out.split("\n"))) < len(text)


def test_rules_put_back_together_are_the_grammar() -> None:
    for dialect in dialects():
        rules = dict(build.named_rules(dialect))
        used = {word for body in rules.values() for word in re.findall(r"\b[a-z]+_?\d*\b", body)}
        assert {name for name in rules if name != "root" and " " not in name} <= used


def test_prose_shows_code_and_tags_as_code() -> None:
    assert build.prose("a ``x y`` in <tag> is < 3 * 4") == "a `x y` in `<tag>` is \\< 3 \\* 4"


def test_every_word_of_the_vocabulary_is_explained() -> None:
    page = (ROOT / "docs" / "grammar.md").read_text(encoding="utf-8")
    assert [word for word in words.__all__ if not re.search(rf"`{word}[(`]|\b{word}\(", page)] == []
