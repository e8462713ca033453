"""One case: a text, and everything else that decides what the parser says about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import Struct

from dragoman import Parser, Policy, get_dialect
from dragoman.events import Event
from dragoman.recordings import tools as recorded_tools
from dragoman.types import Tool

__all__ = ["Broken", "Case", "feed_all", "toolset"]


class Case(Struct, frozen=True):
    """An input and its circumstances; `tools` says whether the parser is told of any."""

    dialect: str
    text: str
    start: str = "content"
    tools: bool = False
    policy: Policy = Policy()
    reason: str | None = None

    def parser(self) -> Parser:
        """A fresh parser for it."""
        tools = toolset(self.dialect) if self.tools else None
        return Parser(self.dialect, tools, start=self.start, policy=self.policy)

    def size(self) -> tuple[int, int]:
        """How far from the simplest case; less is simpler."""
        usual = Case(self.dialect, self.text)
        odd = sum(getattr(self, name) != getattr(usual, name) for name in ("start", "tools", "policy", "reason"))
        return len(self.text), odd

    def __str__(self) -> str:
        extras = [f"start={self.start!r}"] if self.start != "content" else []
        extras += ["tools=toolset(dialect)"] if self.tools else []
        extras += [f"policy={self.policy}"] if self.policy != Policy() else []
        extras += [f"reason={self.reason!r}"] if self.reason is not None else []
        return ", ".join([self.dialect, ascii(self.text), *extras])


class Broken(Struct, frozen=True):
    """A promise that a case breaks, and how; `sign` tells kinds of failure apart."""

    promise: str
    sign: str
    detail: str

    @property
    def key(self) -> tuple[str, str]:
        """What a failure must keep while its case is made smaller."""
        return self.promise, self.sign


@cache
def toolset(dialect: str) -> tuple[Tool, ...]:
    """Tools of all shapes: those of the recordings, of the dialect's examples, and one of every JSON type."""
    kinds = ("string", "integer", "number", "boolean", "null", "object", "array")
    properties: dict[str, object] = {kind[0]: {"type": kind} for kind in kinds}
    properties |= {"u": {"type": ["integer", "string"]}, "m": {"anyOf": [{"type": "object"}, {"type": "null"}]}}
    listed = [Tool.from_openai({"name": "f", "parameters": {"type": "object", "properties": properties}})]
    listed += recorded_tools()
    listed += [tool for example in get_dialect(dialect).examples for tool in example.tools]
    return tuple({tool.name: tool for tool in reversed(listed)}.values())


def feed_all(parser: Parser, pieces: Iterable[str], reason: str | None) -> list[Event]:
    """All events of these pieces and the end."""
    events: list[Event] = []
    for piece in pieces:
        events += parser.feed(piece)
    return events + parser.finish(reason)


def cut(text: str, ends: Sequence[int]) -> list[str]:
    """A text in pieces that end where told; the rest is the last piece."""
    return [text[a:b] for a, b in zip((0, *ends), (*ends, len(text)), strict=True)]
