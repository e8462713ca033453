"""What is public is said in ``__all__``, and importing the package costs next to nothing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "dragoman"

HEAVY = frozenset(
    {
        "asyncio",
        "hypothesis",
        "jinja2",
        "rich",
        "sentencepiece",
        "socket",
        "subprocess",
        "tiktoken",
        "tokenizers",
        "torch",
    }
)
"""Packages that a program which only parses must never pay for."""


def names() -> list[str]:
    """All modules but ``__main__``."""
    paths = (path.relative_to(SOURCE.parent).with_suffix("") for path in sorted(SOURCE.rglob("*.py")))
    return [".".join(path.parts).removesuffix(".__init__") for path in paths if path.stem != "__main__"]


def defined(module: ModuleType) -> set[str]:
    """The functions and classes that a module defines without an underscore."""
    return {
        name
        for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and callable(value) and not name.startswith("_")
    }


@pytest.mark.parametrize("name", [name for name in names() if ".dialects." not in name])
def test_a_module_says_what_is_public(name: str) -> None:
    module = importlib.import_module(name)
    public = getattr(module, "__all__", [])
    assert list(public) == sorted(public, key=lambda word: (not word.isupper(), not word[0].isupper(), word))
    assert [word for word in public if word.startswith("_") and not word.startswith("__")] == []
    assert [word for word in public if not hasattr(module, word)] == []
    assert hasattr(module, "__all__") or not defined(module)


def test_a_dialects_file_has_a_dialect() -> None:
    files = [name for name in names() if ".dialects." in name]
    assert [name for name in files if importlib.import_module(name).DIALECT.name != name.rpartition(".")[2]] == []


def test_a_module_says_what_it_is() -> None:
    assert [name for name in names() if not importlib.import_module(name).__doc__] == []


def test_importing_the_package_is_light() -> None:
    assert loaded_by("import dragoman") & HEAVY == set()


def test_reading_a_message_is_light() -> None:
    assert loaded_by("import dragoman; dragoman.parse('hello', 'hermes')") & HEAVY == set()


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after a statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}
