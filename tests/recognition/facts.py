"""The facts that recognition is held to, and which of them wait for a dialect's file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from dragoman import dialects

HERE = Path(__file__).parent

KNOWN = frozenset(dialect.name for dialect in dialects())

PENDING = frozenset(
    (
        *("apertus", "apriel", "apriel16", "command_r7b", "command_r_plus", "deepseek_v32"),
        *("deepseek_v4", "ernie45", "functionary_v31", "functionary_v32", "functiongemma", "gemma4"),
        *("gigachat3", "glm45", "glm47", "granite", "granite_20b_fc", "hunyuan"),
        *("hy3", "inkling", "internlm", "jamba", "kimi_k3", "kimi_vl"),
        *("lfm2", "llama_pythonic", "longcat", "minicpm5", "minimax_m1", "minimax_m2"),
        *("minimax_m3", "muse", "nemotron", "olmo3", "phi4", "plamo3"),
        *("seed_oss", "solar", "step3", "think_only", "xlam"),
    )
)
"""Dialects that the facts name and that have no file yet: to be emptied."""


def facts(name: str) -> dict[str, Any]:
    """One of the files of facts."""
    return tomllib.loads((HERE / name).read_text(encoding="utf-8"))


def ready(dialect: str) -> bool:
    """Whether a fact about this dialect can be held against it."""
    return dialect in KNOWN
