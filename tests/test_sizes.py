"""Files and functions stay small enough to be read at one sitting."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "dragoman"

MODULE, FUNCTION, DIALECT = 500, 80, 150
"""Lines at most, comments and docstrings counted."""


def test_no_module_is_over_its_budget() -> None:
    assert [f"{path.name}: {length}" for path, length in lengths() if length > MODULE] == []


def test_no_dialect_is_over_its_budget() -> None:
    dialects = [(path, length) for path, length in lengths() if path.parent.name == "dialects"]
    assert [f"{path.name}: {length}" for path, length in dialects if length > DIALECT] == []


def test_no_function_is_over_its_budget() -> None:
    long = [
        f"{path.name}:{node.lineno} {node.name}: {length}"
        for path, _ in lengths()
        for node, length in functions(path.read_text(encoding="utf-8"))
        if length > FUNCTION
    ]
    assert long == []


def test_a_function_is_measured_with_its_signature_and_docstring() -> None:
    source = 'def f(\n    x,\n):\n    """Doc."""\n    return x\n\nclass C:\n    async def g(self): ...\n'
    assert [(node.name, length) for node, length in functions(source)] == [("f", 5), ("g", 1)]


def lengths() -> Iterator[tuple[Path, int]]:
    for path in sorted(SOURCE.rglob("*.py")):
        yield path, len(path.read_text(encoding="utf-8").splitlines())


def functions(source: str) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1
