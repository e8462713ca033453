"""What is emitted for tools: the dialects of the benchmark of constraints, and what engines have of their own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dragoman import Tool, get_dialect
from dragoman.constrain import constraint as constraints
from dragoman.constrain import emission as emissions
from dragoman.constrain.constraint import Constraint, constrain
from dragoman.constrain.emission import Engine, emit

__all__ = ["EMITTED", "Emission", "constraint", "forget", "text"]


class Emission(Struct, frozen=True):
    """A dialect, and what xgrammar calls its own tag for it."""

    name: str
    builtin: str


def constraint(given: Emission, tools: Sequence[Tool]) -> Constraint:
    """What may be written with these tools."""
    return constrain(get_dialect(given.name), tools)


def text(given: Emission, tools: Sequence[Tool], engine: Engine) -> str:
    """The constraint in the notation of an engine."""
    return emit(constraint(given, tools), engine).text


def forget() -> None:
    """Have everything built anew that is kept for who asks again."""
    constraints._known.clear()
    emissions._known.clear()


EMITTED = (
    Emission("hermes", "qwen_3"),
    Emission("qwen3_coder", "qwen_3_coder"),
    Emission("kimi_k2", "kimi"),
    Emission("deepseek_v31", "deepseek_v3_1"),
    Emission("glm47", "glm_4_7"),
    Emission("harmony", "harmony"),
    Emission("llama3_json", "llama"),
)
