"""Times the workloads chunk by chunk, at several lengths, in turn with the floor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter_ns

from msgspec import Struct

from dragoman import Parser
from dragoman.parse.assemble import assemble

from .clock import Best, quiet, side_by_side
from .workloads import Output, Workload

__all__ = ["GROWTH_LIMIT", "SIZES", "Stream", "stream"]

SIZES = (2048, 8192, 32768)
"""Chunks of an output."""

GROWTH_LIMIT = 1.15
"""How much longer a chunk may take in the longest output than in the shortest."""


class Stream(Struct, frozen=True):
    """What was measured of a workload; times per chunk are in microseconds, one for each size."""

    name: str
    title: str
    dialect: str
    chunks: tuple[int, ...]
    us_per_chunk: tuple[float, ...]
    us_floor: tuple[float, ...]
    ratio: float
    limit: float
    growth: float
    whole_mb_s: float
    marked: float
    mean_length: float
    correct: bool

    @property
    def missed(self) -> tuple[str, ...]:
        """The limits that were not kept."""
        over = [f"ratio {self.ratio:.1f} > {self.limit:g}"] if self.ratio > self.limit else []
        return (*over, *([f"growth {self.growth:.2f} > {GROWTH_LIMIT}"] if self.growth > GROWTH_LIMIT else []))


def stream(
    work: Workload, rounds: int, sizes: tuple[int, ...] = SIZES, step: Callable[[], None] = lambda: None
) -> Stream:
    """Measure a workload; `step` is called after each round."""
    outputs = [work.write(size) for size in sizes]
    ours, floors, whole = [Best() for _ in sizes], [Best() for _ in sizes], Best()
    for _ in range(rounds):
        for k, output in enumerate(outputs):
            mine, floor = side_by_side(partial(_parser, work), output.chunks)
            ours[k].take(mine)
            floors[k].take(floor)
        whole.take([_whole(work, outputs[-1])])
        step()
    counts = tuple(len(output.chunks) for output in outputs)
    per_chunk = tuple(best.total / 1000 / count for best, count in zip(ours, counts, strict=True))
    per_floor = tuple(best.total / 1000 / count for best, count in zip(floors, counts, strict=True))
    longest = outputs[-1]
    return Stream(
        work.name, work.title, work.dialect, counts, per_chunk, per_floor,
        ratio=per_chunk[-1] / per_floor[-1], limit=work.limit, growth=per_chunk[-1] / per_chunk[0],
        whole_mb_s=len(longest.text.encode()) / whole.total * 1000, marked=_share(longest, work.marked),
        mean_length=len(longest.text) / len(longest.chunks), correct=_correct(work, outputs[0]),
    )  # fmt: skip


def _parser(work: Workload) -> Parser:
    return Parser(work.dialect, work.tools or None)


def _whole(work: Workload, output: Output) -> int:
    """Nanoseconds when all is fed at once."""
    parser, text = _parser(work), output.text
    with quiet():
        began = perf_counter_ns()
        parser.feed(text)
        parser.finish()
        return perf_counter_ns() - began


def _share(output: Output, marks: str) -> float:
    """The share of chunks with one of the characters in them."""
    return sum(not set(marks).isdisjoint(chunk) for chunk in output.chunks) / len(output.chunks)


def _correct(work: Workload, output: Output) -> bool:
    """Whether the workload is read as what it is."""
    parser = _parser(work)
    events = [event for chunk in output.chunks for event in parser.feed(chunk)]
    return assemble(events + parser.finish()) == output.message
