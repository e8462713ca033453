"""The facts that recognition is held to, and which of them wait for a dialect's file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from dragoman import dialects

HERE = Path(__file__).parent

KNOWN = frozenset(dialect.name for dialect in dialects())

PENDING: frozenset[str] = frozenset()
"""Dialects that the facts name and that have no file yet: to be emptied."""


def facts(name: str) -> dict[str, Any]:
    """One of the files of facts."""
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def ready(dialect: str) -> bool:
    """Whether a fact about this dialect can be held against it."""
    return dialect in KNOWN
