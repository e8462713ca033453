"""Chat templates of real models, which are not ours to keep: read from a folder of them if there is one.

The folder is named by DRAGOMAN_ORACLES, or is ``.venv/oracles``; in it are the unpacked wheels they come in.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(os.environ.get("DRAGOMAN_ORACLES") or Path(__file__).parents[1] / ".venv" / "oracles")
FOLDERS = {"trl": ROOT / "trl" / "chat_templates"}


def chat_template(name: str) -> str:
    """The template of a name like ``trl:qwen3``; the test is skipped where it is missing."""
    source, _, stem = name.partition(":")
    path = FOLDERS[source] / f"{stem}.jinja"
    if not path.is_file():
        pytest.skip(f"no template {name}")
    return path.read_text(encoding="utf-8")


def chat_templates(source: str) -> list[str]:
    """The names of all templates of a source that are there."""
    return [f"{source}:{path.stem}" for path in sorted(FOLDERS[source].glob("*.jinja"))]
