"""By name: a dialect's own, an alias, or what vLLM, SGLang, llama.cpp and Dynamo call its parser."""

from __future__ import annotations

from ..registry import get_dialect, normal_name
from .answer import Answer, Certainty

__all__ = ["by_name"]


def by_name(name: str) -> Answer:
    """The dialect of this name; raises `AmbiguousDialect` if several share it, `UnknownDialect` if none has it."""
    dialect = get_dialect(name)
    written = normal_name(name.partition(":")[0])
    if written == dialect.name.partition(":")[0]:
        return Answer(dialect, f"the name {dialect.name!r}", Certainty.EXACT)
    if written in dialect.shared:
        return Answer(dialect, f"the name {written!r}, which it shares", Certainty.STRONG)
    return Answer(dialect, f"the alias {written!r}", Certainty.EXACT)
