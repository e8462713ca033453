"""Whole texts against the C code that does the least that must be done; and what a new parser costs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from time import perf_counter_ns

from msgspec import Struct

from dragoman import Parser
from dragoman.types import Tool

from .clock import Floor, fresh, quiet, timed
from .text import cut, prose
from .workloads import workload

__all__ = ["NEW_LIMIT", "Comparison", "against_find", "against_json", "new_parser", "short_answers"]

NEW_LIMIT = 300.0
"""Floors that a new parser may cost."""

CHUNKS = 32768


class Comparison(Struct, frozen=True):
    """Two times in microseconds, and how many of the second the first is worth."""

    name: str
    title: str
    us: float
    us_other: float
    ratio: float
    limit: float | None = None

    @property
    def missed(self) -> tuple[str, ...]:
        """The limit, if it was not kept."""
        over = self.limit is not None and self.ratio > self.limit
        return (f"ratio {self.ratio:.0f} > {self.limit:g}",) if over else ()


def against_find(rounds: int) -> Comparison:
    """Content fed whole, against a search for the opener of a call in it."""
    text = "".join(prose(CHUNKS))

    def ours() -> None:
        parser = Parser("hermes")
        parser.feed(text)
        parser.finish()

    times = best_of(rounds, ours, lambda: text.find("<tool_call>"))
    return _compared("find", "whole content / str.find of the opener", times)


def against_json(rounds: int) -> Comparison:
    """A call fed whole, against `json.loads` of its arguments."""
    output = workload("string").write(CHUNKS)
    text, arguments = output.text, output.message.tool_calls[0].arguments

    def ours() -> None:
        parser = Parser("hermes")
        parser.feed(text)
        parser.finish()

    return _compared(
        "loads", "whole JSON call / json.loads of its arguments", best_of(rounds, ours, partial(json.loads, arguments))
    )


def new_parser(rounds: int) -> Comparison:
    """A parser of a known dialect with twenty tools that were seen before, in floors."""
    fields = {"path": {"type": "string"}, "limit": {"type": "integer"}, "deep": {"type": "boolean"}}
    tools = [Tool(f"tool_{k}", "What it does.", {"type": "object", "properties": fields}) for k in range(20)]
    Parser("hermes", tools)
    many = 200

    def ours() -> None:
        for _ in range(many):
            Parser("hermes", tools)

    chunks = fresh(prose(1000))
    new, floor = best_of(rounds, ours, lambda: timed(Floor().feed, chunks))
    return _compared("new", "a new parser with 20 tools / floor", (new / many, floor / len(chunks)), NEW_LIMIT)


def short_answers(rounds: int) -> list[Comparison]:
    """A one-line answer and a small call, each whole with its parser and its end: what does not grow with length."""
    texts = {
        "a short answer": "It is sunny.<|im_end|>",
        "a short call": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call><|im_end|>',
    }
    found = []
    for name, text in texts.items():
        pieces = cut(text, ("<tool_call>", "</tool_call>", "<|im_end|>"))
        times = best_of(rounds, partial(_all, pieces), partial(_floors, pieces))
        title = f"{name} of {len(pieces)} chunks, parser and finish included / as many floors"
        found.append(_compared(name.split()[-1], title, times))
    return found


def _all(pieces: list[str]) -> None:
    parser = Parser("hermes")
    for piece in pieces:
        parser.feed(piece)
    parser.finish()


def _floors(pieces: list[str]) -> None:
    floor = Floor()
    for piece in pieces:
        floor.feed(piece)


def best_of(rounds: int, ours: Callable[[], object], other: Callable[[], object]) -> tuple[float, float]:
    """The shortest times of both, in nanoseconds, taken in turn."""
    best = [float("inf"), float("inf")]
    with quiet():
        for _ in range(rounds * 3):
            for k, run in enumerate((ours, other)):
                began = perf_counter_ns()
                run()
                best[k] = min(best[k], perf_counter_ns() - began)
    return best[0], best[1]


def _compared(name: str, title: str, times: tuple[float, float], limit: float | None = None) -> Comparison:
    ours, other = times
    return Comparison(name, title, ours / 1000, other / 1000, ours / other, limit)
