"""Watches the clock: twice the input must not take much more than twice the time, whatever is repeated."""

from __future__ import annotations

import gc
from random import Random
from time import perf_counter

from dragoman import get_dialect

from .case import Broken, Case
from .promises import judged
from .soup import piece

__all__ = ["judge_growth", "repetition"]

SHORT, FACTOR, LIMIT = 4_000, 8, 3.0
"""Characters of the shorter input, how much longer the other is, and how much more time its characters may take."""


def repetition(random: Random, name: str) -> tuple[Case, str]:
    """A beginning, and something to be repeated behind it."""
    opening = "".join(piece(random, name) for _ in range(random.randrange(6)))
    unit = "".join(piece(random, name) for _ in range(random.choice((1, 1, 2, 3)))) or "<"
    start = random.choice(get_dialect(name).starts)
    return Case(name, opening[:200], start, random.random() < 0.5), unit[:200]


def judge_growth(case: Case, unit: str) -> Broken | None:
    """Whether the time per character grows with the input, fed whole and in small chunks."""
    return judged(lambda: _grown(case, unit, None) or _grown(case, unit, 4))


def _grown(case: Case, unit: str, chunk: int | None) -> Broken | None:
    short = _seconds(case, unit, SHORT, chunk, 2)
    long = _seconds(case, unit, SHORT * FACTOR, chunk, 1)
    if long / FACTOR < LIMIT * short:
        return None
    # Once more and longer, since a busy machine is no finding.
    short = _seconds(case, unit, SHORT, chunk, 6)
    long = _seconds(case, unit, SHORT * FACTOR, chunk, 3)
    longer = _seconds(case, unit, SHORT * FACTOR * 4, chunk, 1)
    if long / FACTOR < LIMIT * short or longer / 4 < LIMIT * long:
        return None
    how = "whole" if chunk is None else f"in chunks of {chunk}"
    times = (
        f"{short * 1e3:.1f} ms, {FACTOR} times as many {long * 1e3:.0f} ms, {FACTOR * 4} times {longer * 1e3:.0f} ms"
    )
    return Broken("linear", how, f"{unit!a} again and again, {how}: {SHORT} characters {times}")


def _seconds(case: Case, unit: str, length: int, chunk: int | None, times: int) -> float:
    text = case.text + unit * (length // len(unit) + 1)
    pieces = [text] if chunk is None else [text[k : k + chunk] for k in range(0, len(text), chunk)]
    best = float("inf")
    gc.disable()
    for _ in range(times):
        parser = case.parser()
        began = perf_counter()
        for each in pieces:
            parser.feed(each)  # what it returns is dropped: keeping it would measure the memory
        parser.finish()
        best = min(best, perf_counter() - began)
    gc.enable()
    return best
