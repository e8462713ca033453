"""What is known of a request while it lives, for the log, the metrics and nobody else: no word of what was said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from ..events import Problem

__all__ = ["Record"]


def _nobody(model: str) -> None:
    pass


@dataclass(slots=True)
class Record:
    """One request, filled in by the stages; times are those of a clock that only goes forward, in seconds."""

    id: str
    endpoint: str
    begun: float
    meet: Callable[[str], None] = _nobody
    """Is told the model, once that is known."""
    model: str = ""
    dialect: str = ""
    worker: str = ""
    streamed: bool = False
    status: int = 0
    code: str = ""
    first: float | None = None
    ended: float | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cached_tokens: int = 0
    retries: list[str] = field(default_factory=list)
    stages: dict[str, float] = field(default_factory=dict)
    finish: list[str] = field(default_factory=list)
    problems: Counter[str] = field(default_factory=Counter)
    residue: int = 0

    def note(self, problems: list[Problem]) -> None:
        """Count problems by kind."""
        for problem in problems:
            self.problems[problem.kind.value] += 1
