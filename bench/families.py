"""Every dialect on the same four messages: what a chunk of it costs, against the dialects that the limits are made for.

The core figures are those of `hermes` for text, thoughts and JSON, and those of `qwen3_coder` for values that are
written raw; a dialect may cost half as much again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice

from msgspec import Struct

from dragoman import Dialect, Message, Parser, TextPart, ThinkingPart, Tool, ToolCall, dialects, get_dialect
from dragoman.errors import Inexpressible
from dragoman.grammar.nodes import Value
from dragoman.testing import markers
from dragoman.types import Part

from .clock import Best, side_by_side
from .text import cut, prose, records

__all__ = ["FAMILY_LIMIT", "KINDS", "Family", "families", "measured"]

FAMILY_LIMIT = 1.5
"""How many times the core figure of its kind a dialect may cost."""

CHUNKS = 4096
CORE, RAW = "hermes", "qwen3_coder"

TOOL = Tool(
    "insert",
    "",
    {
        "type": "object",
        "properties": {
            "content": {"type": "string"},
            "rows": {"type": "array", "items": {"type": "object", "additionalProperties": {}}},
        },
    },
)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


@cache
def _prose() -> str:
    return "".join(prose(CHUNKS)).replace("<", "(").replace("`", "'")


def _rows() -> str:
    return "[" + ", ".join(islice(records(), CHUNKS // 22)) + "]"


KINDS: dict[str, Callable[[], Part]] = {
    "text": lambda: TextPart(_prose()),
    "thought": lambda: ThinkingPart(_prose()),
    "string": lambda: ToolCall("insert", f'{{"content": {_quoted(_prose())}}}'),
    "records": lambda: ToolCall("insert", f'{{"rows": {_rows()}}}'),
}
"""What is measured; without the beginnings of markers, which cost each dialect what its own are."""


class Family(Struct, frozen=True):
    """A dialect's microseconds a chunk by kind, in floors and in core figures; a kind that it can't say is left out."""

    dialect: str
    us: dict[str, float]
    floors: dict[str, float]
    shares: dict[str, float]

    @property
    def missed(self) -> tuple[str, ...]:
        """The kinds that cost too much."""
        return tuple(kind for kind, share in self.shares.items() if share > FAMILY_LIMIT)


def families(rounds: int, step: Callable[[], None] = lambda: None) -> Iterator[Family]:
    """Measure all dialects, each in turn with the core; `step` is called after each."""
    core = {name: measured(get_dialect(name), rounds * 2) for name in (CORE, RAW)}
    for dialect in dialects():
        found = measured(dialect, rounds)
        raw = any(isinstance(node, Value) for node in dialect.grammar.walk())
        shares = {}
        for kind, (time, floor) in found.items():
            best, base = core[RAW if raw and kind in ("string", "records") else CORE][kind]
            shares[kind] = (time / floor) / (best / base)
        step()
        times = {kind: time for kind, (time, _) in found.items()}
        yield Family(dialect.name, times, {kind: time / floor for kind, (time, floor) in found.items()}, shares)


def measured(
    dialect: Dialect, rounds: int, kinds: Mapping[str, Callable[[], Part]] = KINDS
) -> dict[str, tuple[float, float]]:
    """Microseconds a chunk, and those of the floor, by kind; without those that the dialect can't say."""
    found = {}
    for kind, make in kinds.items():
        try:
            text = dialect.render(Message("assistant", (_fit(dialect, make()),)))
        except Inexpressible:
            continue
        chunks = tuple(cut(text, tuple(mark for mark in markers(dialect) if mark in text)))
        ours, floors = Best(), Best()
        for _ in range(rounds):
            mine, floor = side_by_side(lambda: Parser(dialect, (TOOL,)), chunks)
            ours.take(mine)
            floors.take(floor)
        found[kind] = ours.total / 1000 / len(chunks), floors.total / 1000 / len(chunks)
    return found


def _fit(dialect: Dialect, part: Part) -> Part:
    """A call with the id that the model writes."""
    if isinstance(part, ToolCall) and dialect.native_id is not None:
        return ToolCall(part.name, part.arguments, dialect.native_id(part.name, 0))
    return part
