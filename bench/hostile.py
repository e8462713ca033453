"""Inputs that are made to be slow: the time per character must not grow with them either."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns

from msgspec import Struct

from dragoman import Parser

from .clock import quiet
from .streaming import GROWTH_LIMIT
from .text import prose
from .workloads import TOOL

__all__ = ["HOSTILE", "Hostile", "Slope", "slope"]

CALL = '<tool_call>{"name": "write_file", "arguments": '
VALUE = "<function=write_file><parameter=content>\n"


class Hostile(Struct, frozen=True):
    """A beginning, and what is repeated behind it; `size` characters of it, and sixteen times as many."""

    name: str
    dialect: str
    opening: str
    unit: str
    size: int = 20_000


class Slope(Struct, frozen=True):
    """What was measured: nanoseconds per character of the long input, and `growth` since the short one."""

    name: str
    how: str
    ns_per_character: float
    growth: float

    @property
    def missed(self) -> tuple[str, ...]:
        """The limit, if it was not kept."""
        return (f"growth {self.growth:.2f} > {GROWTH_LIMIT}",) if self.growth > GROWTH_LIMIT else ()


HOSTILE = (
    Hostile("no marker at all, to 10 MB", "hermes", "", "Nothing in it could begin a marker. ", 655_360),
    Hostile("prose, to 10 MB", "hermes", "", "".join(prose(900)), 655_360),
    Hostile("<", "hermes", "", "<"),
    Hostile("newlines", "hermes", "", "\n"),
    Hostile("backticks", "hermes", "", "`"),
    Hostile("newlines behind the end", "hermes", "<|im_end|>", "\n"),
    Hostile("openers", "hermes", "", "<tool_call>"),
    Hostile("closers", "hermes", "", "</tool_call>"),
    Hostile("calls without a closer", "hermes", "", '<tool_call>{"name": "f", "arguments": {}}'),
    Hostile("backslashes in a string", "hermes", CALL + '{"content": "', "\\\\"),
    Hostile("escaped quotes in a string", "hermes", CALL + '{"content": "', '\\"'),
    Hostile("[ in arguments", "hermes", CALL, "["),
    Hostile("[[]] in arguments", "hermes", CALL + "[", "[[[[]]]],"),
    Hostile("digits in arguments", "hermes", CALL + "[", "1234567,"),
    Hostile("members beside the arguments", "hermes", CALL + "{}", ', "x": [{}]'),
    Hostile("closers in a parameter", "qwen3_coder", VALUE, "\n</parameter>"),
    Hostile("< in a parameter", "qwen3_coder", VALUE, "<"),
    Hostile("headers without a message", "harmony", "", "<|start|>assistant<|channel|>final"),
    Hostile("empty messages", "harmony", "", "<|channel|>final<|message|><|end|>"),
    Hostile("braces on lines", "llama3_json", "", '\n{"name": "f", '),
    Hostile("openers", "mistral", "", "[TOOL_CALLS]["),
    Hostile("openers", "deepseek_r1", "", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f"),
    Hostile("openers", "kimi_k2", "", "<|tool_call_begin|>"),
)


def slope(hostile: Hostile, chunk: int | None, rounds: int, step: Callable[[], None] = lambda: None) -> Slope:
    """Measure one, fed whole or in chunks; what grows already at four times the size is not tried at sixteen."""
    how = "whole" if chunk is None else f"chunks of {chunk}"
    short, middle, long = (_pieces(hostile, hostile.size * factor, chunk) for factor in (1, 4, 16))
    first, probe = _best(hostile, short, 3), _best(hostile, middle, 1)
    if probe > 2 * first:
        return Slope(f"{hostile.dialect}: {hostile.name}", how, probe, probe / first)
    best = float("inf")
    for _ in range(rounds):
        first = min(first, _best(hostile, short, 6))  # as often as it takes for luck to be the same
        best = min(best, _best(hostile, long, 1))
        step()
    return Slope(f"{hostile.dialect}: {hostile.name}", how, best, best / first)


def _best(hostile: Hostile, pieces: list[str], times: int) -> float:
    """Nanoseconds per character, the fastest of so many times."""
    return min(_run(hostile.dialect, pieces) for _ in range(times)) / sum(map(len, pieces))


def _pieces(hostile: Hostile, size: int, chunk: int | None) -> list[str]:
    text = hostile.opening + hostile.unit * (size // len(hostile.unit))
    return [text] if chunk is None else [text[at : at + chunk] for at in range(0, len(text), chunk)]


def _run(dialect: str, pieces: list[str]) -> int:
    parser = Parser(dialect, [TOOL])
    with quiet():
        began = perf_counter_ns()
        for piece in pieces:
            parser.feed(piece)
        parser.finish()
        return perf_counter_ns() - began
