"""Imports go one way: no cycle, nothing upward, and no outside world below the layers that own it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "dragoman"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("types", "events", "errors", "segments", "kept"),
    ("grammar", "tokenizers"),
    ("emit",),
    ("dialect", "dialects", "idioms", "recognise", "registry", "response_template"),
    ("parse", "constrain"),
    ("render", "recordings"),
    ("stream",),
    ("backends",),
    ("gateway", "testing", "made_up"),
    ("conformance",),
    ("__init__",),
    ("cli",),
)
"""The table of the architecture, top down; a module imports from its own row and the rows before it."""

CORE = 5
"""The first rows are pure: text in, values out."""

OUTSIDE = frozenset({"asyncio", "os", "random", "socket", "subprocess", "threading", "time"})
"""What the core must not know: the network, the clock, chance, and other programs."""

OWNERS = {
    "jinja2": "render",
    "llguidance": "tokenizers",
    "markupsafe": "render",
    "httptools": "gateway",
    "msgspec": "types",
    "prometheus_client": "gateway",
    "rich": "cli",
    "sentencepiece": "tokenizers",
    "starlette": "gateway",
    "tiktoken": "tokenizers",
    "tokenizers": "tokenizers",
    "torch": "constrain",
    "uvicorn": "gateway",
    "uvloop": "gateway",
    "xllamacpp": "gateway",
    "xgrammar": "tokenizers",
}
"""Third-party packages, and the layer above which none may import them; no others are imported at all."""


def modules(root: Path = SOURCE) -> dict[str, str]:
    """All modules of the package by dotted name, with their source; a package's name ends in ``__init__``."""
    return {
        ".".join(path.relative_to(root.parent).with_suffix("").parts): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*.py"))
    }


class RuntimeOnly(ast.NodeTransformer):
    """Leaves out what only a type checker reads."""

    def visit_If(self, node: ast.If) -> ast.AST:
        return ast.Pass() if ast.unparse(node.test).endswith("TYPE_CHECKING") else self.generic_visit(node)


@cache
def statements(source: str, *, runtime: bool) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """All statements that import anything."""
    tree = ast.parse(source)
    nodes = ast.walk(RuntimeOnly().visit(tree) if runtime else tree)
    return tuple(node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))


def imports(name: str, source: str, known: Mapping[str, str], *, runtime: bool = False) -> Iterator[str]:
    """The dotted names that a module imports, wherever in the file: in functions too, and for types unless told."""
    package = name.split(".")[:-1]
    for node in statements(source, runtime=runtime):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        else:
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{stem}.{alias.name}"
                yield inner if inner in known or f"{inner}.__init__" in known else stem


def edges(known: Mapping[str, str], *, runtime: bool = False) -> dict[str, set[str]]:
    """Who imports whom, inside the package only."""
    graph: dict[str, set[str]] = {}
    for name, source in known.items():
        targets = {
            target if target in known else f"{target}.__init__"
            for target in imports(name, source, known, runtime=runtime)
            if target.split(".")[0] == "dragoman"
        }
        graph[name] = targets - {name}
    return graph


def layer(name: str) -> int:
    """The row of a module; an unknown one has no place yet."""
    part = name.split(".")[1]
    for row, parts in enumerate(LAYERS):
        if part in parts:
            return row
    raise AssertionError(f"{name} is in no layer: give it a row in LAYERS")


def upward(known: Mapping[str, str]) -> list[str]:
    return [
        f"{name} imports {target}"
        for name, targets in edges(known).items()
        for target in sorted(targets)
        if layer(target) > layer(name)
    ]


def cycle(known: Mapping[str, str]) -> list[str]:
    """Modules that import each other when they run; types of one layer may speak of each other."""
    try:
        TopologicalSorter(edges(known, runtime=True)).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def strangers(known: Mapping[str, str]) -> list[str]:
    """Imports from outside the package that a module of its layer must not have."""
    found = []
    for name, source in known.items():
        for target in imports(name, source, known):
            top = target.split(".")[0]
            if top == "dragoman":
                continue
            owner = OWNERS.get(top)
            foreign = top not in sys.stdlib_module_names and owner is None
            impure = top in OUTSIDE and layer(name) < CORE
            if foreign or impure or (owner and layer(name) < layer(f"dragoman.{owner}")):
                found.append(f"{name} imports {target}")
    return found


def test_no_module_imports_from_a_layer_below_it() -> None:
    assert upward(modules()) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycle(modules()) == []


def test_the_core_knows_nothing_of_network_clock_chance_and_threads() -> None:
    assert strangers(modules()) == []


def test_only_the_registry_imports_dialects() -> None:
    importers = {
        name.split(".")[1]
        for name, targets in edges(modules()).items()
        if any(target.startswith("dragoman.dialects") for target in targets)
    }
    assert importers <= {"registry", "dialects"}


# The checks themselves, on trees of two modules that break one rule each.


def test_an_upward_import_under_type_checking_is_seen() -> None:
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..parse.parser import Parser\n"
    known = {"dragoman.grammar.nodes": source, "dragoman.parse.parser": ""}
    assert upward(known) == ["dragoman.grammar.nodes imports dragoman.parse.parser"]


def test_a_cycle_through_a_function_is_seen() -> None:
    known = {
        "dragoman.grammar.a": "from .b import x",
        "dragoman.grammar.b": "def f():\n    from . import a",
    }
    assert set(cycle(known)) == {"dragoman.grammar.a", "dragoman.grammar.b"}


def test_types_of_one_layer_may_speak_of_each_other() -> None:
    known = {
        "dragoman.grammar.a": "from .b import x",
        "dragoman.grammar.b": "import typing\nif typing.TYPE_CHECKING:\n    from .a import y",
    }
    assert cycle(known) == []


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("dragoman.parse.parser", "import time"),
        ("dragoman.grammar.machine", "from os import path"),
        ("dragoman.dialect", "import jinja2"),
        ("dragoman.gateway.app", "import rich.console"),
        ("dragoman.stream.sse", "from hypothesis import given"),
    ],
)
def test_a_stranger_is_seen(name: str, source: str) -> None:
    assert len(strangers({name: source})) == 1


def test_a_module_without_a_layer_is_named() -> None:
    with pytest.raises(AssertionError, match=r"dragoman\.helpers is in no layer"):
        layer("dragoman.helpers")
